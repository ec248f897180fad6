"""Failovers: the group's coordinator is lost, another broker loads its log and goes on.

What only the coordinator before knew is gone: who waits for an answer, timers, records that were
not replicated. Members lose their connections, or hear NOT_COORDINATOR; each looks for the new
coordinator (`find_coordinator`), and what it sends meanwhile waits. While the new one loads, it
answers that it does so, and members ask again; only heartbeats of classic members get an answer
that says nothing, as Kafka's do. A coordinator that does not know of its loss answers members that
do not either (`OldCoordinator`).

Source: `GroupCoordinatorService.onElection`, `onResignation`, `heartbeat` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.network import Network
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    OUTSIDE,
    Append,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    NotCoordinator,
    Record,
    Reply,
    Response,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.coordinator import load, step
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeatResponse,
    EndTransaction,
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    JoinGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.restore import restored
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.protocols.state_values import cloned
from assignors.simulation.timed.queue import EventQueue
from assignors.simulation.timed.random_streams import stream
from assignors.simulation.timed.scenario import Fault, FaultKind, Scenario
from assignors.simulation.timed.sides import Sides

LOADED = Fired(("loaded",), 0)
"""The event at which the new coordinator has read the log."""
OLD = "old"
"""What the keys of an old coordinator's timers begin with."""
BACKOFF_MS, BACKOFF_MAX_MS = 100, 1000
"""`retry.backoff.ms`, doubled each time up to `retry.backoff.max.ms`."""
JITTER_PERCENT = 20
"""Each wait is longer or shorter by up to so much."""

Entry = Record | EndTransaction


def find_coordinator(network: Network, member: int, from_us: int, elected_us: int) -> int:
    """Return when a member has found its coordinator that begins to look for it at `from_us`.

    It sends FindCoordinator to any broker. As long as no broker leads the group's partition, which
    one does from `elected_us` on, the answer is COORDINATOR_NOT_AVAILABLE, and the member waits
    before it asks again, longer each time. The requests are counted. Times are microseconds since
    the run began. Cost: O(requests), one a second while there is no coordinator.

    Source: `AbstractCoordinator.ensureCoordinatorReady`, `CoordinatorRequestManager` and
    `ExponentialBackoff` of Kafka's Java client.
    """
    dice = stream(network.scenario.seed, network.links[member].config.name, f"lookups {from_us}")
    at, wait_ms = from_us, BACKOFF_MS
    while True:
        network.count("FindCoordinator", 1)
        arrives = network.arrives(member, at)
        at = network.returns(member, arrives)
        if arrives >= elected_us:
            return at
        percent = 100 - JITTER_PERCENT + dice.below(2 * JITTER_PERCENT + 1)
        at += wait_ms * MILLISECOND * percent // 100
        wait_ms = min(2 * wait_ms, BACKOFF_MAX_MS)


@dataclass(slots=True, kw_only=True)
class CoordinatorLog:
    """The records of a group, batch by batch.

    A batch counts as written once it is replicated. What is not replicated when a broker crashes is
    lost; a broker that hands over in order lets it be replicated first.
    """

    batches: list[tuple[Entry, ...]] = field(default_factory=list)
    tail: dict[int, int] = field(default_factory=dict)
    """Token of an append that is not replicated yet -> the position of its batch."""

    def append(self, records: tuple[Entry, ...], token: int) -> None:
        """Write a batch, which is to be replicated. Cost: O(1)."""
        self.tail[token] = len(self.batches)
        self.batches.append(records)

    def note_end(self, request: object) -> None:
        """Write the marker of a transaction, if it is one that this request ends. Cost: O(1)."""
        if isinstance(request, EndTransaction):
            self.batches.append((request,))

    def replicate(self, token: int) -> bool:
        """Take a batch for replicated; return False if its broker has lost it. Cost: O(1)."""
        return self.tail.pop(token, None) is not None

    def replicate_until(self, last: int) -> None:
        """Take all batches up to a token for replicated, where tokens rise. Cost: O(batches)."""
        for token in [each for each in self.tail if each <= last]:
            del self.tail[token]

    def lose_tail(self) -> int:
        """Drop what is not replicated; return how many records that are. Cost: O(batches)."""
        gone = set(self.tail.values())
        count = sum(len(self.batches[position]) for position in gone)
        self.batches = [each for at, each in enumerate(self.batches) if at not in gone]
        self.tail.clear()
        return count

    def keep_tail(self) -> None:
        """Take everything for replicated; nobody waits for it any more."""
        self.tail.clear()

    def entries(self) -> Iterator[Entry]:
        """Yield every record, in the order of the log."""
        for batch in self.batches:
            yield from batch

    def records(self) -> Iterator[Record]:
        """Yield every record, without the ends of transactions."""
        for each in self.entries():
            if not isinstance(each, EndTransaction):
                yield each

    def __len__(self) -> int:
        """Return how many records it has. Cost: O(batches)."""
        return sum(map(len, self.batches))


