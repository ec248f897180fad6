"""What the copies of Kafka's Java code share: order of hash tables, answers in it, exceptions.

`java` and `server` use it; no other part of the package depends on Java.
"""
