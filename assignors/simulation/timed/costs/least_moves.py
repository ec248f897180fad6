"""The fewest moves from one moment at rest to another: what a change of members had to cost.

Between two moments at which every partition has a consumer, members and topics may have changed in
several steps. Whatever came between, an assignment with the best balance at the end takes at least
so many partitions from those that consumed them at the begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress, repeat
from typing import NamedTuple

from assignors.model import Cluster, Group, Member
from assignors.optimal.bounds import optimum
from assignors.problem import lawful_owners, problem_of
from wire import TopicPartitions


class Loads(NamedTuple):
    """How much members had."""

    loads: Mapping[str, int]
    """Member name -> partitions."""
    topics: frozenset[str]
    """Of topics among these."""


def least_moves(
    had: Mapping[str, TopicPartitions],
    subscriptions: Mapping[str, tuple[str, ...]],
    topics: Mapping[str, int],
    known: Loads | None = None,
) -> int:
    """Return the fewest partitions that change their consumer in the best balance.

    `had` is what each member consumed, `subscriptions` are those of the members at the end, and
    `topics` the partition counts then. `known`, if given, is how much `had` is. Partitions
    without a consumer at the begin do not move.
    Cost: O(members x topics) where all subscribe to the same, else that of `optimal.bounds`.

    >>> had = {"a": {"t": (0, 1, 2)}, "b": {"t": (3, 4, 5)}}
    >>> least_moves(had, {"a": ("t",), "b": ("t",), "c": ("t",)}, {"t": 6})
    2
    >>> least_moves(had, {"a": ("t",)}, {"t": 6})
    3
    """
    asked = {each: frozenset(each).intersection(topics) for each in set(subscriptions.values())}
    wanted = frozenset[str]().union(*asked.values())
    if not wanted:
        return 0
    if len(set(asked.values())) > 1:
        had_count = sum(
            len(owned[each]) for owned in had.values() for each in owned.keys() & wanted
        )
        return had_count - _kept_in_best(had, subscriptions, topics)
    floor, spare = divmod(sum(topics[topic] for topic in wanted), len(subscriptions))
    had_each = known.loads if known and known.topics <= wanted else _loads(had, wanted)
    stay = list(compress(had_each.values(), map(subscriptions.__contains__, had_each)))
    above = sum(map(floor.__lt__, stay))
    return sum(had_each.values()) - sum(map(min, stay, repeat(floor))) - min(spare, above)


def _loads(had: Mapping[str, TopicPartitions], wanted: frozenset[str]) -> dict[str, int]:
    """Return how many partitions of these topics each member has. Cost: O(members x topics)."""
    if len(wanted) == 1:
        (topic,) = wanted
        return {name: len(owned.get(topic, ())) for name, owned in had.items()}
    return {
        name: sum(len(owned[each]) for each in owned.keys() & wanted) for name, owned in had.items()
    }


def _kept_in_best(
    had: Mapping[str, TopicPartitions],
    subscriptions: Mapping[str, tuple[str, ...]],
    topics: Mapping[str, int],
) -> int:
    """Return the most partitions that stay where they are in an assignment of the best balance."""
    members = [Member(member_id=name, topics=asked) for name, asked in subscriptions.items()]
    problem = problem_of(Group(cluster=Cluster.of(topics), members=tuple(members)))
    present = {name: had.get(name, {}) for name in subscriptions}
    owner = lawful_owners(problem, present)
    return optimum(problem.first, problem.takes, problem.class_of, owner).kept_max
