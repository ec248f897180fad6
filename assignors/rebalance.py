"""What an assignor answers: who gets what now, what waits, and what was odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assignors.model import Assignment, MemberNote, State
from wire import TopicPartitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """The answer of one round. Every member of the group has an entry in `assignment`."""

    assignment: Assignment
    withheld: TopicPartitions = field(default_factory=dict)
    """Partitions that nobody gets in this round, because somebody may still consume them."""
    follow_up: bool = False
    """The leader must start another round itself: nobody else has a reason to rejoin.

    Once per unchanged set of claims; after that the partitions stay withheld.
    """
    notes: tuple[MemberNote, ...] = ()
    stats: Mapping[str, int | float | bool] = field(default_factory=dict)
    """Loads, moves and spread, as `metrics.stats` names them."""
    lists: Mapping[str, Sequence[tuple[str, int]]] | None = None
    """What copies a reference: each member's (topic, partition) pairs in the reference's order."""
    order: tuple[str, ...] | None = None
    """With `lists`: the members in the order of the reference's hash map."""
    state: State | None = None
    """What an assignor that remembers wants back in `Group.state` of its next round."""