@dataclass(slots=True, kw_only=True)
class OldCoordinator:
    """A coordinator that does not know yet that another broker is the coordinator: a zombie.

    It goes on from the state that it had: it answers heartbeats, lets sessions end, completes
    joins. But whatever would write a record fails, and leaves it as it was.
    """

    state: GroupCoordinator

    @classmethod
    def of(cls, coordinator: GroupCoordinator, queue: EventQueue[Any]) -> OldCoordinator:
        """Return the coordinator as it is; its timers run on as those of the old one.

        Cost: O(members and partitions).
        """
        for (_, key), at, (_, fired) in queue.timers_of(COORDINATOR):
            queue.stop((COORDINATOR, key))
            ours = (OLD, *key)
            queue.start((COORDINATOR, ours), at, (COORDINATOR, Fired(ours, fired.data)))
        return cls(state=cloned(coordinator))

    def play(self, at_us: int, event: Arrived | Fired) -> list[Effect]:
        """Return what it does about an event at `at_us`. Cost: O(members and partitions)."""
        trial = cloned(self.state)
        if isinstance(event, Fired):
            event = Fired(event.key[1:], event.data)
        effects = step(trial, at_us, event)
        if any(isinstance(each, Append) for each in effects):
            return [Reply(event.number, NotCoordinator())] if isinstance(event, Arrived) else []
        self.state = trial
        return [_as_old(each) for each in effects]


def _as_old(effect: Effect) -> Effect:
    """Return the effect with the key that the timer has here."""
    if isinstance(effect, Schedule | Cancel):
        return effect._replace(key=(OLD, *effect.key))
    return effect


@dataclass(slots=True, kw_only=True)
class Recovery:
    """One failover. Times are microseconds since the run began; `None`: not yet."""

    began: int
    loaded: int | None = None
    heartbeat: int | None = None
    """When a member first got an answer to a heartbeat."""
    rest: int | None = None
    """When everybody had got an answer, and the group was at rest."""


