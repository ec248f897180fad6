"""What a run counts apart from the ledger: rebalances, interrupted members, unnecessary moves.

The ledger knows partitions, this knows the group: when it rebalanced, when it was at rest, and who
was disturbed by it. Counted is from `Ledger.count_from` on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from statistics import median
from typing import NamedTuple

from assignors.model import Cluster, Group, Member
from assignors.optimal.bounds import optimum
from assignors.ownership.changes import TopicPartition, pairs
from assignors.problem import lawful_owners, problem_of
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import MemberConfig, Scenario
from assignors.simulation.timed.sides import Sides
from wire import TopicPartitions


@dataclass(slots=True, kw_only=True)
class Pauses:
    """Which partitions members have paused, and how often a rebalance ended a pause.

    A Java consumer keeps the pause of a partition for as long as it owns it: until the next
    rebalance of an eager protocol, or until a cooperative one revokes it. Clients with
    `MemberConfig.keeps_pauses` pause a partition again that comes back.

    Source: `SubscriptionState.assignFromSubscribed` of Kafka's Java client; `consumer.addChild` of
    Sarama (its pull request 3681), `PauseFetchPartitions` of franz-go. A rebalance of librdkafka
    resumes what the library has paused (`RD_KAFKA_TOPPAR_F_LIB_PAUSE`), not the application.
    """

    keepers: frozenset[str] = frozenset()
    """Whose client keeps pauses of what it has lost."""
    paused: dict[str, dict[str, frozenset[int]]] = field(default_factory=dict)
    """Member -> topic -> partitions."""
    between: set[TopicPartition] = field(default_factory=set)
    """What a keeper had paused and has lost: whoever has it next reads on, or has paused it too."""
    ended: int = 0
    """Pauses of partitions that a rebalance ended."""

    def pause(self, member: str, topic: str, consumed: Mapping[str, TopicPartitions]) -> None:
        """Pause what a member consumes of a topic."""
        numbers = consumed.get(member, {}).get(topic, ())
        own = self.paused.setdefault(member, {})
        own[topic] = own.get(topic, frozenset()).union(numbers)

    def resume(self, member: str, topic: str) -> None:
        """End a member's pauses of a topic: it asked for that."""
        numbers = self.paused.get(member, {}).pop(topic, frozenset())
        self.between.difference_update((topic, number) for number in numbers)

    def end_process(self, member: str) -> None:
        """Drop a member's pauses with its process."""
        self.paused.pop(member, None)

    def lose(self, member: str, owned: TopicPartitions) -> None:
        """End the pauses of what a member does not own any more. Cost: O(paused partitions)."""
        before = self.paused.get(member)
        if not before:
            return
        gone = {topic: was.difference(owned.get(topic, ())) for topic, was in before.items()}
        if member in self.keepers:
            self.between.update((topic, number) for topic in gone for number in gone[topic])
            return
        self.ended += sum(map(len, gone.values()))
        self.paused[member] = {topic: was - gone[topic] for topic, was in before.items()}

    def take(self, member: str, partitions: Iterable[TopicPartition]) -> None:
        """Note that a member consumes these: unless it kept a pause of its own, it reads on.

        Cost: O(partitions).
        """
        for topic, number in self.between.intersection(partitions):
            self.between.discard((topic, number))
            self.ended += number not in self.paused.get(member, {}).get(topic, ())

    def consume(self, member: str, owned: TopicPartitions, *, has_lost: bool) -> None:
        """Note that a member consumes exactly this. Cost: O(its partitions) if some are paused."""
        if has_lost:
            self.lose(member, owned)
        if self.between:
            self.take(member, pairs(owned))


class Rebalance(NamedTuple):
    """One rebalance; times are microseconds since the run began."""

    began: int
    ended: int
    generation: int
    """The generation or group epoch at its end."""


class Rest(NamedTuple):
    """A moment at which every partition had one consumer and nothing was going on."""

    moves: int
    """Of the run until then."""
    consumed: Mapping[str, TopicPartitions]
    """Member name -> what it consumed."""


