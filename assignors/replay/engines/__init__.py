"""A replay from end to end, in plain Python or on Spark."""
