"""Reads a cluster through librdkafka (the package confluent-kafka): settings, topics, errors.

librdkafka takes no assignors; what is here is for `replay` and `dump`. It says why a connection
fails: kafka-python 3.0.12 loses a broker's refusal of a password, which it gets together with the
end of the connection, and tries again until its time is up.
"""
