"""A settlement in numbers: what members asked for, how much each consumes, what moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assignors.model import Group
from wire.constructors import unchecked


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the members of a group subscribe to, as far as it has partitions."""

    partition_count: int
    member_count: int
    """Members that subscribe to at least one partition."""
    is_equal: bool
    """Whether each of those subscribes to all of them."""


NOTHING_ASKED = Asked(partition_count=0, member_count=0, is_equal=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """A sound settlement after one of its rounds, in numbers."""

    asked: Asked
    before: Mapping[str, int]
    """Partitions of each member at its start, by member id."""
    after: Mapping[str, int]
    """Partitions of each member now, by member id."""
    moved: int
    """Partitions that had a consumer at its start and now have another one, or none."""

    @property
    def unassigned(self) -> int:
        """Partitions that somebody subscribes to and nobody consumes."""
        return self.asked.partition_count - sum(self.after.values())

    @property
    def load_square_sum(self) -> int:
        """Sum of the squares of `after`."""
        return sum([load * load for load in self.after.values()])


new_counts, _all_asked = unchecked(Counts), unchecked(Asked)


def asked_of(
    group: Group, topics: Sequence[tuple[str, ...]], lists: Mapping[tuple[str, ...], frozenset[str]]
) -> Asked:
    """Return what is asked for by members with these subscriptions, each once in `lists`."""
    known = group.cluster.topics
    named = known.keys() & frozenset().union(*lists.values())
    asked = {topic for topic in named if known[topic].partition_count}
    wanted = {names: len(asked & taken) for names, taken in lists.items()}
    is_idle = 0 in wanted.values()
    return _all_asked(
        partition_count=sum([known[topic].partition_count for topic in asked]),
        member_count=sum([wanted[names] > 0 for names in topics]) if is_idle else len(topics),
        is_equal={0, len(asked)}.issuperset(wanted.values()),
    )
