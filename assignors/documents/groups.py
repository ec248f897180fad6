"""Read groups and assignments from JSON objects, a format that other programs write.

The classes here declare the keys of a group, of a member and of their parts (`documents.keys`).
Types are strict (`true` is no number, integers have 32 bits, a member id occurs once), and so are
keys: one that nobody knows is a typing error, unless it begins with `_`. Null means absent wherever
a key may be absent.
An error names its place in the document, so that it can be found in a line of a megabyte:

>>> group_from_document({"topics": {"t": 2}, "members": [{"id": "a", "topics": ["t", 7]}]})
Traceback (most recent call last):
assignors.documents.values.DocumentError: expected a string, found 7 at members[0].topics[1]
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from assignors.assignor import RebalanceProtocol
from assignors.documents import schemas
from assignors.documents.keys import Kind, read, read_several, schema_of, unknown_key
from assignors.documents.notes import USED_BY
from assignors.documents.pasted.frames import subscription_alone
from assignors.documents.pasted.given import given_bytes
from assignors.documents.schemas import Schema
from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    Place,
    as_int32,
    as_int32s,
    as_list,
    as_object,
    as_string,
    as_strings,
    described,
    required,
)
from assignors.documents.weightings import CAPACITY, WeightKeys, weighting_of
from assignors.group_bytes.capacities import capacities_of
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.model import (
    NO_GENERATION,
    PARTITION_LIMIT,
    TOO_MANY_PARTITIONS,
    Assignment,
    Cluster,
    Group,
    Member,
    State,
    Topic,
    with_shared_topics,
)
from assignors.names.nearest import question, suggestion
from wire import Note, TopicPartitions

IGNORED = (
    *USED_BY,
    *("schema", "assignor", "notes", "stats", "lists", "order", "deferred", "violations"),
    *("error", "error_kind", "error_at"),
)
"""Keys of a group without effect: for other commands, and of `assign`'s answers, as an answer with
its group is a document too."""

OTHER_DOCUMENTS = {
    "until_ms": "simulate FILE plays a scenario on a clock",
    "key": "replay reads records",
}
"""Key of another document that a group is confused with -> which command reads it."""

TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")


# Kinds of values


@dataclass(frozen=True, slots=True)
class GivenBytes:
    """Bytes of a document, and how they were written."""

    blob: bytes
    notes: tuple[Note, ...] = ()


def bytes_from_document(value: object, place: Place) -> GivenBytes:
    """Return bytes in any form that people paste, and a note unless it is plain.

    A list of numbers, and Node's Buffer as an object, need no quotes.
    """
    if isinstance(value, bytes):  # of a column
        return GivenBytes(value)
    is_json = isinstance(value, list | dict)
    text = json.dumps(value) if is_json else as_string(value, place)
    try:
        return GivenBytes(*given_bytes(text.encode()))
    except DocumentError as error:
        words = f"{error.text} (character {error.offset})"
        raise DocumentError(error.kind, words, place) from None


def assignment_from_document(document: object, place: Place = ("assignment",)) -> Assignment:
    """Return an assignment from `{"<member id>": {"t": [0, 1]}}`.

    Members and partitions need not exist: that is for a check to find. Raises `DocumentError` for
    the first value of a wrong type. Cost: linear in the document.
    """
    return {
        as_string(member_id, place): partitions_from_document(entry, (*place, member_id))
        for member_id, entry in as_object(document, place).items()
    }


def partitions_from_document(document: object, place: Place = ()) -> TopicPartitions:
    """Return partitions by topic from `[["t", [0, 1]], ...]` or `{"t": [0, 1]}`.

    A topic that occurs twice in a list is merged, in order. Raises `DocumentError` for the first
    value of a wrong type. Cost: linear in the document.

    >>> partitions_from_document([["t", [0, 1]], ["u", [3]], ["t", [2]]])
    {'t': (0, 1, 2), 'u': (3,)}
    """
    if isinstance(document, dict):
        return {
            as_string(topic, place): as_int32s(listed, (*place, topic))
            for topic, listed in document.items()
        }
    merged: dict[str, list[int]] = {}
    for position, pair in enumerate(as_list(document, place)):
        here = (*place, position)
        if not isinstance(pair, list) or len(pair) != 2:
            words = f"expected [topic, [partitions]], found {described(pair)}"
            raise DocumentError(ErrorCode.WRONG_TYPE, words, here)
        topic = as_string(pair[0], (*here, 0))
        merged.setdefault(topic, []).extend(as_int32s(pair[1], (*here, 1)))
    return {topic: tuple(listed) for topic, listed in merged.items()}


def partition_count_from_document(value: object, place: Place) -> int:
    """Return how many partitions a topic has; `DocumentError` unless 0 to `PARTITION_LIMIT`."""
    count = as_int32(value, place)
    if count < 0:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, f"{count} partitions", place)
    if count > PARTITION_LIMIT:
        words = f"{count} partitions, more than {PARTITION_LIMIT}"
        raise DocumentError(ErrorCode.TOO_LARGE, words, place)
    return count


def racks_from_document(value: object, place: Place) -> tuple[tuple[str, ...], ...]:
    """Return the racks of each partition's replicas; `DocumentError` for what is no list of lists.

    A replica on a broker without a rack is null, and is left out, as Kafka's classes do.

    >>> racks_from_document([["r1", None], [None], []], ("racks",))
    (('r1',), (), ())
    """
    return tuple(
        tuple(
            as_string(rack, (*place, partition, replica))
            for replica, rack in enumerate(as_list(replicas, (*place, partition)))
            if rack is not None
        )
        for partition, replicas in enumerate(as_list(value, place))
    )


def _topic_id(value: object, place: Place) -> str:
    """Return a topic id as Kafka prints it: 16 bytes in 22 characters of base64url."""
    topic_id = as_string(value, place)
    if TOPIC_ID.fullmatch(topic_id) is None:
        words = f"expected 22 characters of base64url, found {described(topic_id)}"
        raise DocumentError(ErrorCode.BAD_TEXT, words, place)
    return topic_id


def _protocol(value: object, place: Place) -> RebalanceProtocol:
    """Return the protocol that `"eager"` or `"cooperative"` names."""
    if value in ("eager", "cooperative"):
        return RebalanceProtocol[str(value).upper()]
    near = question(value, ("eager", "cooperative")) if isinstance(value, str) else ""
    words = f'expected "eager" or "cooperative", found {described(value)}{near}'
    raise DocumentError(ErrorCode.UNKNOWN, words, place)


def _generation(value: object, place: Place) -> int:
    return max(as_int32(value, place), NO_GENERATION)


_NUMBERS: Schema = schemas.array({"type": "integer", "minimum": -128, "maximum": 255})
_READ_BYTES: Schema = {
    "title": "bytes",
    "anyOf": [
        schemas.STRING,
        _NUMBERS,
        schemas.record(
            schemas.Key("type", schemas.constant("Buffer")), schemas.Key("data", _NUMBERS)
        ),
    ],
}
_INT32S = schemas.array(schemas.INT32)
_READ_PARTITIONS: Schema = {
    "title": "partitions",
    "anyOf": [
        schemas.array(schemas.pair(schemas.STRING, _INT32S)),
        schemas.mapping(_INT32S),
    ],
}
_RACKS = schemas.array(schemas.array(schemas.nullable(schemas.STRING)))

STRING = Kind(as_string, lambda: schemas.STRING)
STRINGS = Kind(as_strings, lambda: schemas.array(schemas.STRING))
COUNT = Kind(partition_count_from_document, lambda: schemas.COUNT)
INT32 = Kind(as_int32, lambda: schemas.INT32)
GENERATION = Kind(_generation, lambda: schemas.INT32)
BYTES = Kind(bytes_from_document, lambda: _READ_BYTES)
PARTITIONS = Kind(partitions_from_document, lambda: _READ_PARTITIONS)
ASSIGNMENT = Kind(assignment_from_document, lambda: schemas.mapping(_READ_PARTITIONS))
PROTOCOL = Kind(_protocol, lambda: schemas.one_of(("eager", "cooperative")))
RACKS = Kind(racks_from_document, lambda: _RACKS)
ID = Kind(_topic_id, lambda: {"type": "string", "pattern": f"^{TOPIC_ID.pattern}$"})
ANYTHING = Kind(lambda value, _: value, lambda: schemas.ANY)


# Keys


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicKeys:
    """A topic of the cluster, where more than its partition count is given."""

    partitions: Annotated[int, COUNT]
    """How many."""
    racks: Annotated[tuple[tuple[str, ...], ...], RACKS] = ()
    """Racks of the replicas of each partition."""
    id: Annotated[str | None, ID] = None
    """Topic id, 22 characters of base64url."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberKeys:
    """A member, by fields or by the bytes of its Subscription."""

    id: Annotated[str, STRING]
    """Member id; each occurs once."""
    instance: Annotated[str | None, STRING] = None
    """`group.instance.id`."""
    topics: Annotated[tuple[str, ...] | None, STRINGS] = None
    """Topics it subscribes to: has to be given where `subscription` is not."""
    owned: Annotated[TopicPartitions, PARTITIONS] = field(default_factory=dict)
    """Partitions it says it owns."""
    generation: Annotated[int, GENERATION] = NO_GENERATION
    """The generation in which it owned them; -1 for none."""
    rack_id: Annotated[str | None, STRING] = None
    """`client.rack`."""
    user_data: Annotated[GivenBytes | None, BYTES] = None
    """UserData, in a form that `decode` reads."""
    subscription: Annotated[GivenBytes | None, BYTES] = None
    """Its Subscription, in a form that `decode` reads, in place of the five keys before."""
    capacity: Annotated[int | None, CAPACITY] = None
    """What it can carry, compared with the other members; 1 by default."""


