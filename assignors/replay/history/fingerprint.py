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
from assignors.replay.history.model import Generation, Participant
from wire import MemberAssignment, NoteCode

JAVA_NEW = "kafka-clients 3.5 or newer"
JAVA_MIDDLE = "kafka-clients 3.3 to 3.4"
JAVA_OLD = "kafka-clients 2.4 to 3.2"
BROKER = "the broker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The form of one generation's Assignments and of its leader's Subscription."""

    assignment_versions: frozenset[int]
    assignment_user_data: frozenset[str]
    """Of `null`, `empty` and `data`, those that some Assignment has."""
    subscription_version: int
    subscription_notes: frozenset[NoteCode]
    protocol: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """A row of the table: a client library and the form that it writes."""

    name: str
    assignment_version: int
    assignment_user_data: frozenset[str]
    """What its Assignments may have as UserData."""
    subscription_versions: frozenset[int]
    noted: NoteCode | None = None
    """A note that its Subscriptions must have."""
    clean: frozenset[NoteCode] = frozenset({NoteCode.RACK_EMPTY, NoteCode.OWNED_MISSING})
    """Notes that they must not have."""
    protocol: str | None = None


def _writer(
    name: str,
    assignment_version: int,
    user_data: str,
    versions: tuple[int, ...],
    *,
    noted: NoteCode | None = None,
    protocol: str | None = None,
) -> Writer:
    return Writer(
        name=name,
        assignment_version=assignment_version,
        assignment_user_data=frozenset(user_data.split()),
        subscription_versions=frozenset(versions),
        noted=noted,
        clean=frozenset({NoteCode.RACK_EMPTY, NoteCode.OWNED_MISSING} - {noted}),
        protocol=protocol,
    )


WRITERS: tuple[Writer, ...] = (
    _writer("Kafka Streams", 3, "data", (3,), protocol="stream"),
    _writer(JAVA_NEW, 3, "null", (3,)),
    _writer(JAVA_MIDDLE, 2, "null", (2,)),
    _writer(JAVA_OLD, 1, "null", (1,)),
    _writer("kafka-assignors", 1, "null", (2, 3)),
    _writer("librdkafka", 0, "null empty data", (3,), noted=NoteCode.RACK_EMPTY),
    _writer("franz-go", 0, "null", (3,)),
    _writer("Sarama", 0, "null", (1, 2)),
    _writer("Sarama", 0, "data", (1, 2), protocol="sticky"),
    _writer("kafkajs", 1, "empty", (1,), noted=NoteCode.OWNED_MISSING),
    _writer("kafkajs", 0, "empty", (0,), protocol="RoundRobinAssigner"),
    _writer("kafka-python", 1, "empty", (1,)),
    _writer("kafka-python or aiokafka", 0, "empty", (0,)),
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
    form = form_of(generation, leader)
    if form is None:
        return None
    return next((writer.name for writer in WRITERS if _fits(form, writer)), None)


def form_of(generation: Generation, leader: Participant) -> Form | None:
    """Return the form of a generation's bytes, `None` where none of them can be read.

    Cost: O(members).
    """
    versions, user_data = set(), set()
    for member in generation.members:
        if member.written is not None:
            versions.add(member.written.version)
            user_data.add(_form_of_user_data(member.written))
    if not versions or leader.subscription_version is None:
        return None
    return Form(
        assignment_versions=frozenset(versions),
        assignment_user_data=frozenset(user_data),
        subscription_version=leader.subscription_version,
        subscription_notes=frozenset(
            oddity.code for oddity in leader.oddities if oddity.blob == "subscription"
        ),
        protocol=generation.protocol,
    )


def _form_of_user_data(written: MemberAssignment) -> str:
    if written.user_data is None:
        return "null"
    return "data" if written.user_data else "empty"


def _fits(form: Form, writer: Writer) -> bool:
    return (
        form.assignment_versions == {writer.assignment_version}
        and form.assignment_user_data <= writer.assignment_user_data
        and form.subscription_version in writer.subscription_versions
        and (writer.noted is None or writer.noted in form.subscription_notes)
        and not writer.clean & form.subscription_notes
        and (writer.protocol is None or writer.protocol == form.protocol)
    )
