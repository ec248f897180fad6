"""The faults of a run as they go on: who is frozen or stuck, whose connection is bad, who a zombie.

Whatever happens to a member passes through here: what comes to one that is frozen waits, and a
request whose time is over is turned into what the member notices. A new fault is a `FaultKind`, a
row in `FAULTS` and a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from assignors.model import Cluster
from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.faults.failovers import Failovers
from assignors.simulation.timed.heartbeats import HEARTBEAT, Heartbeats
from assignors.simulation.timed.network import MILLION, Network, Silent, TimedOut
from assignors.simulation.timed.processing import Processing
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    OUTSIDE,
    Answered,
    Arrived,
    Command,
    Disturbance,
    Disturbed,
    Failed,
    Failure,
    Fired,
    MemberEvent,
    NotCoordinator,
    Restrict,
)
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction, OffsetCommit
from assignors.simulation.timed.protocols.partitions import has_all
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.scenario import (
    Direction,
    Fault,
    FaultKind,
    MemberConfig,
    Scenario,
)
from assignors.simulation.timed.sides import Sides
from wire import TopicPartitions

ForMember = MemberEvent | Cluster | TimedOut | Silent
"""What can happen to a member."""
USUAL = frozenset({Answered, Fired})
"""Most of it."""
UUID_SIZE = 37
"""A hyphen and a UUID: what a member id has behind the name that it is made from."""


class FaultEvent(NamedTuple):
    """An event: a fault begins or ends."""

    fault: Fault
    begins: bool


def fault_events(faults: Iterable[Fault]) -> Iterator[tuple[int, FaultEvent]]:
    """Yield when each fault begins and ends, in microseconds. Cost: O(faults)."""
    for fault in faults:
        yield fault.from_ms * MILLISECOND, FaultEvent(fault, begins=True)
        if fault.kind is not FaultKind.LOST_GENERATION:
            yield fault.until_ms * MILLISECOND, FaultEvent(fault, begins=False)


class Zombie(NamedTuple):
    """A member that consumed after the coordinator had removed it; microseconds."""

    member: str
    from_us: int
    until_us: int


@dataclass(slots=True, kw_only=True)
class Zombies:
    """Which processes consume though the coordinator has removed their members.

    Such a process was frozen or cut off, did not poll in time, or another one has taken its
    instance id. Nobody can prevent that a partition then has two consumers, so these windows are
    declared. Two consumers of a partition outside of them are a fault of the protocol, which the
    monitor `double-consumption` finds.
    """

    by_id: dict[str, list[int]] = field(default_factory=dict)
    """What a member id begins with -> the members that may have it."""
    since: dict[str, int] = field(default_factory=dict)
    """Member name -> when it became a zombie."""
    removed: dict[str, str] = field(default_factory=dict)
    """Member name -> the id with which it was removed last, whether it consumed or not."""
    over: list[Zombie] = field(default_factory=list)

    @classmethod
    def of(cls, members: Iterable[MemberConfig]) -> Zombies:
        """Return no zombies yet. Cost: O(members)."""
        found = cls()
        for number, each in enumerate(members):
            for name in {each.name, each.instance_id or each.name}:
                found.by_id.setdefault(name, []).append(number)
        return found

    def candidates(self, member_id: str) -> list[int]:
        """Return the numbers of the members that may have this id."""
        return self.by_id.get(member_id[:-UUID_SIZE], [])

    def end(self, at: int, name: str) -> None:
        """End a member's window, if it has one: it consumes nothing any more."""
        since = self.since.pop(name, None)
        if since is not None:
            self.over.append(Zombie(name, since, at))

    def close(self, at: int) -> list[Zombie]:
        """Return all windows of a run that ends at `at`, in the order in which they ended."""
        return [*self.over, *(Zombie(name, since, at) for name, since in self.since.items())]


