"""What copies of Java code need from Java: the order of its hash tables, lists in that order."""