@dataclass(slots=True, kw_only=True)
class Meter:
    """Counts of the group, from when on costs are counted."""

    ledger: Ledger
    generations: int = 0
    rebalances: list[Rebalance] = field(default_factory=list)
    """All of the run."""
    began: int | None = None
    ended: int = 0
    """When the last rebalance ended, counted or not."""
    acted: int = 0
    """When the plan last did something, or a fault last began."""
    touched: int = 0
    """Members that had to rejoin or to give up partitions, once a generation."""
    touched_in: dict[int, int] = field(default_factory=dict)
    """Member number -> the generation in which it was last counted."""
    pauses: Pauses = field(default_factory=Pauses)
    errors: Counter[str] = field(default_factory=Counter)
    """What clients have stopped with that do not recover from it, in the whole run."""
    rest: Rest | None = None
    moves_beyond_optimum: int = 0

    @classmethod
    def of(cls, ledger: Ledger, members: Iterable[MemberConfig]) -> Meter:
        """Return the counts of a run that begins. Cost: O(members)."""
        keepers = frozenset(each.name for each in members if each.keeps_pauses)
        return cls(ledger=ledger, pauses=Pauses(keepers=keepers))

    def count(self, now: int, sides: Sides, generation_before: int) -> bool:
        """Count what a step of the coordinator changed; return whether a rebalance began or ended.

        Cost: O(1).
        """
        generation = sides.generation()
        if now >= self.ledger.count_from:
            # Those of a deleted group begin again; what a failed append takes back never was.
            self.generations += generation - generation_before if generation else 0
        is_rebalancing = sides.is_rebalancing()
        if is_rebalancing and self.began is None:
            self.began = now
            return True
        if not is_rebalancing and self.began is not None:
            self.rebalances.append(Rebalance(self.began, now, generation))
            self.began, self.ended = None, now
            return True
        return False

    def touch(self, now: int, sides: Sides, number: int) -> None:
        """Count a member that has to rejoin or to give up partitions."""
        generation = sides.generation()
        if now >= self.ledger.count_from and self.touched_in.get(number) != generation:
            self.touched_in[number] = generation
            self.touched += 1

    def compare(self, now: int, sides: Sides, names: Mapping[str, int]) -> None:
        """Compare with the last rest: something is about to happen, or the run ends.

        `names` are the members' names and numbers. Cost: O(members) where the group is at rest, and
        that of `least_moves` where partitions have moved.
        """
        ledger = self.ledger
        if now < ledger.count_from or sides.is_rebalancing():
            return
        subscriptions = _subscriptions(sides, names)
        if not self._is_all_consumed(sides, subscriptions):
            return
        if self.rest is not None and ledger.moves > self.rest.moves:
            topics = {topic: len(listed) for topic, listed in ledger.partitions.items()}
            least = least_moves(self.rest.consumed, subscriptions, topics)
            self.moves_beyond_optimum += max(ledger.moves - self.rest.moves - least, 0)
        self.rest = Rest(ledger.moves, dict(ledger.consumed))

    def is_at_rest(self, sides: Sides, names: Mapping[str, int]) -> bool:
        """Return whether every member consumes its share, and together they consume all."""
        if sides.is_rebalancing():
            return False
        return self._is_all_consumed(sides, _subscriptions(sides, names))

    def _is_all_consumed(self, sides: Sides, subscriptions: Mapping[str, tuple[str, ...]]) -> bool:
        """Return whether nobody has anything to do, and every partition is consumed once.

        A frozen member that brokers have fenced still waits for its share.
        """
        if not all(each.is_at_rest for each in sides.members if each.is_up):
            return False
        wanted = set(chain.from_iterable(set(subscriptions.values())))
        partitions = self.ledger.partitions
        there = sum(len(listed) for topic, listed in partitions.items() if topic in wanted)
        return there == self.ledger.consumed_count and not sides.has_refused()

    @property
    def durations(self) -> list[int]:
        """How long each rebalance took that ended since costs are counted, in microseconds."""
        from_us = self.ledger.count_from
        return [each.ended - each.began for each in self.rebalances if each.ended >= from_us]

    @property
    def settled_at(self) -> int:
        """When consumption last changed, or the last rebalance ended."""
        return max(self.ended, self.ledger.changed_at)