@dataclass(slots=True, kw_only=True)
class Recoveries:
    """The failovers of a run."""

    sides: Sides
    meter: Meter
    numbers: Mapping[str, int]
    """Member name -> its number."""
    groupless: frozenset[int]
    """Members outside the group, who need not hear anything."""
    awaited: set[int] = field(default_factory=set)
    """Members that have not heard of the present coordinator yet."""
    is_heartbeat_awaited: bool = False
    """Whether the present coordinator has answered no heartbeat yet."""
    listed: list[Recovery] = field(default_factory=list)
    heard_at: int = 0
    """When a member was last heard for the first time."""
    replayed: int = 0
    """Records that coordinators have read, each as often as it was read."""
    lost: int = 0
    """Records that were not replicated."""

    @classmethod
    def of(cls, scenario: Scenario, sides: Sides, meter: Meter) -> Recoveries:
        """Return those of a run that begins."""
        members = list(enumerate(scenario.members))
        return cls(
            sides=sides,
            meter=meter,
            numbers={each.name: number for number, each in members},
            groupless=frozenset(number for number, each in members if each.assign),
        )

    def begin(self, now: int, lost: int) -> None:
        """Note that a coordinator is lost; `lost` is how many records are. Cost: O(members)."""
        self.lost += lost
        self.listed.append(Recovery(began=now))
        self.is_heartbeat_awaited = True
        running = {n for n, each in enumerate(self.sides.members) if each.is_up}
        self.awaited = running - self.groupless

    def load(self, now: int, replayed: int) -> None:
        """Note that the next one has read the log."""
        self.replayed += replayed
        for each in self._open():
            each.loaded = now

    def may_rest(self, member: int) -> bool:
        """Return whether it makes no difference when a member hears of the coordinator again."""
        return not self.is_heartbeat_awaited and member not in self.awaited

    def hear(self, now: int, member: int, response: Response) -> None:
        """Note that a member has got an answer from the coordinator. Cost: O(open failovers)."""
        if member in self.awaited:
            self.awaited.discard(member)
            self.heard_at = now
        if self.is_heartbeat_awaited and _is_welcome(response):
            self.is_heartbeat_awaited = False
            for each in self.listed:
                each.heartbeat = now if each.heartbeat is None else each.heartbeat

    def look_at(self, member: int) -> None:
        """Look at a member after its step: one whose process has ended need not hear anything."""
        if member in self.awaited and not self.sides.members[member].is_up:
            self.awaited.discard(member)
        self.look()

    def look(self) -> None:
        """Look whether the group is at rest again; O(members) while it may be, else O(1)."""
        if self.awaited or not self.listed or self.listed[-1].rest is not None:
            return
        waiting = self._open()
        if not all(each.loaded for each in waiting):
            return
        if self.meter.is_at_rest(self.sides, self.numbers):
            for each in waiting:
                each.rest = max(each.loaded or 0, self.heard_at, self.meter.settled_at)

    def figures(self) -> dict[str, Any]:
        """Return what a result says of them."""
        self.look()
        listed = self.listed
        return {
            "failovers": len(listed),
            "recovery_ms": _longest([(each.began, each.rest) for each in listed]),
            "first_heartbeat_ms": _longest([(each.began, each.heartbeat) for each in listed]),
            "records_replayed": self.replayed,
            "records_lost": self.lost,
        }

    def _open(self) -> list[Recovery]:
        return [each for each in self.listed if each.rest is None]


def _is_welcome(response: Response) -> bool:
    if isinstance(response, HeartbeatResponse):
        return response.error is ErrorCode.NONE
    if isinstance(response, ConsumerHeartbeatResponse):
        return response.error is ErrorCode.NONE
    return False


def _longest(times: list[tuple[int, int | None]]) -> float | None:
    """Return the longest of these times in milliseconds; `None` where one has no end."""
    found = [None if end is None else end - began for began, end in times]
    whole = [each for each in found if each is not None]
    return max(whole) / MILLISECOND if whole and len(whole) == len(found) else None


class Stage(StrEnum):
    """Where the group's coordinator is."""

    SERVES = "serves"
    AWAY = "away"
    """No broker leads the group's partition."""
    LOADS = "loads"
    """A broker leads it, and reads its log."""


