"""Which client library wrote an assignment, guessed from the form of its bytes.

A record does not name the leader's client library, and client ids are free text. But libraries
differ in how they write Assignments and Subscriptions: which version, whether absent UserData is
null or empty, whether an absent rack is. `WRITERS` lists what released libraries were seen to
write. A client id that nobody set is the library's own, with its version in some: `CLIENT_IDS`.
Bytes that fit no row, or are made to look like another library's, are why it is a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from assignors.replay.history.classic import CONSUMER_PROTOCOL
from assignors.replay.history.model import Generation
from wire import MemberAssignment, NoteCode

JAVA_NEW = "kafka-clients 3.5 or newer"
JAVA_MIDDLE = "kafka-clients 3.3 to 3.4"
JAVA_OLD = "kafka-clients 2.4 to 3.2"
BROKER = "the broker"


@dataclass(frozen=True, slots=True)
class Writer:
    """A row of the table: a client library and the form that it writes."""

    name: str
    assignment_version: int
    user_data: frozenset[str]
    """What its Assignments may have as UserData: `null`, `empty`, `data`."""
    subscription_versions: tuple[int, ...]
    noted: NoteCode | None = None
    """Of `NOTED`, the one note that its Subscriptions have; `None`: neither."""
    protocol: str | None = None


NOTED = frozenset({NoteCode.RACK_EMPTY, NoteCode.OWNED_MISSING})
"""Notes on a Subscription that tell libraries apart."""

NULL, EMPTY, DATA = (frozenset({each}) for each in ("null", "empty", "data"))

WRITERS: tuple[Writer, ...] = (
    Writer("Kafka Streams", 3, DATA, (3,), protocol="stream"),
    Writer(JAVA_NEW, 3, NULL, (3,)),
    Writer(JAVA_MIDDLE, 2, NULL, (2,)),
    Writer(JAVA_OLD, 1, NULL, (1,)),
    Writer("kafka-assignors", 1, NULL, (2, 3)),
    Writer("librdkafka", 0, NULL | EMPTY | DATA, (3,), noted=NoteCode.RACK_EMPTY),
    Writer("franz-go", 0, NULL, (3,)),
    Writer("Sarama", 0, NULL, (1, 2)),
    Writer("Sarama", 0, DATA, (1, 2), protocol="sticky"),
    Writer("kafkajs", 1, EMPTY, (1,), noted=NoteCode.OWNED_MISSING),
    Writer("kafkajs", 0, EMPTY, (0,), protocol="RoundRobinAssigner"),
    Writer("kafka-python", 1, EMPTY, (1,)),
    Writer("kafka-python or aiokafka", 0, EMPTY, (0,)),
)
"""Seen of kafka-clients 2.4.1, 3.1.2, 4.4.0, Streams 4.3.1, librdkafka 2.16, franz-go 1.22,
Sarama 1.61, kafkajs 2.2, kafka-python 3.0 and aiokafka 0.14; the middle row follows from
KIP-792. The first that fits is the guess."""


CLIENT_IDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), name)
    for pattern, name in (
        (r"rdkafka", "librdkafka"),
        (r"sarama", "Sarama"),
        (r"kgo", "franz-go"),
        (r"kafkajs", "kafkajs"),
        (r"kafka-python-(\d[\w.]*)", r"kafka-python \1"),
        (r"aiokafka-(\d[\w.]*)", r"aiokafka \1"),
        (r".*\(github\.com/segmentio/kafka-go\)", "kafka-go"),
        (r".*-StreamThread-\d+-consumer", "Kafka Streams"),
    )
)
"""Client ids that libraries use where none is set. Java's (`consumer-<group>-1`) is not here: its
bytes also tell the version."""


def guessed_writer(generation: Generation) -> str | None:
    """Return the client library, with its version where known, that a classic leader runs.

    By its default client id, else by the form of its bytes. `None` where neither is known, or
    the leader is not in the record. Cost: O(members).
    """
    if generation.is_from_broker and generation.members:
        return BROKER
    leader = next((m for m in generation.members if m.member_id == generation.leader_id), None)
    if leader is not None and generation.protocol_type == "connect":
        return "Kafka Connect"
    if leader is None or generation.protocol_type != CONSUMER_PROTOCOL:
        return None
    for pattern, name in CLIENT_IDS:
        if found := pattern.fullmatch(leader.client_id):
            return found.expand(name)
    written = [member.written for member in generation.members if member.written is not None]
    versions = {each.version for each in written}
    user_data = {_user_data(each) for each in written}
    noted = NOTED & {each.code for each in leader.oddities if each.blob == "subscription"}
    for writer in WRITERS:
        if (
            versions == {writer.assignment_version}
            and user_data <= writer.user_data
            and leader.subscription_version in writer.subscription_versions
            and noted == NOTED & {writer.noted}
            and writer.protocol in {None, generation.protocol}
        ):
            return writer.name
    return None


def _user_data(written: MemberAssignment) -> str:
    if written.user_data is None:
        return "null"
    return "data" if written.user_data else "empty"
