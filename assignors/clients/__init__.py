"""Assignors for clients whose Python lets one in: kafka-python and aiokafka.

An adapter translates between its host's objects and bytes; what a member writes is decided in
`membership`, what a leader answers in `leader`, and what both keep between rounds is a
`ClientSession`.
"""