@dataclass(slots=True, kw_only=True)
class Failovers:
    """The brokers of a run that lead the group's partition, one after the other."""

    scenario: Scenario
    sides: Sides
    network: Network
    recoveries: Recoveries
    leader: int
    """The broker that leads the partition, or did last."""
    stage: Stage = Stage.SERVES
    fault: Fault | None = None
    """The fault by which the coordinator was lost last."""
    log: CoordinatorLog = field(default_factory=CoordinatorLog)
    elected_us: int = 0
    """From when on a broker leads the partition."""
    lost_before: int = 0
    """Requests up to this number went to a broker that is no longer the coordinator."""
    zombie: OldCoordinator | None = None
    """A coordinator that does not know that it is none."""
    at_zombie: set[int] = field(default_factory=set)
    """Requests that go to it, or wait there."""
    unwritten: set[int] = field(default_factory=set)
    """Members with a generation that is in no log: the next coordinator may give it out again."""
    stale: set[int] = field(default_factory=set)
    """Members that still believe in the broker before."""
    lose_model: Callable[..., None] | None = None
    """Tells the execution model of a loss (`goes_on`: to a coordinator that does not know)."""
    outside: list[Arrived] = field(default_factory=list)
    """What nobody in the group has sent, and waits for a coordinator."""

    @classmethod
    def of(cls, scenario: Scenario, sides: Sides, network: Network, meter: Meter) -> Failovers:
        """Return the failovers of a run that begins."""
        found = cls(
            scenario=scenario,
            sides=sides,
            network=network,
            recoveries=Recoveries.of(scenario, sides, meter),
            leader=scenario.broker.placement.leader,
        )
        network.detour, network.may_rest = found.detour, found.recoveries.may_rest
        return found

    def change(self, fault: Fault, begins: bool) -> None:  # noqa: FBT001 - the two of an event
        """Let a broker's fault begin or end. Cost: O(members + requests on their way)."""
        if begins and fault.broker in {None, self.leader}:
            self.fault = fault
            self._lose(fault)
        elif not begins and fault is self.fault:
            is_zombie = fault.kind is FaultKind.COORDINATOR_ZOMBIE
            self._end_zombie() if is_zombie else self._elect(fault)

    def _lose(self, fault: Fault) -> None:
        """Let the coordinator be lost: everything that waits for it, and its timers."""
        network, queue = self.network, self.network.queue
        is_zombie = fault.kind is FaultKind.COORDINATOR_ZOMBIE
        lost = 0
        if fault.kind is FaultKind.COORDINATOR_HANDOVER:
            self.log.keep_tail()
        else:
            lost = self.log.lose_tail()
        serves = is_zombie and self.stage is Stage.SERVES
        self.stage, self.lost_before = Stage.AWAY, network.sent
        self.elected_us = (fault.from_ms if is_zombie else fault.until_ms) * MILLISECOND
        self.recoveries.begin(queue.now, lost)
        self.stale = set(range(len(network.links)))
        if serves:
            self.zombie = OldCoordinator.of(self.sides.kafka, queue)
            self.at_zombie = set(network.in_flight)
        else:
            queue.stop_all(COORDINATOR)
            for number in list(network.in_flight):
                self._refuse(number, queue.now)
        if self.lose_model is not None:
            self.lose_model(goes_on=serves)
        if fault.kind is FaultKind.COORDINATOR_CRASH:
            for member in sorted(self.stale):
                self._look_up(member, network.returns(member, queue.now))
        if is_zombie:
            self._elect(fault)

    def _end_zombie(self) -> None:
        """Let the old coordinator learn that it is none, and say so to all who wait there."""
        queue = self.network.queue
        self.zombie = None
        for key, *_ in queue.timers_of(COORDINATOR):
            if key[1][0] == OLD:
                queue.stop(key)
        for number in sorted(self.at_zombie & self.network.in_flight.keys()):
            self._refuse(number, queue.now)
        self.at_zombie = set()

    def _refuse(self, number: int, leaves: int) -> None:
        """Let a request fail: that this is not the coordinator leaves then for its member."""
        network = self.network
        network.no_limit(number)
        answer = network.answer(leaves, number, NotCoordinator())
        if answer is not None:
            returns, rank, member, answered = answer
            network.queue.put(returns, (member, answered), rank, member)
            self._look_up(member, returns)

    def _look_up(self, member: int, from_us: int) -> None:
        """Let a member that learns of the loss at `from_us` look for the coordinator, once."""
        if member not in self.stale:
            return
        self.stale.discard(member)
        found = find_coordinator(self.network, member, from_us, self.elected_us)
        self.network.links[member].arrives = self.network.arrives(member, found)

    def detour(self, member: int, number: int, arrives: int) -> bool:
        """Return whether a request goes to a broker that is not the coordinator any more."""
        if member not in self.stale:
            return False
        if self.zombie is not None:
            self.at_zombie.add(number)
            return False
        self._refuse(number, arrives + self.scenario.broker.service_us)
        return True

    def start(self, member: int) -> None:
        """Let a process that starts look for the coordinator: it believes in none."""
        self._look_up(member, self.network.queue.now)

    def _elect(self, fault: Fault) -> None:
        """Let the next broker lead the partition, and begin to load its log."""
        broker, queue = self.scenario.broker, self.network.queue
        self.leader = (self.leader + 1) % broker.placement.brokers
        self.stage = Stage.LOADS
        takes = fault.by_ms * MILLISECOND + broker.load_us * len(self.log)
        key = (COORDINATOR, LOADED.key)
        queue.start(key, queue.now + takes, (COORDINATOR, LOADED))

    def _load(self) -> list[Effect]:
        """Go on with what the log says. Cost: O(records + members)."""
        queue = self.network.queue
        self.stage = Stage.SERVES
        timers = load(self.sides.kafka, restored(self.log.entries()))
        generation = self.sides.generation()
        self.unwritten |= {
            n for n, each in enumerate(self.sides.members) if each.generation > generation
        }
        self.recoveries.load(queue.now, len(self.log))
        for each in self.outside:
            queue.put(queue.now, (COORDINATOR, each))
        self.outside = []
        # A member that joined without a rebalance timeout has -1: it is over at once.
        return [each._replace(after_us=max(each.after_us, 0)) for each in timers]

    def effects(self, event: CoordinatorEvent) -> list[Effect] | None:
        """Return what an event at a coordinator leads to that is lost or loads.

        `None`: there is one, which handles it.
        """
        match event:
            case Committed(token):
                return None if self.log.replicate(token) else []
            case Fired(key):
                if key[0] == OLD:
                    return self._at_zombie(event)
                return self._load() if event == LOADED else None
            case Arrived(number):
                return self._arrived(event) if number == OUTSIDE else self._asked(event)
        raise AssertionError(event)  # no append fails here

    def _arrived(self, event: Arrived) -> list[Effect] | None:
        """Keep what comes from outside until there is a coordinator."""
        if self.stage is not Stage.SERVES:
            self.outside.append(event)
            return []
        return None

    def _at_zombie(self, event: Arrived | Fired) -> list[Effect]:
        """Let the old coordinator do what it can; what it cannot its member asks the new one."""
        assert self.zombie is not None
        network = self.network
        effects = self.zombie.play(network.queue.now, event)
        for each in effects:
            waiting = network.in_flight.get(each.number) if isinstance(each, Reply) else None
            if isinstance(each, Reply) and waiting is not None:
                self.at_zombie.discard(each.number)
                if isinstance(each.response, NotCoordinator):
                    self._look_up(waiting[0], network.returns(waiting[0], network.queue.now))
                elif isinstance(each.response, JoinGroupResponse):
                    self.unwritten.add(waiting[0])
        return effects

    def _asked(self, event: Arrived) -> list[Effect] | None:
        number, request = event
        if self.zombie is not None and number in self.at_zombie:
            return self._at_zombie(event)
        if number <= self.lost_before:
            return []
        if self.stage is Stage.SERVES:
            return None
        if isinstance(request, Heartbeat):
            return [Reply(number, HeartbeatResponse(ErrorCode.NONE))]
        return [Reply(number, NotCoordinator(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS))]

    def hear(self, member: int, response: Response) -> None:
        """Note that a member has got an answer, of the coordinator or of one that is none."""
        if self.stage is Stage.SERVES and member not in self.stale:
            self.recoveries.hear(self.network.queue.now, member, response)
