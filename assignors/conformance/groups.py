"""Read the group of a vector.

A vector describes a group as Kafka's classes receive it: topics with the racks of their
replicas (or, for a broker's assignor, topic ids with a partition count), members in the order
in which they were put into Java's map, each with the fields of its Subscription. A member may
instead bring the bytes of its Subscription, as a leader gets them.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.documents.groups import racks_from_document
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_int32,
    as_list,
    as_object,
    as_string,
    as_strings,
    optional_bytes,
    optional_int32,
    optional_string,
    required,
)
from assignors.group_bytes.subscriptions import member_from_bytes
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
"""Version of the Subscription of members given field by field: it has every field."""


def group_of(given: Document) -> Group:
    """Return the group in the `in` of a vector; `DocumentError` with the place if it has none.

    >>> group = group_of({
    ...     "topics": {"t": [["r1", None], []]},
    ...     "members": [{"id": "a", "topics": ["t"], "owned": [["t", 1], ["t", 0]], "sgen": 3}],
    ... })
    >>> group.cluster.topics["t"].racks, group.members[0].owned
    ((('r1',), ()), {'t': (1, 0)})
    """
    topics = as_object(required(given, "topics", ()), ("topics",))
    members = as_list(required(given, "members", ()), ("members",))
    generation = optional_int32(given, "maxGen")
    return Group(
        cluster=Cluster(
            topics={name: _topic(name, entry, ("topics", name)) for name, entry in topics.items()}
        ),
        members=with_shared_topics(
            _member(as_object(entry, ("members", position)), ("members", position))
            for position, entry in enumerate(members)
        ),
        state=State(
            max_generation=NO_GENERATION
            if generation is None
            else as_int32(generation, ("maxGen",))
        ),
    )


def has_bytes(given: Document) -> bool:
    """Return whether a member of the group brings the bytes of its Subscription."""
    members = as_list(required(given, "members", ()), ("members",))
    return any(isinstance(member, dict) and "subscription" in member for member in members)


def pairs_of(document: object, place: Place = ()) -> list[tuple[str, int]]:
    """Return [[topic, partition], ...] as pairs, in order; `DocumentError` for anything else."""
    pairs = []
    for position, entry in enumerate(as_list(document, place)):
        here = (*place, position)
        pair = as_list(entry, here)
        if len(pair) != 2:
            raise DocumentError(ErrorCode.WRONG_TYPE, "expected [topic, partition]", here)
        pairs.append((as_string(pair[0], (*here, 0)), as_int32(pair[1], (*here, 1))))
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


def _topic(name: str, entry: object, place: Place) -> Topic:
    """Return a topic: from a count where the name is a topic id, else from its replicas' racks."""
    if not isinstance(entry, list):
        return Topic(partition_count=as_int32(entry, place), topic_id=name)
    racks = racks_from_document(entry, place)
    return Topic(partition_count=len(racks), racks=racks)


def _member(fields: Mapping[str, object], place: Place) -> Member:
    """Return a member, from its Subscription bytes if they are given, else field by field."""
    member_id = as_string(required(fields, "id", place), (*place, "id"))
    instance_id = optional_string(fields, "instance", place)
    blob = optional_bytes(fields, "subscription", place)
    if blob is not None:
        return member_from_bytes(member_id, blob, instance_id=instance_id)
    generation, owned = optional_int32(fields, "sgen", place), fields.get("owned")
    return Member(
        member_id=member_id,
        topics=as_strings(required(fields, "topics", place), (*place, "topics")),
        owned={} if owned is None else by_topic(pairs_of(owned, (*place, "owned"))),
        generation=NO_GENERATION if generation is None else generation,
        rack_id=optional_string(fields, "rack", place),
        instance_id=instance_id,
        user_data=optional_bytes(fields, "ud", place),
        version=SUBSCRIPTION_VERSION,
    )
