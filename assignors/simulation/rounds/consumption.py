"""Who consumes what, in numbers, and the least that was possible.

Members may consume what no sound assignor gives them: a partition twice, one that does not exist,
one of a topic that they do not subscribe to. Where that occurs, moves and loads are counted from
arrays (`outcome`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from assignors.model import Assignment, Group
from assignors.ownership.changes import TopicPartition
from assignors.ownership.monitors import started_while_owned

NOBODY: Mapping[int, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumed:
    """What each member consumes at one moment."""

    shares: Assignment
    consumer: Mapping[str, Mapping[int, str]]
    """Topic -> number -> member id; one of them where several members consume a partition."""
    load: Mapping[str, int]
    """Partitions of each member, by member id."""
    is_single: bool
    """Whether no partition is consumed twice."""
    is_sound: bool
    """Whether that, and each partition exists and its consumer subscribes to it."""


def consumed(group: Group, shares: Assignment) -> Consumed:
    """Return what the members of a group consume. Cost: O(partitions)."""
    known = {name: topic.partition_count for name, topic in group.cluster.topics.items()}
    sets = {names: frozenset(names) for names in {member.topics for member in group.members}}
    subscribed = {member.member_id: sets[member.topics] for member in group.members}
    is_asked = all(subscribed[member_id].issuperset(share) for member_id, share in shares.items())
    consumer, load = _counted(shares)
    is_single = sum(load.values()) == sum(map(len, consumer.values()))
    return Consumed(
        shares=shares,
        consumer=consumer,
        load=load,
        is_single=is_single,
        is_sound=is_single
        and is_asked
        and all(
            not numbers or (min(numbers) >= 0 and max(numbers) < known.get(topic, 0))
            for topic, numbers in consumer.items()
        ),
    )


def _counted(shares: Assignment) -> tuple[Mapping[str, Mapping[int, str]], dict[str, int]]:
    """Return the consumer of each partition, and the load of each member."""
    consumer: defaultdict[str, dict[int, str]] = defaultdict(dict)
    load: dict[str, int] = {}
    for member_id, share in shares.items():
        count = 0
        for topic, numbers in share.items():
            of_topic = consumer[topic]
            for number in numbers:
                of_topic[number] = member_id
            count += len(numbers)
        load[member_id] = count
    return consumer, load


def change(before: Consumed, after: Consumed) -> tuple[bool, tuple[TopicPartition, ...]]:
    """Return whether a member loses something, and what another one starts while it consumes it.

    The partitions come sorted. Cost: O(partitions).
    """
    if not (before.is_single and after.is_single):
        has_lost = any(
            not set(numbers) <= set(after.shares.get(member_id, {}).get(topic, ()))
            for member_id, share in before.shares.items()
            for topic, numbers in share.items()
        )
        return has_lost, started_while_owned(before.shares, after.shares)
    has_lost, started = False, []
    for topic, held in before.consumer.items():
        now = after.consumer.get(topic, NOBODY)
        if held != now:
            for number, member_id in held.items():
                other = now.get(number)
                has_lost |= other != member_id
                if other is not None and other != member_id:
                    started.append((topic, number))
    return has_lost, tuple(sorted(started))


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the members of a group subscribe to, as far as it has partitions."""

    topics: Mapping[str, int]
    """Topic -> partition count."""
    member_count: int
    """Members that subscribe to at least one partition."""
    is_equal: bool
    """Whether each of those subscribes to all of them."""


def asked_of(group: Group) -> Asked:
    """Return what is asked for in a group."""
    known = group.cluster.topics
    sets = {names: frozenset(names) for names in {member.topics for member in group.members}}
    named = known.keys() & frozenset().union(*sets.values())
    asked = {topic: count for topic in named if (count := known[topic].partition_count)}
    wanted = {names: len(asked.keys() & topics) for names, topics in sets.items()}
    return Asked(
        topics=asked,
        member_count=sum([wanted[member.topics] > 0 for member in group.members]),
        is_equal={0, len(asked)}.issuperset(wanted.values()),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """A settlement after one of its rounds, in numbers."""

    asked: Asked
    first: Consumed
    """At its start."""
    last: Consumed
    """Now."""
    is_sound: bool
    """Whether nothing has been consumed until now that must not be; other numbers than
    `unassigned` mean something only then."""

    @property
    def before(self) -> Mapping[str, int]:
        """Partitions of each member at its start, by member id."""
        return self.first.load

    @property
    def after(self) -> Mapping[str, int]:
        """Partitions of each member now, by member id."""
        return self.last.load

    @property
    def moved(self) -> int:
        """Partitions that had a consumer at its start and now have another one, or none."""
        return sum(
            now.get(number) != member_id
            for topic, held in self.first.consumer.items()
            if held != (now := self.last.consumer.get(topic, NOBODY))
            for number, member_id in held.items()
        )

    @property
    def unassigned(self) -> int:
        """Partitions that somebody subscribes to and nobody consumes."""
        if self.is_sound:
            return sum(self.asked.topics.values()) - sum(self.after.values())
        return sum(
            number not in self.last.consumer.get(topic, NOBODY)
            for topic, count in self.asked.topics.items()
            for number in range(count)
        )

    @property
    def load_square_sum(self) -> int:
        """Sum of the squares of `after`."""
        return sum([load * load for load in self.after.values()])


@dataclass(frozen=True, slots=True, kw_only=True)
class Least:
    """What no assignment of a group can do better."""

    load_square_sum: int
    """The smallest sum of squared partition counts."""
    moves_min: int
    """The fewest partitions that leave a member that may keep them, among assignments with it."""


def proven_least(counts: Counts) -> Least | None:
    """Return the least that is possible for who consumes what at the start of a settlement.

    Two bounds cost no search. Nothing is more equal than the mean load, rounded up or down, for
    every member that may take something; and of assignments with those loads none keeps more than
    the sum of min(owned, load), the larger loads given to those that own more. Where every member
    may take everything both bounds are reached. Elsewhere an assignment that reaches them is its
    own proof, as a good assignor's is after most events. `None` where only a search can say it
    (`optimal.bounds.optimum`). Cost: O(M).

    >>> from assignors import Cluster, Member
    >>> members = tuple(Member(member_id=name, topics=("t",)) for name in "ab")
    >>> group = Group(cluster=Cluster.of({"t": 4}), members=members)
    >>> now = consumed(group, {"a": {"t": (0, 1, 2, 3)}, "b": {}})
    >>> proven_least(Counts(asked=asked_of(group), first=now, last=now, is_sound=True))
    Least(load_square_sum=8, moves_min=2)
    """
    asked = counts.asked
    if not asked.member_count:
        return Least(load_square_sum=0, moves_min=0)
    floor, spare = divmod(sum(asked.topics.values()), asked.member_count)
    held = counts.before.values()
    # As `min` of each load and the floor, without a call for each member.
    above = [load for load in held if load > floor]
    kept_max = sum(held) - sum(above) + floor * len(above) + min(spare, len(above))
    bound = Least(
        load_square_sum=asked.member_count * floor * floor + spare * (2 * floor + 1),
        moves_min=sum(held) - kept_max,
    )
    is_reached = asked.is_equal or (
        counts.unassigned == 0
        and counts.load_square_sum == bound.load_square_sum
        and counts.moved == bound.moves_min
    )
    return bound if is_reached else None
