"""A conformance kit for consumer-group code in any language.

Vectors say what Kafka's own classes answer; a program that speaks a line-by-line JSON
protocol is asked the same questions (`programs`), and what it answers is judged
(`judges`) by the rule that each vector names. Equality with Java is asked only where Java's
answer is the contract; elsewhere an answer has to obey the laws of the protocol.

`python -m assignors.conformance` is such a program: this package itself.
"""
