"""The Subscription a member joins with, and what it keeps from one round to the next.

The generation is written twice, in the Subscription's field and under `cooperative-sticky` in
four bytes of UserData as well, which is all that leaders of Kafka 2.4 to 3.1 read. Owned
partitions are what the member consumes now, never what it consumed before: a leader may take an
old claim for a new one.

A member that joins twice without an assignment in between is in one of two situations. The
answer was lost: then the same bytes let the coordinator repeat it at once, without a round. Or
the member cannot apply the answer, as when a static member comes back with fewer topics: then
the same bytes get the same answer for ever, and something has to change. So the first repetition
is byte for byte the same, unless the coordinator has reported that the next round began already,
and from the second on the version alternates between 3 and 2, which every client reads alike (2
lacks the rack).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from assignors.assignor import UserData
from assignors.model import NO_GENERATION
from wire import (
    Subscription,
    TopicPartitions,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)
from wire.text import utf16_sorted

VERSION, OTHER_VERSION = 3, 2
COOPERATIVE, STICKY = UserData.COOPERATIVE, UserData.STICKY


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """What a member keeps between rounds."""

    kind: UserData
    """What its assignor reads in UserData."""
    rack_id: str | None = None
    capacity: int | None = None
    """What it can carry beside the others, for assignors by weight; it never changes, so that a
    repeated join is the same bytes."""
    assigned: TopicPartitions = field(default_factory=dict)
    """The partitions last assigned to it."""
    generation: int = NO_GENERATION
    """The generation of `assigned`."""
    written: Subscription | None = None
    """The last Subscription it wrote."""
    written_bytes: bytes = field(default=b"", compare=False, repr=False)
    """Its bytes."""
    repeats: int = 0
    """How many times it has joined since its last assignment."""


def subscribe(
    membership: Membership,
    topics: Iterable[str],
    *,
    owned: TopicPartitions,
    generation: int = NO_GENERATION,
    may_repeat: bool = True,
) -> tuple[Membership, bytes]:
    """Return the Subscription bytes to join with, and the membership after writing them.

    `owned` is what the member consumes now, nothing under an eager protocol; `generation` is
    the last one it took part in, as its client knows it, -1 where it does not. `may_repeat` is
    false where the coordinator has said that a new round began: then nothing it could repeat
    is left, and the newest generation counts, as leaders of Kafka 3.1 believe no older one.
    Cost: O(bytes).

    >>> member = Membership(kind=UserData.COOPERATIVE)
    >>> member, blob = subscribe(member, ["t"], owned={})
    >>> blob.hex()
    '00030000000100017400000004ffffffff00000000ffffffffffff'
    """
    wanted = wanted_by(membership, topics, owned=owned, generation=generation)
    last = membership.written
    is_first = may_repeat and membership.repeats == 1
    if is_first and last is not None and _is_repetition(wanted, last):
        wanted = last
    elif membership.repeats > 1 and last is not None and last.version == VERSION:
        wanted = replace(wanted, version=OTHER_VERSION)
    known = membership.written_bytes if wanted is last else b""
    blob = known or encode_subscription(wanted)
    return subscribed(membership, wanted, blob), blob


def subscribed(membership: Membership, written: Subscription, blob: bytes) -> Membership:
    """Return the membership after a Subscription was written, with these bytes. Cost: O(1)."""
    return Membership(
        kind=membership.kind,
        rack_id=membership.rack_id,
        capacity=membership.capacity,
        assigned=membership.assigned,
        generation=membership.generation,
        written=written,
        written_bytes=blob,
        repeats=membership.repeats + 1,
    )


def wanted_by(
    membership: Membership, topics: Iterable[str], *, owned: TopicPartitions, generation: int
) -> Subscription:
    """Return the Subscription that a member joins with, unless it repeats its last one."""
    newest = max(generation, membership.generation, NO_GENERATION)
    is_sticky = membership.kind is STICKY
    return subscription(
        membership.kind,
        tuple(utf16_sorted(set(topics))),
        owned=membership.assigned if is_sticky else owned,
        owned_since=membership.generation if is_sticky else newest,
        generation=newest,
        rack_id=membership.rack_id,
        capacity=membership.capacity,
    )


def applied(membership: Membership, assigned: TopicPartitions, generation: int) -> Membership:
    """Return the membership after an assignment arrived and was applied.

    `generation` is the round's, negative where the client does not know it. Cost: O(1).
    """
    return Membership(
        kind=membership.kind,
        rack_id=membership.rack_id,
        capacity=membership.capacity,
        assigned=assigned,
        generation=max(generation, NO_GENERATION),
    )


def subscription(
    kind: UserData,
    topics: tuple[str, ...],
    *,
    owned: TopicPartitions,
    owned_since: int,
    generation: int,
    rack_id: str | None = None,
    capacity: int | None = None,
    version: int = VERSION,
) -> Subscription:
    """Return what a member writes that claims `owned` since that generation.

    Where the claim stands depends on the assignor: in the Subscription under
    `cooperative-sticky`, in UserData under `sticky`, nowhere under others. UserData is what Java
    would write: null where there is nothing to say. A capacity follows it.
    """
    user_data = None
    if kind is COOPERATIVE:
        user_data = encode_cooperative_user_data(owned_since, capacity=capacity)
    elif kind is STICKY and (owned or owned_since >= 0 or capacity is not None):
        user_data = encode_sticky_user_data(owned, owned_since, capacity=capacity)
    return Subscription(
        version=version,
        topics=topics,
        user_data=user_data,
        owned=owned if kind is COOPERATIVE else {},
        generation=generation,
        rack_id=rack_id,
    )


def _is_repetition(wanted: Subscription, last: Subscription) -> bool:
    """Return whether nothing but the generation has changed."""
    return (wanted.topics, wanted.owned, wanted.rack_id) == (last.topics, last.owned, last.rack_id)
