"""Records in a run: who processes which, which are processed again, and what is committed.

Each step of a member is followed by what its consumer does about offsets. A scenario without
records has none of it.

The ledger counts what really happens. Of every partition the ranges of offsets that were processed
are kept, joined where they meet: what a new range has in common with them was processed again.
While two members process one partition, what the slower one does counts as duplicate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    OUTSIDE,
    Answered,
    Command,
    Effect,
    MemberEvent,
    Reply,
    Restrict,
)
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    HeartbeatResponse,
    OffsetCommitResponse,
)
from assignors.simulation.timed.protocols.kafka.offsets_client import (
    Begin,
    Done,
    Finish,
    Flow,
    Identity,
    OffsetsClient,
    Start,
    end_offset,
    follow,
    freeze,
    is_about_offsets,
    note,
    position,
    restrict,
)
from assignors.simulation.timed.protocols.kafka.offsets_client import step as client_step
from assignors.simulation.timed.protocols.kafka.state import Offsets, Partition
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.sides import AnyMember, ManualMember, MixedMember, Sides

LIKE_HEARTBEATS = {
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.FENCED_INSTANCE_ID,
}
"""Errors of a commit after which a classic member does what it does after those of a heartbeat."""


@dataclass(slots=True, kw_only=True)
class RecordLedger:
    """Processing as it is. Times are microseconds since the run began."""

    flows: Mapping[str, Flow]
    """Topic -> its rates."""
    count_from: int = 0
    """From when on costs are counted."""
    active: dict[Partition, dict[str, Start]] = field(default_factory=dict)
    """Partition -> member name -> where it began."""
    ranges: dict[Partition, list[tuple[int, int]]] = field(default_factory=dict)
    """Partition -> what was processed, [first, last), sorted and apart."""
    since: dict[Partition, int] = field(default_factory=dict)
    """Partition -> since when two members or more process it."""
    processed: int = 0
    """Records, each as often as it was processed."""
    reprocessed: int = 0
    """Records that were processed before."""
    duplicates: int = 0
    """Records that a second member processed while another was at work on the partition."""

    def begin(self, at: int, member: str, partition: Partition, offset: int) -> None:
        """Let a member process a partition from `offset` on. Cost: O(members at work on it)."""
        active = self.active.setdefault(partition, {})
        self._count_duplicates(at, partition)
        active[member] = Start(offset, at)
        if len(active) > 1:
            self.since[partition] = at

    def finish(self, at: int, member: str, partition: Partition, offset: int) -> None:
        """End that, at `offset`. Cost: O(ranges of the partition)."""
        self._count_duplicates(at, partition)
        active = self.active[partition]
        start = active.pop(member)
        if len(active) > 1:
            self.since[partition] = at
        again = self._cover(partition, start.offset, offset)
        self.processed += offset - start.offset
        self.reprocessed += again if at >= self.count_from else 0

    def close(self, at: int) -> None:
        """Count what goes on at the end of the run; it goes on after it. Cost: O(partitions)."""
        for partition, active in self.active.items():
            flow = self.flows[partition[0]]
            going_on = list(active.items())
            ends = [position(flow, start, at) for _, start in going_on]
            for (member, _), offset in zip(going_on, ends, strict=True):
                self.finish(at, member, partition, offset)
            for (member, _), offset in zip(going_on, ends, strict=True):
                self.begin(at, member, partition, offset)

    def _count_duplicates(self, at: int, partition: Partition) -> None:
        since = self.since.pop(partition, None)
        if since is None:
            return
        flow, begin = self.flows[partition[0]], max(since, self.count_from)
        done = [
            position(flow, start, at) - position(flow, start, begin)
            for start in self.active[partition].values()
        ]
        self.duplicates += max(sum(done) - max(done), 0)

    def _cover(self, partition: Partition, first: int, last: int) -> int:
        """Add a range; return how much of it was there before."""
        before = self.ranges.get(partition, [])
        touching = [(a, b) for a, b in before if a <= last and first <= b]
        again = sum(max(min(b, last) - max(a, first), 0) for a, b in touching)
        apart = [each for each in before if each not in touching]
        if first < last or touching:
            whole = (
                min([first, *(a for a, _ in touching)]),
                max([last, *(b for _, b in touching)]),
            )
            self.ranges[partition] = sorted([*apart, whole])
        return again


@dataclass(slots=True, kw_only=True)
class Processing:
    """Records and commits of a run."""

    scenario: Scenario
    sides: Sides
    ledger: RecordLedger
    offsets: Offsets
    clients: list[OffsetsClient]
    numbers: Mapping[str, int]
    """Member name -> its number."""
    commits: int = 0
    """Commits that were accepted, since costs are counted."""
    fenced: int = 0
    """Commits that were refused, since costs are counted."""
    errors: dict[ErrorCode, int] = field(default_factory=lambda: defaultdict(int))
    """How many were refused in the whole run, and why."""

    def step_member(self, number: int, at_us: int, event: MemberEvent) -> list[Effect]:
        """Let a member play an event, and its consumer do what follows for its offsets."""
        sides, member, client = self.sides, self.sides.members[number], self.clients[number]
        if event is Command.START and not member.is_up:
            client = OffsetsClient(config=client.config, flows=client.flows)
            self.clients[number] = client
        note(client, event)
        if not is_about_offsets(event):
            effects = sides.step_member(number, event)
            return self._done(number, at_us, follow(client, at_us, _identity(member), effects))
        heard = _heard(client, member, event)
        done = client_step(client, at_us, _identity(member), event)
        if heard is not None:
            effects = sides.step_member(number, heard)
            done += follow(client, at_us, _identity(member), effects)
        return self._done(number, at_us, done)

    def see(self, at_us: int, effects: list[Effect]) -> None:
        """Count commits that the coordinator answers, and end what brokers forbid."""
        for effect in effects:
            if isinstance(effect, Reply) and isinstance(effect.response, OffsetCommitResponse):
                if effect.number != OUTSIDE:
                    self._count(at_us, effect.response.error)
            elif isinstance(effect, Restrict):
                number = self.numbers[effect.member]
                self._done(number, at_us, restrict(self.clients[number], at_us, effect.owned))

    def freeze(self, number: int, at_us: int, *, begins: bool) -> None:
        """Let the application of a member stand still, or go on."""
        self._done(number, at_us, freeze(self.clients[number], at_us, begins=begins))

    def _count(self, at_us: int, error: ErrorCode) -> None:
        is_counted = at_us >= self.ledger.count_from
        if error is ErrorCode.NONE:
            self.commits += is_counted
        else:
            self.errors[error] += 1
            self.fenced += is_counted

    def _done(self, number: int, at_us: int, done: list[Done]) -> list[Effect]:
        """Enter into the ledger what is processed; return what is left to do."""
        name, ledger = self.scenario.members[number].name, self.ledger
        effects: list[Effect] = []
        for each in done:
            match each:
                case Begin(partition, offset):
                    ledger.begin(at_us, name, partition, offset)
                case Finish(partition, offset):
                    ledger.finish(at_us, name, partition, offset)
                case _:
                    effects.append(each)
        return effects

    def figures(self, at: int, topics: Mapping[str, int]) -> dict[str, Any]:
        """Return what a result says of records and commits, for a run that ends at `at`.

        `topics` are the partition counts at the end.
        """
        self.ledger.close(at)
        return {
            "commits": self.commits,
            "fenced_commits": self.fenced,
            "reprocessed_records": self.ledger.reprocessed,
            "duplicate_records": self.ledger.duplicates,
            "lag_records": self.lag(at, topics),
        }

    def lag(self, at: int, topics: Mapping[str, int]) -> int:
        """Return how many records are written and not committed. Cost: O(partitions)."""
        known = self.offsets.replicated
        return sum(
            max(end_offset(flow_of(self.scenario, topic), at) - known.get((topic, number), 0), 0)
            for topic, count in topics.items()
            for number in range(count)
        )


def flow_of(scenario: Scenario, topic: str) -> Flow:
    """Return the rates of a topic."""
    return Flow(*scenario.processing.rates(topic))


def processing_of(scenario: Scenario, sides: Sides) -> Processing | None:
    """Return what counts the records of a run, `None` where there are none."""
    if not scenario.processing.is_on:
        return None
    created = (action.topic for action in scenario.plan if action.topic is not None)
    flows = {topic: flow_of(scenario, topic) for topic in (*scenario.topics, *created)}
    return Processing(
        scenario=scenario,
        sides=sides,
        ledger=RecordLedger(flows=flows, count_from=scenario.count_from_ms * MILLISECOND),
        offsets=sides.coordinator.offsets,
        clients=[OffsetsClient(config=each, flows=flows) for each in scenario.members],
        numbers={each.name: number for number, each in enumerate(scenario.members)},
    )


def _identity(member: AnyMember) -> Identity:
    is_in_group = not isinstance(member, ManualMember)
    names_epoch = is_in_group and _speaks_consumer(member)
    return Identity(member.member_id, member.generation if is_in_group else -1, names_epoch)


def _speaks_consumer(member: AnyMember) -> bool:
    if isinstance(member, MixedMember):
        return member.protocol is GroupProtocol.CONSUMER
    return isinstance(member, ConsumerClient)


def _heard(
    client: OffsetsClient, member: AnyMember, event: MemberEvent
) -> Answered | Command | None:
    """Return what a refused commit is to a classic member: a heartbeat refused alike.

    One of an older generation is none, but for a client that does not look at which it was.
    """
    if not isinstance(event, Answered) or not isinstance(event.response, OffsetCommitResponse):
        return None
    request, error = client.commits.get(event.number), event.response.error
    if request is None or not member.is_up or _speaks_consumer(member):
        return None
    if request.member_id != member.member_id or not request.member_id:
        return None
    if request.generation != member.generation:
        forgets = client.config.forgets_generation and error is ErrorCode.ILLEGAL_GENERATION
        return Command.FORGET_GENERATION if forgets else None
    if error not in LIKE_HEARTBEATS:
        return None
    return Answered(event.number, HeartbeatResponse(error))
