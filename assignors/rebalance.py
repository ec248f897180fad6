"""The result of an assignor: the assignment, what is withheld, and notes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from assignors.model import Assignment, MemberNote, State
from wire import TopicPartitions

Figure = int | float | bool | str


V = TypeVar("V")


class LazyMapping(Mapping[str, V]):
    """A mapping that is computed when somebody first reads it.

    >>> figures = LazyMapping(lambda: {"load_max": 3})
    >>> figures["load_max"], figures == {"load_max": 3}
    (3, True)
    """

    __slots__ = ("_compute", "_known")

    def __init__(self, compute: Callable[[], Mapping[str, V]]) -> None:
        """Keep `compute`, which is called once at most."""
        self._compute: Callable[[], Mapping[str, V]] | None = compute
        self._known: Mapping[str, V] = {}

    def __getitem__(self, name: str) -> V:
        """Return a value; `KeyError` for a name that is none."""
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return repr(self._read())

    def __reduce__(self) -> tuple[type[dict[str, V]], tuple[Mapping[str, V]]]:
        """Copy and pickle as what it is computed to."""
        return dict, (self._read(),)

    def _read(self) -> Mapping[str, V]:
        if self._compute is not None:
            self._known, self._compute = self._compute(), None
        return self._known


class LazyFigures(LazyMapping[Figure]):
    """Figures of an assignment.

    No assignment depends on them, and in a large group they cost as much as an assignor does.
    """

    __slots__ = ()


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
    """Loads, moves and spread, under the keys of `metrics.stats`."""
    lists: Mapping[str, Sequence[tuple[str, int]]] | None = None
    """Member id -> (topic, partition) pairs in the order of Java's list; from copies of Kafka's."""
    order: tuple[str, ...] | None = None
    """With `lists`: the member ids in the order of Java's hash map."""
    state: State | None = None
    """To be passed in as `Group.state` of the next round, from assignors that keep a state."""
