"""A leader meets the Subscriptions of others: which of them its client fails on, and how.

What is odd in a message is what `wire` notes when it reads it tolerantly; how bad that is for a
client is in `clients`. The worst reaction to any member is the leader's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from assignors.assignor import UserData
from assignors.model import NO_GENERATION, Assignment, Cluster
from assignors.simulation.timed.dialects.dialect import Dialect, Flaw, Reaction
from assignors.simulation.timed.dialects.hand_over import Claim
from assignors.simulation.timed.dialects.user_data import Knowledge
from wire import (
    Decoded,
    NoteCode,
    Subscription,
    TopicPartitions,
    decode_sticky_user_data,
    decode_subscription,
    encode_sticky_user_data,
)

WORST_FIRST = (Reaction.DIES, Reaction.ENDS, Reaction.SILENT, Reaction.STUCK)
"""What stops a leader; it leaves a member out without being stopped."""
UNREADABLE_LAYOUT = (NoteCode.USER_DATA_UNREADABLE, NoteCode.INT16_PREFIX, NoteCode.OWNED_CUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Met:
    """What a leader makes of the members' Subscriptions."""

    stops: Reaction | None
    """What keeps it from leading at all."""
    led: Mapping[str, Decoded[Subscription]]
    """Member id -> its Subscription, of those who get a part in the plan."""
    claims: Mapping[str, TopicPartitions]
    """Member id -> what its Subscription claims, whatever the leader makes of it."""


def meet(
    dialect: Dialect,
    kind: UserData,
    cluster: Cluster,
    blobs: Mapping[str, bytes],
    *,
    own_topics: tuple[str, ...] = (),
) -> Met:
    """Return what a leader that subscribes to `own_topics` makes of the members' Subscriptions.

    Cost: O(bytes).
    """
    reactions = {**dialect.leads_any, **dialect.leads.get(kind, {})}
    topics = own_topics if dialect.knows_own_topics_alone else None
    led: dict[str, Decoded[Subscription]] = {}
    seen: set[Reaction] = set()
    for member_id, blob in blobs.items():
        decoded = decode_subscription(blob)
        found = {reactions[each] for each in _oddities(decoded, kind, cluster) if each in reactions}
        seen |= found
        if Reaction.LEAVES_OUT not in found:
            led[member_id] = _taken(decoded, topics)
    stops = next((each for each in WORST_FIRST if each in seen), None)
    claims = {member_id: known_from(read).consumed for member_id, read in led.items()}
    if dialect.reads_user_data_first and kind is UserData.COOPERATIVE:
        led = _with_newest_claims(led)
    return Met(stops=stops, led=led, claims=claims)


def _taken(decoded: Decoded[Subscription], topics: tuple[str, ...] | None) -> Decoded[Subscription]:
    """Return a Subscription as clients take it: who does not say what it owns owns nothing.

    With `topics`, everybody is taken to subscribe to these.
    """
    read = decoded.value or Subscription()
    version, taken = max(read.version, 1), read.topics if topics is None else topics
    return Decoded(value=replace(read, version=version, owned_known=True, topics=taken))


def _with_newest_claims(
    led: Mapping[str, Decoded[Subscription]],
) -> dict[str, Decoded[Subscription]]:
    """Return the Subscriptions without the claims that such a leader takes for old ones.

    franz-go and librdkafka write the sticky layout into UserData, which begins with its number of
    topics: that is their generation then.
    """
    generations = {
        member_id: int.from_bytes(read.user_data[:4], "big", signed=True)
        if (read := decoded.value) is not None and read.user_data and len(read.user_data) >= 4
        else NO_GENERATION
        for member_id, decoded in led.items()
    }
    highest = max(generations.values(), default=NO_GENERATION)
    return {
        member_id: decoded
        if decoded.value is None or generations[member_id] == highest
        else Decoded(value=replace(decoded.value, owned={}, owned_known=True))
        for member_id, decoded in led.items()
    }


def refuses_plan(plan: Assignment, claims: Mapping[str, TopicPartitions]) -> bool:
    """Return whether a plan gives a claimed partition to a member that does not claim it.

    Kafka's client of 2.5 to 2.8.1 then throws, though the claim may be old and the plan lawful
    (KAFKA-13406; since 2.8.2 it checks custom assignors alone). Cost: O(partitions).
    """
    revoked = {
        (topic, number)
        for member_id, owned in claims.items()
        for topic, numbers in owned.items()
        for number in set(numbers).difference(plan.get(member_id, {}).get(topic, ()))
    }
    return any(
        (topic, number) in revoked
        for member_id, share in plan.items()
        for topic, numbers in share.items()
        for number in set(numbers).difference(claims.get(member_id, {}).get(topic, ()))
    )


def claims_of(led: Mapping[str, Decoded[Subscription]]) -> dict[str, Claim]:
    """Return what each member claims. Cost: O(members)."""
    known = {member_id: read.value or Subscription() for member_id, read in led.items()}
    return {member_id: Claim(read.owned, read.generation) for member_id, read in known.items()}


def as_sticky(read: Decoded[Subscription]) -> Decoded[Subscription]:
    """Return a Subscription with its claims where an eager sticky assignor looks for them.

    Cost: O(claims).
    """
    value = read.value or Subscription()
    user_data = encode_sticky_user_data(value.owned, value.generation)
    return Decoded(value=replace(value, owned={}, user_data=user_data))


def known_from(decoded: Decoded[Subscription]) -> Knowledge:
    """Return what a leader knows of a member from its Subscription."""
    read = decoded.value or Subscription()
    return Knowledge(topics=read.topics, consumed=read.owned, received=read.user_data)


def _oddities(
    decoded: Decoded[Subscription], kind: UserData, cluster: Cluster
) -> Iterator[NoteCode | Flaw]:
    """Yield everything in a Subscription that some client fails on."""
    yield from (note.code for note in decoded.notes)
    read = decoded.value
    if read is None:
        return
    if read.version == 0:
        yield Flaw.VERSION_0
    if not read.topics:
        yield Flaw.NO_TOPICS
    known = cluster.topics
    if any(topic not in known for topic in read.topics):
        yield Flaw.UNKNOWN_TOPIC
    if any(
        topic in known and not 0 <= number < known[topic].partition_count
        for topic, numbers in read.owned.items()
        for number in numbers
    ):
        yield Flaw.IMPOSSIBLE_CLAIM
    if kind is UserData.STICKY and read.user_data is not None:
        yield from _user_data_oddities(read.user_data)


def _user_data_oddities(user_data: bytes) -> Iterator[Flaw]:
    if not user_data:
        yield Flaw.USER_DATA_EMPTY
    elif any(note.code in UNREADABLE_LAYOUT for note in decode_sticky_user_data(user_data).notes):
        yield Flaw.USER_DATA_ODD
