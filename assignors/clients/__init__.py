"""Assignors for the Python clients that accept one: kafka-python and aiokafka.

An adapter translates between the objects of its client and bytes. What a member writes is decided
in `membership`, what a leader answers in `leader`, and what an adapter keeps between the client's
calls is a `common.client_session.ClientSession`.
"""
