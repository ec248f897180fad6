"""Read groups and assignments from JSON objects, a format that other programs write.

Types are strict (`true` is no number, integers have 32 bits, a member id occurs once), and so are
keys: one that nobody knows is a typing error, unless it begins with `_`. Null means absent wherever
a key may be absent.
An error names its place in the document, so that it can be found in a line of a megabyte:

>>> group_from_document({"topics": {"t": 2}, "members": [{"id": "a", "topics": ["t", 7]}]})
Traceback (most recent call last):
assignors.documents.values.DocumentError: expected a string, found 7 at members[0].topics[1]
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from assignors.assignor import RebalanceProtocol
from assignors.documents.group_keys import (
    CLAIM_KEYS,
    GROUP_KEYS,
    MEMBER_KEYS,
    STATE_KEYS,
    TOPIC_KEYS,
    require_known,
)
from assignors.documents.pasted.members import optional_given_bytes, subscription_alone
from assignors.documents.values import (
    TOGETHER_FROM,
    DocumentError,
    ErrorCode,
    Place,
    are_ascii,
    are_int32,
    are_lists,
    are_pairs,
    as_int32,
    as_int32s,
    as_list,
    as_object,
    as_string,
    as_strings,
    described,
    optional_int32,
    optional_string,
    required,
)
from assignors.documents.weightings import capacity_of, weighting_from_document
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
from wire import TopicPartitions

TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{21}[AQgw]")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """A group and an assignment to check."""

    group: Group
    assignment: Assignment
    withheld: TopicPartitions
    """Partitions that nobody gets in this round on purpose, by topic."""
    protocol: RebalanceProtocol


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
    require_known(fields, GROUP_KEYS, ())
    if "members" not in fields and "assignment" in fields:
        raise _no_group(fields)
    members = []
    known: set[str] = set()
    capacities: dict[str, int] = {}
    for position, entry in enumerate(as_list(required(fields, "members", ()), ("members",))):
        member = _member(entry, ("members", position))
        if member.member_id in known:
            words = f"member {member.member_id!r} occurs twice in the group"
            raise DocumentError(ErrorCode.REPEATED, words, ("members", position, "id"))
        known.add(member.member_id)
        members.append(member)
        assert isinstance(entry, dict), "a member is an object"
        capacity = capacity_of(entry, ("members", position))
        if capacity is not None:
            capacities[member.member_id] = capacity
    cluster = _cluster(required(fields, "topics", ()), ("topics",))
    capacities = {**capacities_of(members), **capacities}
    return Group(
        cluster=cluster,
        members=with_shared_topics(members),
        generation=optional_int32(fields, "generation"),
        state=_state(fields.get("state"), ("state",)),
        weighting=weighting_from_document(fields, cluster.topics, capacities),
    )


def _no_group(answer: Mapping[str, object]) -> DocumentError:
    """Return why an answer of an assignor, without its group, is none."""
    error = answer.get("error")
    if error is None:
        words = "an answer without its group: assign --with-group writes both"
        return DocumentError(ErrorCode.MISSING, words, ("members",))
    text = error.get("text") if isinstance(error, dict) else error
    words = text if isinstance(text, str) else described(text)
    return DocumentError(ErrorCode.FAILED, f"the answer is an error: {words}", ("error",))


def check_request_from_document(document: object) -> CheckRequest:
    """Return what `check` is to check: a group's document with `assignment` beside it.

    `withheld` and `protocol` may be given too. Raises `DocumentError`, as `group_from_document`.
    """
    group = group_from_document(document)
    fields = as_object(document, ())
    withheld = fields.get("withheld")
    return CheckRequest(
        group=group,
        assignment=assignment_from_document(required(fields, "assignment", ())),
        withheld={} if withheld is None else partitions_from_document(withheld, ("withheld",)),
        protocol=_protocol(fields.get("protocol"), ("protocol",)),
    )


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
    value of a wrong type. Cost: linear in the document, about 0.3 us a topic.

    >>> partitions_from_document([["t", [0, 1]], ["u", [3]], ["t", [2]]])
    {'t': (0, 1, 2), 'u': (3,)}
    """
    plain = _plain_partitions(document)
    if plain is not None:
        return plain
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


def require_partition(group: Group, topic: str, partition: int) -> None:
    """Raise `DocumentError`, at the topic's place, if the cluster has no such partition."""
    known = group.cluster.topics.get(topic)
    if known is None:
        words = f"the cluster has no topic {topic!r}{suggestion(topic, group.cluster.topics)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, ("topics", topic))
    if not 0 <= partition < known.partition_count:
        words = f"topic {topic!r} has {known.partition_count} partitions, none is {partition}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("topics", topic))