CLAIMS = ("topics", "owned", "generation", "rack_id", "user_data")
"""Keys of a member that its Subscription has too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateKeys:
    """What `java/sticky` and `java/cooperative-sticky` keep between rounds."""

    max_generation: Annotated[int, GENERATION] = NO_GENERATION
    """As it was answered."""


def _state(value: object, place: Place) -> State:
    return State(max_generation=read(StateKeys, value, place).max_generation)


def _topic(value: object, place: Place) -> Topic:
    """Return a topic from its partition count, or from an object with racks and id."""
    if not isinstance(value, dict):
        return Topic(partition_count=partition_count_from_document(value, place))
    given = read(TopicKeys, value, place)
    if given.racks and len(given.racks) != given.partitions:
        words = f"{len(given.racks)} lists of racks for {given.partitions} partitions"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (*place, "racks"))
    return Topic(partition_count=given.partitions, racks=given.racks, topic_id=given.id)


def _topics(value: object, place: Place) -> dict[str, Topic]:
    topics = {}
    total = 0
    for name, entry in as_object(value, place).items():
        topics[as_string(name, place)] = topic = _topic(entry, (*place, name))
        total += topic.partition_count
        if total > PARTITION_LIMIT:
            raise DocumentError(ErrorCode.TOO_LARGE, TOO_MANY_PARTITIONS, (*place, name))
    return topics


def _members(value: object, place: Place) -> tuple[tuple[Member, int | None], ...]:
    """Return the members, each with its capacity."""
    members = []
    known: set[str] = set()
    for position, entry in enumerate(as_list(value, place)):
        here = (*place, position)
        given = read(MemberKeys, entry, here)
        if given.id in known:
            words = f"member {given.id!r} occurs twice in the group"
            raise DocumentError(ErrorCode.REPEATED, words, (*here, "id"))
        known.add(given.id)
        members.append((_member(given, as_object(entry, here), here), given.capacity))
    return tuple(members)


def _member(given: MemberKeys, fields: Mapping[str, object], place: Place) -> Member:
    """Return a member: decoded from its Subscription bytes if it has them, else from its fields."""
    if given.subscription is not None:
        for key in CLAIMS:
            if fields.get(key) is not None:
                words = f"{key!r} beside 'subscription', whose bytes have it: only one can count"
                raise DocumentError(ErrorCode.REPEATED, words, (*place, key))
        blob, forms = given.subscription.blob, given.subscription.notes
        decoded = subscription_alone(blob, (*place, "subscription"))
        member = member_from_bytes(given.id, decoded, instance_id=given.instance)
        return replace(member, notes=(*forms, *member.notes)) if forms else member
    required(fields, "topics", place)
    assert given.topics is not None
    return Member(
        member_id=given.id,
        topics=given.topics,
        owned=given.owned,
        generation=given.generation,
        rack_id=given.rack_id or None,
        instance_id=given.instance,
        user_data=None if given.user_data is None else given.user_data.blob,
        notes=() if given.user_data is None else given.user_data.notes,
    )


def _topic_schema() -> Schema:
    return {"anyOf": [schemas.COUNT, schema_of(TopicKeys)]}


def _member_schema() -> Schema:
    """Return the schema of a member: topics or a Subscription, and no claims beside the latter."""
    null = dict.fromkeys(("subscription",), schemas.NULL)
    claims = dict.fromkeys(CLAIMS, schemas.NULL)
    given: Schema = {"not": schemas.NULL}
    return {
        **schema_of(MemberKeys),
        "anyOf": [
            {"required": ["topics"], "properties": {**null, "topics": given}},
            {"required": ["subscription"], "properties": {**claims, "subscription": given}},
        ],
    }


TOPICS = Kind(_topics, lambda: schemas.mapping(_topic_schema()), ((".*", TopicKeys),))
MEMBERS = Kind(_members, lambda: schemas.array(_member_schema()), (("[]", MemberKeys),))
STATE = Kind(_state, lambda: schema_of(StateKeys), (("", StateKeys),))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupKeys:
    """A group: the cluster's topics, and the members."""

    topics: Annotated[dict[str, Topic], TOPICS]
    """The cluster's topics: name -> partition count, or an object."""
    members: Annotated[tuple[tuple[Member, int | None], ...], MEMBERS]
    """Members, by fields or by bytes."""
    generation: Annotated[int | None, INT32] = None
    """The last generation that the group completed."""
    state: Annotated[State, STATE] = field(default_factory=State)
    """What `java/sticky` and `java/cooperative-sticky` keep between rounds."""
    id: Annotated[object, ANYTHING] = None
    """Any `id` of yours; the name of a group that a tool described."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckKeys:
    """An assignment to check, in the document of its group."""

    assignment: Annotated[Assignment, ASSIGNMENT]
    """Member id -> partitions by topic."""
    withheld: Annotated[TopicPartitions, PARTITIONS] = field(default_factory=dict)
    """Partitions that wait for the next round."""
    protocol: Annotated[RebalanceProtocol, PROTOCOL] = RebalanceProtocol.EAGER
    """Which rules of the hand-over hold: `eager`, the default, or `cooperative`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKeys:
    """What happens to a group, in its document."""

    events: Annotated[tuple[str, ...], STRINGS]
    """Events in order: `join:5`, `leave:m3`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """A group and an assignment to check."""

    group: Group
    assignment: Assignment
    withheld: TopicPartitions
    """Partitions that nobody gets in this round on purpose, by topic."""
    protocol: RebalanceProtocol


def group_schema(*own: type[Any]) -> Schema:
    """Return the schema of a group with the keys of one command."""
    return schema_of(GroupKeys, WeightKeys, *own, ignored=IGNORED)


def group_from_document(document: object) -> Group:
    """Return the group that a document describes.

    Raises `DocumentError` with the place of the first value that is wrong; more than
    `PARTITION_LIMIT` partitions are wrong too. Cost: linear in the document.

    >>> group = group_from_document({
    ...     "topics": {"t": 6, "u": {"partitions": 1, "racks": [["r1", "r2", None]]}},
    ...     "generation": 7,
    ...     "members": [{"id": "a", "topics": ["t"], "owned": [["t", [0, 1]]], "generation": 7}],
    ... })
    >>> group.members[0].owned, group.cluster.topics["u"].racks
    ({'t': (0, 1)}, (('r1', 'r2'),))
    """
    fields = as_object(document, ())
    if "members" not in fields and "assignment" in fields:
        raise _no_group(fields)
    for key, words in OTHER_DOCUMENTS.items():
        if key in fields:
            raise DocumentError(ErrorCode.UNKNOWN, f"{key!r} is no key here; {words}", (key,))
    given, weights = read_several((GroupKeys, WeightKeys), fields, ignored=IGNORED)
    members = [member for member, _ in given.members]
    own = {member.member_id: capacity for member, capacity in given.members if capacity is not None}
    return Group(
        cluster=Cluster(topics=given.topics),
        members=with_shared_topics(members),
        generation=given.generation,
        state=given.state,
        weighting=weighting_of(weights, fields, given.topics, {**capacities_of(members), **own}),
    )


def _no_group(answer: Mapping[str, object]) -> DocumentError:
    """Return why an answer of an assignor, without its group, is none."""
    error = answer.get("error")
    if error is None:
        words = "an answer without its group: assign --with-group writes both"
        return DocumentError(ErrorCode.MISSING, words, ("members",))
    words = error if isinstance(error, str) else described(error)
    return DocumentError(ErrorCode.FAILED, f"the answer is an error: {words}", ("error",))


def check_request_from_document(document: object) -> CheckRequest:
    """Return what `check` is to check: a group's document with `assignment` beside it.

    `withheld` and `protocol` may be given too. Raises `DocumentError`, as `group_from_document`.
    """
    group = group_from_document(document)
    (given,) = read_several((CheckKeys,), document, ignored=as_object(document, ()))
    return CheckRequest(
        group=group,
        assignment=given.assignment,
        withheld=given.withheld,
        protocol=given.protocol,
    )


def require_partition(group: Group, topic: str, partition: int) -> None:
    """Raise `DocumentError`, at the topic's place, if the cluster has no such partition."""
    known = group.cluster.topics.get(topic)
    if known is None:
        words = f"the cluster has no topic {topic!r}{suggestion(topic, group.cluster.topics)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, ("topics", topic))
    if not 0 <= partition < known.partition_count:
        words = f"topic {topic!r} has {known.partition_count} partitions, none is {partition}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("topics", topic))


def require_known(fields: Mapping[str, object], known: Collection[str]) -> None:
    """Raise `DocumentError` for the first key that is neither known nor the user's own."""
    for key in fields:
        if key not in known and not key.startswith("_"):
            raise unknown_key(key, known, ())
