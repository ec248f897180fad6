"""Groups, assignments and answers as JSON objects: formats that other programs read and write.

Reading is strict about what a value is (`true` is no number, numbers fit the integers of the
protocol, a member stands once) and relaxed about the rest: keys that are not known are
ignored, and `null` means absent wherever a key may be absent. Whatever is refused is refused
with its place in the document, so that a person finds it in a line of a megabyte:

>>> group_from_document({"topics": {"t": 2}, "members": [{"id": "a", "topics": ["t", 7]}]})
Traceback (most recent call last):
assignors.documents.values.DocumentError: expected a string, found 7 at members[0].topics[1]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assignors.assignor import RebalanceProtocol
from assignors.checks import Report
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    bytes_from_hex,
    found,
    int32,
    items,
    names,
    numbers,
    required,
    struct,
    text,
)
from assignors.leader import member_from_bytes
from assignors.model import (
    NO_GENERATION,
    Assignment,
    Cluster,
    Group,
    Member,
    MemberNote,
    State,
    Topic,
    with_shared_topics,
)
from assignors.rebalance import Rebalance
from wire import TopicPartitions

SCHEMA = 1
"""Version of these formats; every object that is written carries it."""

TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")

PARTITION_LIMIT = 10_000_000
"""Partitions of one group: several times the largest cluster, so that a slip of the pen in a
partition count is an error and not the end of the machine's memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A group and an assignment to judge."""

    group: Group
    assignment: Assignment
    withheld: TopicPartitions
    protocol: RebalanceProtocol


def group_from_document(document: object) -> Group:
    """Return the group that a document describes; `DocumentError` with the place if it does not.

    >>> group = group_from_document({
    ...     "topics": {"t": 6, "u": {"partitions": 1, "racks": [["r1", "r2"]]}},
    ...     "generation": 7,
    ...     "members": [{"id": "a", "topics": ["t"], "owned": [["t", [0, 1]]], "generation": 7}],
    ... })
    >>> group.members[0].owned, group.cluster.topics["u"].racks
    ({'t': (0, 1)}, (('r1', 'r2'),))
    """
    fields = struct(document, ())
    members = []
    known: set[str] = set()
    for position, entry in enumerate(items(required(fields, "members", ()), ("members",))):
        member = _member(entry, ("members", position))
        if member.member_id in known:
            words = f"member {member.member_id!r} stands twice in the group"
            raise DocumentError(ErrorCode.REPEATED, words, ("members", position, "id"))
        known.add(member.member_id)
        members.append(member)
    generation = fields.get("generation")
    return Group(
        cluster=_cluster(required(fields, "topics", ()), ("topics",)),
        members=with_shared_topics(members),
        generation=None if generation is None else int32(generation, ("generation",)),
        state=_state(fields.get("state"), ("state",)),
    )


def question_from_document(document: object) -> Question:
    """Return what `check` is asked: a group's document with `assignment` and more beside it."""
    group = group_from_document(document)
    fields = struct(document, ())
    withheld = fields.get("withheld")
    return Question(
        group=group,
        assignment=assignment_from_document(required(fields, "assignment", ())),
        withheld={} if withheld is None else partitions_from_document(withheld, ("withheld",)),
        protocol=_protocol(fields.get("protocol"), ("protocol",)),
    )


def assignment_from_document(document: object, place: Place = ("assignment",)) -> Assignment:
    """Return an assignment: `{"<member id>": {"t": [0, 1]}}`, possible or not."""
    return {
        text(member_id, place): partitions_from_document(entry, (*place, member_id))
        for member_id, entry in struct(document, place).items()
    }


def partitions_from_document(document: object, place: Place = ()) -> TopicPartitions:
    """Return partitions by topic from `[["t", [0, 1]], ...]` or `{"t": [0, 1]}`.

    A topic that stands twice in a list is merged, in order.

    >>> partitions_from_document([["t", [0, 1]], ["u", [3]], ["t", [2]]])
    {'t': (0, 1, 2), 'u': (3,)}
    """
    if isinstance(document, dict):
        return {
            text(topic, place): numbers(listed, (*place, topic))
            for topic, listed in document.items()
        }
    merged: dict[str, list[int]] = {}
    for position, pair in enumerate(items(document, place)):
        here = (*place, position)
        if not isinstance(pair, list) or len(pair) != 2:
            words = f"expected [topic, [partitions]], found {found(pair)}"
            raise DocumentError(ErrorCode.WRONG_TYPE, words, here)
        topic = text(pair[0], (*here, 0))
        merged.setdefault(topic, []).extend(numbers(pair[1], (*here, 1)))
    return {topic: tuple(listed) for topic, listed in merged.items()}


def rebalance_document(rebalance: Rebalance) -> Document:
    """Return an assignor's answer. `stats.follow_up` is there for every assignor.

    `lists` and `order` are there where the answer has them, `state` where it is to be kept.
    """
    document: Document = {
        "assignment": {
            member_id: partitions_document(partitions)
            for member_id, partitions in rebalance.assignment.items()
        },
        "withheld": partitions_document(rebalance.withheld),
        "notes": [note_document(note) for note in rebalance.notes],
        "stats": {**rebalance.stats, "follow_up": rebalance.follow_up},
    }
    if rebalance.lists is not None:
        document["lists"] = {
            member_id: [list(pair) for pair in pairs]
            for member_id, pairs in rebalance.lists.items()
        }
        document["order"] = list(rebalance.order or ())
    if rebalance.state is not None:
        document["state"] = {"max_generation": rebalance.state.max_generation}
    return document


