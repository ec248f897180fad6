"""The result of an assignor: the assignment, what is withheld, and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from assignors.mappings.lazy_mapping import LazyMapping
from assignors.model import Assignment, MemberNote, State
from wire import TopicPartitions

Figure = int | float | bool | str

V = TypeVar("V")


class ComputedMapping(LazyMapping[V]):
    """A mapping that is computed when somebody first reads it.

    >>> figures = ComputedMapping(lambda: {"load_max": 3})
    >>> figures["load_max"], figures == {"load_max": 3}
    (3, True)
    """

    __slots__ = ("_compute",)

    def __init__(self, compute: Callable[[], Mapping[str, V]]) -> None:
        """Keep `compute`, which is called once at most."""
        self._compute: Callable[[], Mapping[str, V]] | None = compute
        self._named = None

    def _make(self) -> Mapping[str, V]:
        compute, self._compute = self._compute, None  # and what it holds
        assert compute is not None, "it is called once"
        return compute()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebalance:
    """The result of one round. Every member of the group has an entry in `assignment`."""

    assignment: Assignment
    withheld: TopicPartitions = field(default_factory=dict)
    """Partitions assigned to nobody in this round, because a member may still consume them."""
    follow_up: bool = False
    """Whether the leader must start another round itself, as no other member has to rejoin.

    Once for an unchanged set of claims; after that the partitions stay withheld.
    """
    deferred: TopicPartitions = field(default_factory=dict)
    """Partitions that a later round moves if the budget allows (`Weighting.budget`)."""
    spent: int = 0
    """What the moves that begin in this round cost (`Weighting.move_costs`)."""
    deferred_cost: int = 0
    """The same of `deferred`."""
    notes: tuple[MemberNote, ...] = ()
    stats: Mapping[str, Figure] = field(default_factory=dict)
    """Loads, moves and spread, under the keys of `metrics.stats`.

    Most assignors compute them when somebody reads one: no assignment depends on them, and in a
    large group they cost as much as an assignor does.
    """
    lists: Mapping[str, Sequence[tuple[str, int]]] | None = None
    """Member id -> (topic, partition) pairs in the order of Java's list; from copies of Kafka's."""
    order: tuple[str, ...] | None = None
    """With `lists`: the member ids in the order of Java's hash map."""
    state: State | None = None
    """To be passed in as `Group.state` of the next round, from assignors that keep a state."""