@dataclass(slots=True, kw_only=True)
class LiveFaults:
    """The faults of a run."""

    scenario: Scenario
    names: list[str]
    sides: Sides
    network: Network
    meter: Meter
    processing: Processing | None
    step: Callable[[int, MemberEvent], None]
    """Lets a member do what it does about an event."""
    reach_coordinator: Callable[[Arrived], None]
    zombies: Zombies
    failovers: Failovers | None = None
    """`None`: the coordinator is always the same."""
    heartbeats: Heartbeats | None = None
    frozen: dict[int, list[ForMember]] = field(default_factory=dict)
    """Member that stands still -> what waits for it."""
    stuck: dict[int, TopicPartitions] = field(default_factory=dict)
    """Member whose application hangs -> what its client believes to consume."""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        sides: Sides,
        network: Network,
        meter: Meter,
        processing: Processing | None,
        *,
        step: Callable[[int, MemberEvent], None],
        reach_coordinator: Callable[[Arrived], None],
    ) -> LiveFaults:
        """Return the faults of a run that begins. Cost: O(members)."""
        fails_over = any(each.kind in OF_THE_COORDINATOR for each in scenario.faults)
        return cls(
            scenario=scenario,
            names=[each.name for each in scenario.members],
            sides=sides,
            network=network,
            meter=meter,
            processing=processing,
            step=step,
            reach_coordinator=reach_coordinator,
            zombies=Zombies.of(scenario.members),
            failovers=Failovers.of(scenario, sides, network, meter) if fails_over else None,
        )

    def change(self, event: FaultEvent) -> None:
        """Let a fault begin or end. Cost: O(members)."""
        fault, begins = event
        numbers = {name: number for number, name in enumerate(self.names)}
        self.meter.compare(self.network.queue.now, self.sides, numbers)
        if begins:
            self.meter.acted = self.network.queue.now
        members = list(numbers.values()) if fault.member is None else [numbers[fault.member]]
        if self.heartbeats is not None:
            for number in members:
                self.heartbeats.wake(number)
        act = FAULTS[fault.kind].act
        if act is not None:
            act(self, members, event)

    def reach(self, number: int, what: ForMember) -> None:
        """Let something happen to a member: now, or when it is frozen no more, unless it is killed.

        Cost: that of its step.
        """
        if type(what) in USUAL and not self.frozen and self.failovers is None:
            self.step(number, what)  # type: ignore[arg-type]  # by its type
            return
        if self.frozen and number in self.frozen:
            if what is not Command.CRASH:
                self.frozen[number].append(what)
                return
            del self.frozen[number]
        if isinstance(what, Cluster):
            if self.sides.show_topics(number, what):
                self.step(number, Command.REJOIN)
        elif isinstance(what, TimedOut):
            waiting = self.network.in_flight.get(what.request)
            if waiting is not None and waiting[2] == self.network.links[number].life:
                self.disconnect(number, late=waiting[1])
        elif isinstance(what, Silent):
            if self.network.links[number].returns == what.since:
                self.step(number, Command.SESSION_OVER)
        else:
            self._reach_process(number, what)

    def _reach_process(self, number: int, what: MemberEvent) -> None:
        """Let a member do what it does; an answer of a broker without its group is a failure."""
        failovers = self.failovers
        if what is Command.START and number in self.stuck and not self.sides.members[number].is_up:
            _go_on(self, number)
        if failovers is not None and isinstance(what, Answered):
            if isinstance(what.response, NotCoordinator):
                what = Failed(what.number, Failure.REFUSED)
            else:
                failovers.hear(number, what.response)
        if failovers is not None and what is Command.START:
            failovers.start(number)
        self.step(number, what)
        if failovers is not None:
            failovers.recoveries.look_at(number)

    def disconnect(self, number: int, *, late: int | None = None) -> None:
        """Close a member's connection, and let its requests fail. Cost: O(requests in flight).

        `late`: the one, by the member's own number, that it closes the connection for.
        """
        for request in self.network.disconnect(number):
            failure = Failure.LATE if request == late else Failure.CLOSED
            self.step(number, Failed(request, failure))

    def consume(self, number: int, owned: TopicPartitions, reason: str) -> bool:
        """Let a member consume exactly `owned`, nothing of it while it is stuck.

        Returns whether it lost something. Cost: O(partitions that change).
        """
        now, name = self.network.queue.now, self.names[number]
        if number in self.stuck:
            before, self.stuck[number] = self.stuck[number], owned
            has_lost = not has_all(owned, before)
        else:
            has_lost = self.meter.ledger.consume(now, name, owned, reason)
        if not owned:
            self.zombies.end(now, name)
        return has_lost

    def freeze(self, number: int, *, begins: bool) -> None:
        """Let the application of a member process nothing, or go on."""
        if self.processing is not None:
            self.processing.freeze(number, self.network.queue.now, begins=begins)

    def restrict(self, effect: Restrict) -> None:
        """Let a member consume no more than brokers let it. Cost: O(partitions that change)."""
        self.consume(self.names.index(effect.member), effect.owned, effect.reason)

    def note_removed(self) -> list[str]:
        """Keep who was removed, and declare the windows of those whose processes consume.

        Returns the ids of all that were removed. Cost: O(members removed), for ids that the broker
        made times the members.
        """
        removed = self.sides.removed()
        if self.failovers is not None:
            self.failovers.recoveries.look()
        for member_id in removed:
            for number in self.zombies.candidates(member_id) or self._with_id(member_id):
                name = self.names[number]
                is_current = self.sides.members[number].member_id in {member_id, ""}
                if is_current:
                    self.zombies.removed[name] = member_id
                if is_current and self.meter.ledger.consumed.get(name):
                    self.zombies.since[name] = self.network.queue.now
        return removed

    def _with_id(self, member_id: str) -> list[int]:
        """Return who has an id that the broker made: a classic member of a consumer group."""
        members = self.sides.members
        return [number for number, each in enumerate(members) if each.member_id == member_id]


