"""A vector's group, as ours.

A vector describes a group as Kafka's classes are handed it: topics with the racks of their
replicas (or, for a broker's assignor, topic ids with a partition count), members in the order
in which they were put into Java's map, each with the fields of its Subscription. A member may
instead bring the bytes of its Subscription, as a leader gets them.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    bytes_from_hex,
    int32,
    items,
    names,
    required,
    struct,
    text,
)
from assignors.leader import member_from_bytes
from assignors.model import (
    NO_GENERATION,
    Cluster,
    Group,
    Member,
    State,
    Topic,
    with_shared_topics,
)
from wire import TopicPartitions

SUBSCRIPTION_VERSION = 3
"""Members given field by field stand as Kafka 4.4 writes them: with every field."""


def group_of(given: Document) -> Group:
    """Return the group in the `in` of a vector; `DocumentError` with the place if it has none.

    >>> group = group_of({
    ...     "topics": {"t": [["r1", None], []]},
    ...     "members": [{"id": "a", "topics": ["t"], "owned": [["t", 1], ["t", 0]], "sgen": 3}],
    ... })
    >>> group.cluster.topics["t"].racks, group.members[0].owned
    ((('r1',), ()), {'t': (1, 0)})
    """
    topics = struct(required(given, "topics", ()), ("topics",))
    members = items(required(given, "members", ()), ("members",))
    generation = given.get("maxGen")
    return Group(
        cluster=Cluster(
            topics={name: _topic(name, entry, ("topics", name)) for name, entry in topics.items()}
        ),
        members=with_shared_topics(
            _member(struct(entry, ("members", position)), ("members", position))
            for position, entry in enumerate(members)
        ),
        state=State(
            max_generation=NO_GENERATION if generation is None else int32(generation, ("maxGen",))
        ),
    )


def has_bytes(given: Document) -> bool:
    """Return whether a member of the group brings the bytes of its Subscription."""
    members = items(required(given, "members", ()), ("members",))
    return any(isinstance(member, dict) and "subscription" in member for member in members)


def pairs_of(document: object, place: Place = ()) -> list[tuple[str, int]]:
    """Return [[topic, partition], ...] as pairs, order kept."""
    pairs = []
    for position, entry in enumerate(items(document, place)):
        here = (*place, position)
        pair = items(entry, here)
        if len(pair) != 2:
            raise DocumentError(ErrorCode.WRONG_TYPE, "expected [topic, partition]", here)
        pairs.append((text(pair[0], (*here, 0)), int32(pair[1], (*here, 1))))
    return pairs


def by_topic(pairs: list[tuple[str, int]]) -> TopicPartitions:
    """Return pairs grouped by topic, each in order of first appearance.

    >>> by_topic([("t", 2), ("u", 0), ("t", 1)])
    {'t': (2, 1), 'u': (0,)}
    """
    grouped: dict[str, list[int]] = {}
    for topic, number in pairs:
        grouped.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in grouped.items()}


def optional_bytes(fields: Mapping[str, object], key: str, place: Place = ()) -> bytes | None:
    """Return the bytes of a field in hexadecimal, `None` where it is absent or null."""
    digits = fields.get(key)
    if digits is None:
        return None
    try:
        return bytes_from_hex(text(digits, (*place, key)).encode())
    except DocumentError as error:
        raise DocumentError(error.kind, error.text, (*place, key)) from None


def _topic(name: str, entry: object, place: Place) -> Topic:
    """Return a topic: from a count where the name is a topic id, else from its replicas' racks."""
    if not isinstance(entry, list):
        return Topic(partition_count=int32(entry, place), topic_id=name)
    racks = []
    for partition, replicas in enumerate(entry):
        here = (*place, partition)
        known = [rack for rack in items(replicas, here) if rack is not None]
        racks.append(names(known, here))
    return Topic(partition_count=len(racks), racks=tuple(racks))


def _member(fields: Mapping[str, object], place: Place) -> Member:
    """Return a member, from its Subscription bytes if they are given, else field by field."""
    member_id = text(required(fields, "id", place), (*place, "id"))
    instance_id = _optional_text(fields, "instance", place)
    blob = optional_bytes(fields, "subscription", place)
    if blob is not None:
        return member_from_bytes(member_id, blob, instance_id=instance_id)
    generation, owned = fields.get("sgen"), fields.get("owned")
    return Member(
        member_id=member_id,
        topics=names(required(fields, "topics", place), (*place, "topics")),
        owned={} if owned is None else by_topic(pairs_of(owned, (*place, "owned"))),
        generation=NO_GENERATION if generation is None else int32(generation, (*place, "sgen")),
        rack_id=_optional_text(fields, "rack", place),
        instance_id=instance_id,
        user_data=optional_bytes(fields, "ud", place),
        version=SUBSCRIPTION_VERSION,
    )


def _optional_text(fields: Mapping[str, object], key: str, place: Place) -> str | None:
    value = fields.get(key)
    return None if value is None else text(value, (*place, key))