def _subscriptions(sides: Sides, names: Mapping[str, int]) -> dict[str, tuple[str, ...]]:
    """Return the topics of each member whose process runs."""
    return {
        name: (*sides.members[number].topics, *sides.matches(number))
        for name, number in names.items()
        if sides.members[number].is_up
    }


def result_of(meter: Meter, scenario: Scenario, sides: Sides, at: int) -> TimedResult:
    """Return what a run that ends at `at` cost; counts of its events are left out.

    Cost: O(members + partitions).
    """
    ledger = meter.ledger
    meter.compare(at, sides, {each.name: number for number, each in enumerate(scenario.members)})
    running = [member for member in sides.members if member.is_up]
    wanted = _subscriptions(sides, {str(number): number for number in range(len(sides.members))})
    unowned = ledger.close(at, set(chain.from_iterable(wanted.values())))
    is_settled = not unowned and all(member.is_at_rest for member in running)
    converged = max(meter.settled_at - meter.acted, 0) / MILLISECOND
    times = meter.durations
    return TimedResult(
        rounds=meter.generations,
        round_ms_median=median(times) / MILLISECOND if times else 0.0,
        round_ms_max=max(times, default=0) / MILLISECOND,
        convergence_ms=converged if is_settled else None,
        unavailable_partition_ms=ledger.unavailable / MILLISECOND,
        group_stopped_ms=ledger.group_stopped / MILLISECOND,
        any_stopped_ms=ledger.any_stopped / MILLISECOND,
        longest_gap_ms=ledger.longest_gap / MILLISECOND,
        gaps=ledger.gaps,
        moves=ledger.moves,
        moves_beyond_optimum=meter.moves_beyond_optimum,
        members_touched=meter.touched,
        pauses_ended=meter.pauses.ended,
        double_partition_ms=ledger.double / MILLISECOND,
        longest_double_ms=ledger.longest_double / MILLISECOND,
        requests={},
        events=0,
        unowned=unowned,
        is_settled=is_settled,
        fetches_refused=sides.fetches_refused(),
        members_failed=meter.errors.total(),
        fatal_errors=dict(sorted(meter.errors.items())),
    )


def least_moves(
    had: Mapping[str, TopicPartitions],
    subscriptions: Mapping[str, tuple[str, ...]],
    topics: Mapping[str, int],
) -> int:
    """Return the fewest partitions that change their consumer in the best balance.

    Between two moments at which every partition has a consumer, members and topics may have changed
    in several steps. An assignment with the best balance at the end takes at least so many
    partitions from their consumers at the begin.

    `had` is what each member consumed, `subscriptions` are those of the members at the end, and
    `topics` the partition counts then. Partitions without a consumer at the begin do not move.
    Cost: that of `optimal.bounds`.

    >>> had = {"a": {"t": (0, 1, 2)}, "b": {"t": (3, 4, 5)}}
    >>> least_moves(had, {"a": ("t",), "b": ("t",), "c": ("t",)}, {"t": 6})
    2
    >>> least_moves(had, {"a": ("t",)}, {"t": 6})
    3
    """
    wanted = topics.keys() & set(chain.from_iterable(subscriptions.values()))
    if not wanted:
        return 0
    had_count = sum(len(owned[each]) for owned in had.values() for each in owned.keys() & wanted)
    members = [Member(member_id=name, topics=asked) for name, asked in subscriptions.items()]
    problem = problem_of(Group(cluster=Cluster.of(topics), members=tuple(members)))
    owner = lawful_owners(problem, {name: had.get(name, {}) for name in subscriptions})
    return had_count - optimum(problem.first, problem.takes, problem.class_of, owner).kept_max