# What each fault does to its members, when it begins and when it ends


def _freeze(faults: LiveFaults, members: list[int], event: FaultEvent) -> None:
    """Let a process stand still, or go on, if it has not been killed meanwhile."""
    (number,) = members
    if event.begins:
        if faults.sides.members[number].is_up:
            faults.frozen[number] = []
            faults.freeze(number, begins=True)
    elif number in faults.frozen:
        faults.freeze(number, begins=False)
        _thaw(faults, number)


def _thaw(faults: LiveFaults, number: int) -> None:
    """Let a process go on: its timers are due, unless what came meanwhile stops them."""
    held = faults.frozen.pop(number)
    queue = faults.network.queue
    for what in held:
        if isinstance(what, Fired):
            rank = Rank.HEARTBEAT if what == HEARTBEAT else None
            queue.start((number, what.key), queue.now, (number, what), rank, number)
    for what in held:
        if not isinstance(what, Fired):
            faults.reach(number, what)


def _stick(faults: LiveFaults, members: list[int], event: FaultEvent) -> None:
    """Let an application hang while its client goes on, or go on itself."""
    (number,) = members
    if not event.begins:
        if number in faults.stuck:
            _go_on(faults, number)
    elif faults.sides.members[number].is_up:
        consumed = faults.meter.ledger.consumed.get(faults.names[number], {})
        faults.consume(number, {}, "stuck")
        faults.stuck[number] = consumed
        faults.freeze(number, begins=True)
        _disturb(Disturbance.LONG_POLL, faults, members, event)


def _go_on(faults: LiveFaults, number: int) -> None:
    """Let an application process again what its client still has."""
    faults.freeze(number, begins=False)
    faults.reach(number, Disturbed(Disturbance.LONG_POLL, 0))
    owned = faults.stuck.pop(number)
    if owned:
        faults.consume(number, owned, "processes again")


def _disturb(kind: Disturbance, faults: LiveFaults, members: list[int], event: FaultEvent) -> None:
    """Let the application's thread be slower, or as fast as before."""
    fault, begins = event
    longest = fault.until_ms - fault.from_ms
    by_ms = fault.by_ms or longest
    faults.reach(members[0], Disturbed(kind, by_ms * MILLISECOND * begins))


def _forget(faults: LiveFaults, members: list[int], _event: FaultEvent) -> None:
    faults.reach(members[0], Command.LOSE_GENERATION)


def _cut(faults: LiveFaults, members: list[int], event: FaultEvent) -> None:
    fault, begins = event
    until = fault.until_ms * MILLISECOND
    for number in members if begins else ():
        trouble = faults.network.trouble(number)
        if fault.direction is not Direction.ANSWERS:
            trouble.requests_cut_until = max(trouble.requests_cut_until, until)
        if fault.direction is not Direction.REQUESTS:
            trouble.answers_cut_until = max(trouble.answers_cut_until, until)


def _delay(faults: LiveFaults, members: list[int], event: FaultEvent) -> None:
    sign = 1 if event.begins else -1
    for number in members:
        faults.network.trouble(number).extra_us += sign * event.fault.by_ms * MILLISECOND


def _lose(faults: LiveFaults, members: list[int], event: FaultEvent) -> None:
    sign = 1 if event.begins else -1
    for number in members:
        trouble = faults.network.trouble(number)
        trouble.loss += sign * round(event.fault.percent * MILLION / 100)