def _cluster(document: object, place: Place) -> Cluster:
    topics = {}
    total = 0
    for name, entry in as_object(document, place).items():
        topics[as_string(name, place)] = topic = _topic(entry, (*place, name))
        total += topic.partition_count
        if total > PARTITION_LIMIT:
            raise DocumentError(ErrorCode.TOO_LARGE, TOO_MANY_PARTITIONS, (*place, name))
    return Cluster(topics=topics)


def _topic(entry: object, place: Place) -> Topic:
    """Return a topic from its partition count, or from an object with racks and id."""
    if not isinstance(entry, dict):
        return Topic(partition_count=partition_count_from_document(entry, place))
    require_known(entry, TOPIC_KEYS, place)
    number = required(entry, "partitions", place)
    count = partition_count_from_document(number, (*place, "partitions"))
    topic_id, listed = entry.get("id"), entry.get("racks")
    here = (*place, "racks")
    racks = () if listed is None else racks_from_document(listed, here)
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
    topic_id = as_string(value, place)
    if TOPIC_ID.fullmatch(topic_id) is None:
        words = f"expected 22 characters of base64url, found {described(topic_id)}"
        raise DocumentError(ErrorCode.BAD_TEXT, words, place)
    return topic_id


def _state(value: object, place: Place) -> State:
    """Return what an assignor keeps between rounds; an empty state where it is absent."""
    if value is None:
        return State()
    fields = as_object(value, place)
    require_known(fields, STATE_KEYS, place)
    return State(max_generation=_generation(fields, "max_generation", place))


def _member(entry: object, place: Place) -> Member:
    """Return a member: decoded from its Subscription bytes if it has them, else from its fields."""
    fields = as_object(entry, place)
    require_known(fields, MEMBER_KEYS, place)
    member_id = as_string(required(fields, "id", place), (*place, "id"))
    instance_id = optional_string(fields, "instance", place)
    blob, forms = optional_given_bytes(fields, "subscription", place)
    if blob is not None:
        for key in CLAIM_KEYS:
            if fields.get(key) is not None:
                words = f"{key!r} beside 'subscription', whose bytes have it: only one can count"
                raise DocumentError(ErrorCode.REPEATED, words, (*place, key))
        decoded = subscription_alone(blob, (*place, "subscription"))
        member = member_from_bytes(member_id, decoded, instance_id=instance_id)
        return replace(member, notes=(*forms, *member.notes)) if forms else member
    owned = fields.get("owned")
    user_data, forms = optional_given_bytes(fields, "user_data", place)
    return Member(
        member_id=member_id,
        topics=as_strings(required(fields, "topics", place), (*place, "topics")),
        owned={} if owned is None else partitions_from_document(owned, (*place, "owned")),
        generation=_generation(fields, "generation", place),
        rack_id=optional_string(fields, "rack_id", place) or None,
        instance_id=instance_id,
        user_data=user_data,
        notes=forms,
    )


def _plain_partitions(document: object) -> TopicPartitions | None:
    """Return the partitions if each value is right and no topic occurs twice, else `None`.

    Builtins check whole columns: a third of the time of value by value. Which value is wrong is
    for the caller to find.
    """
    if isinstance(document, dict | list) and len(document) < TOGETHER_FROM:
        return None
    topics: Collection[object]
    listed: Collection[Any]
    if isinstance(document, dict):
        topics, listed = document.keys(), document.values()
    elif isinstance(document, list) and are_pairs(document):
        topics, listed = zip(*document, strict=True)
    else:
        return None
    if not (are_ascii(topics) and are_lists(listed) and are_int32([*chain(*listed)])):
        return None
    numbers: Iterable[tuple[int, ...]] = map(tuple, listed)
    found = dict(zip(topics, numbers, strict=True))
    return found if len(found) == len(topics) else None


def _generation(fields: Mapping[str, object], key: str, place: Place) -> int:
    """Return a generation; -1 for one that is absent, null or negative."""
    generation = optional_int32(fields, key, place)
    return NO_GENERATION if generation is None else max(generation, NO_GENERATION)


def _protocol(value: object, place: Place) -> RebalanceProtocol:
    """Return the protocol that `"eager"` or `"cooperative"` names; eager where it is absent."""
    if value is None or value == "eager":
        return RebalanceProtocol.EAGER
    if value == "cooperative":
        return RebalanceProtocol.COOPERATIVE
    near = question(value, ("eager", "cooperative")) if isinstance(value, str) else ""
    words = f'expected "eager" or "cooperative", found {described(value)}{near}'
    raise DocumentError(ErrorCode.UNKNOWN, words, place)
