"""Test consumer-group code in any language against the answers of Kafka's own classes.

`vectors` reads requests with Kafka's answers. A program that answers a JSON object a line with
another gets the same requests (`program_under_test`), and its answers are compared (`judges`) in
the way that each vector names: equal to Java's where clients depend on Java's answer, else only
keeping the rules of the protocol (`laws`).

`python -m assignors.conformance` is such a program: it answers with this package (`responder`).
"""