def _duplicate(faults: LiveFaults, members: list[int], event: FaultEvent) -> None:
    sign = 1 if event.begins else -1
    for number in members:
        trouble = faults.network.trouble(number)
        trouble.duplicates += sign * round(event.fault.percent * MILLION / 100)
        trouble.copy_late_us += sign * event.fault.by_ms * MILLISECOND


def _hang(faults: LiveFaults, _members: list[int], event: FaultEvent) -> None:
    """Let a producer commit offsets in a transaction that it does not end, or abort it.

    Until then fetches that ask for stable offsets are refused, so a member that begins with one of
    these partitions waits. Members that have it already notice nothing.

    Source: KIP-447; `OffsetMetadataManager.isOffsetUnstable` of Kafka 4.4.
    """
    fault, begins = event
    producer_id = faults.scenario.faults.index(fault) + 1
    if not begins:
        faults.reach_coordinator(Arrived(OUTSIDE, EndTransaction(producer_id, is_commit=False)))
        return
    offsets = tuple(
        (topic, number, 0)
        for topic, listed in faults.meter.ledger.partitions.items()
        if fault.topic in {None, topic}
        for number in range(len(listed))
    )
    faults.reach_coordinator(
        Arrived(OUTSIDE, OffsetCommit("", -1, offsets, producer_id=producer_id))
    )


def _fail_over(faults: LiveFaults, _members: list[int], event: FaultEvent) -> None:
    assert faults.failovers is not None, "the scenario has such a fault"
    faults.failovers.change(*event)


Act = Callable[[LiveFaults, list[int], FaultEvent], None]


class Scope(StrEnum):
    """What a fault is a fault of."""

    MEMBER = "member"
    NETWORK = "network"
    COORDINATOR = "coordinator"
    """Another broker is the coordinator afterwards."""
    LOG = "log"
    """The partition of `__consumer_offsets`."""


class FaultRow(NamedTuple):
    """A kind of fault: what it does, and which fields of `Fault` it has."""

    scope: Scope
    act: Act | None
    """What it does when it begins and when it ends; `None`: the log asks whether it goes on."""
    needs: tuple[str, ...] = ("until_ms",)
    may: tuple[str, ...] = ()


def _disturbance(kind: Disturbance, *needs: str) -> FaultRow:
    return FaultRow(Scope.MEMBER, partial(_disturb, kind), ("until_ms", *needs))


FAILOVER = FaultRow(Scope.COORDINATOR, _fail_over, may=("by_ms", "broker"))
CHANCE = ("until_ms", "percent")

FAULTS: dict[FaultKind, FaultRow] = {
    FaultKind.FREEZE: FaultRow(Scope.MEMBER, _freeze),
    FaultKind.LONG_POLL: _disturbance(Disturbance.LONG_POLL),
    FaultKind.STUCK: FaultRow(Scope.MEMBER, _stick),
    FaultKind.SLOW_CALLBACK: _disturbance(Disturbance.SLOW_CALLBACK, "by_ms"),
    FaultKind.SLOW_ASSIGNOR: _disturbance(Disturbance.SLOW_ASSIGNOR, "by_ms"),
    FaultKind.STALLED_THREAD: _disturbance(Disturbance.STALLED_THREAD),
    FaultKind.LOST_GENERATION: FaultRow(Scope.MEMBER, _forget, needs=()),
    FaultKind.CUT: FaultRow(Scope.NETWORK, _cut, may=("member", "direction")),
    FaultKind.DELAY: FaultRow(Scope.NETWORK, _delay, ("until_ms", "by_ms"), ("member",)),
    FaultKind.LOSS: FaultRow(Scope.NETWORK, _lose, CHANCE, ("member",)),
    FaultKind.DUPLICATE: FaultRow(Scope.NETWORK, _duplicate, CHANCE, ("member", "by_ms")),
    FaultKind.HANGING_TRANSACTION: FaultRow(Scope.LOG, _hang, may=("topic",)),
    FaultKind.COORDINATOR_CRASH: FAILOVER,
    FaultKind.COORDINATOR_HANDOVER: FAILOVER,
    FaultKind.COORDINATOR_ZOMBIE: FAILOVER,
    FaultKind.APPEND_FAILURE: FaultRow(Scope.LOG, None, CHANCE),
}
"""Kind -> its scope, what it does, and its fields."""

OF_A_MEMBER = frozenset(kind for kind, row in FAULTS.items() if row.scope is Scope.MEMBER)
OF_THE_COORDINATOR = frozenset(
    kind for kind, row in FAULTS.items() if row.scope is Scope.COORDINATOR
)
