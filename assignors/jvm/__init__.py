"""What the copies of Kafka's Java code share: iteration order of hash tables, and exceptions.

`java` and `server` use it; no other part of the package depends on Java.
"""