def partitions_document(partitions: TopicPartitions) -> Document:
    """Return `{"t": [0, 1]}`, order kept."""
    return {topic: list(listed) for topic, listed in partitions.items()}


def note_document(note: MemberNote) -> Document:
    """Return a note; `offset` only where the oddity sits in bytes."""
    document: Document = {"member": note.member_id, "code": note.code, "text": note.text}
    if note.offset is not None:
        document["offset"] = note.offset
    return document


def report_document(report: Report) -> Document:
    """Return what a check found."""
    return {
        "violations": [
            {
                "rule": violation.rule.value,
                "topic": violation.topic,
                "partition": violation.partition,
                "members": list(violation.members),
            }
            for violation in report.violations
        ],
        "gaps": dict(report.gaps),
    }


def _cluster(document: object, place: Place) -> Cluster:
    topics = {}
    total = 0
    for name, entry in struct(document, place).items():
        topics[text(name, place)] = topic = _topic(entry, (*place, name))
        total += topic.partition_count
        if total > PARTITION_LIMIT:
            words = f"more than {PARTITION_LIMIT} partitions in one group"
            raise DocumentError(ErrorCode.TOO_LARGE, words, (*place, name))
    return Cluster(topics=topics)


def _topic(entry: object, place: Place) -> Topic:
    """Return a topic from its partition count, or from an object with racks and id."""
    if not isinstance(entry, dict):
        return Topic(partition_count=partition_count_from_document(entry, place))
    number = required(entry, "partitions", place)
    count = partition_count_from_document(number, (*place, "partitions"))
    topic_id, listed = entry.get("id"), entry.get("racks")
    racks: tuple[tuple[str, ...], ...] = ()
    if listed is not None:
        here = (*place, "racks")
        racks = tuple(
            names(replicas, (*here, position))
            for position, replicas in enumerate(items(listed, here))
        )
        if racks and len(racks) != count:
            words = f"{len(racks)} lists of racks for {count} partitions"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, here)
    return Topic(
        partition_count=count,
        racks=racks,
        topic_id=None if topic_id is None else _topic_id(topic_id, (*place, "id")),
    )


def _topic_id(value: object, place: Place) -> str:
    """Return a topic id as Kafka prints it: 16 bytes in 22 characters of base64url."""
    words = text(value, place)
    if TOPIC_ID.fullmatch(words) is None:
        refusal = f"expected 22 characters of base64url, found {found(words)}"
        raise DocumentError(ErrorCode.BAD_TEXT, refusal, place)
    return words


def _state(value: object, place: Place) -> State:
    """Return what an assignor remembers; nothing where it is absent."""
    if value is None:
        return State()
    highest = struct(value, place).get("max_generation")
    if highest is None:
        return State()
    return State(max_generation=max(int32(highest, (*place, "max_generation")), NO_GENERATION))


def partition_count_from_document(value: object, place: Place) -> int:
    """Return how many partitions a topic has; no more than a group can have."""
    count = int32(value, place)
    if count < 0:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, f"{count} partitions", place)
    if count > PARTITION_LIMIT:
        words = f"{count} partitions, more than {PARTITION_LIMIT}"
        raise DocumentError(ErrorCode.TOO_LARGE, words, place)
    return count


def _member(entry: object, place: Place) -> Member:
    """Return a member: from its Subscription bytes if they are given, else field by field."""
    fields = struct(entry, place)
    member_id = text(required(fields, "id", place), (*place, "id"))
    instance_id = _optional_text(fields, "instance", place)
    blob = _optional_hex(fields, "subscription", place)
    if blob is not None:
        return member_from_bytes(member_id, blob, instance_id=instance_id)
    owned, generation = fields.get("owned"), fields.get("generation")
    if generation is not None:
        generation = max(int32(generation, (*place, "generation")), NO_GENERATION)
    return Member(
        member_id=member_id,
        topics=names(required(fields, "topics", place), (*place, "topics")),
        owned={} if owned is None else partitions_from_document(owned, (*place, "owned")),
        generation=NO_GENERATION if generation is None else generation,
        rack_id=_optional_text(fields, "rack", place) or None,
        instance_id=instance_id,
        user_data=_optional_hex(fields, "user_data", place),
    )


def _optional_text(fields: Mapping[str, object], key: str, place: Place) -> str | None:
    value = fields.get(key)
    return None if value is None else text(value, (*place, key))


def _optional_hex(fields: Mapping[str, object], key: str, place: Place) -> bytes | None:
    digits = _optional_text(fields, key, place)
    if digits is None:
        return None
    try:
        return bytes_from_hex(digits.encode())
    except DocumentError as error:
        words = f"{error.text} (character {error.offset})"
        raise DocumentError(error.kind, words, (*place, key)) from None


def _protocol(value: object, place: Place) -> RebalanceProtocol:
    """Return the protocol that `"eager"` or `"cooperative"` names; eager where it is absent."""
    if value is None or value == "eager":
        return RebalanceProtocol.EAGER
    if value == "cooperative":
        return RebalanceProtocol.COOPERATIVE
    words = f'expected "eager" or "cooperative", found {found(value)}'
    raise DocumentError(ErrorCode.UNKNOWN, words, place)


__all__ = [
    "SCHEMA",
    "Document",
    "DocumentError",
    "ErrorCode",
    "Question",
    "assignment_from_document",
    "bytes_from_hex",
    "group_from_document",
    "note_document",
    "partition_count_from_document",
    "partitions_document",
    "partitions_from_document",
    "question_from_document",
    "rebalance_document",
    "report_document",
]
