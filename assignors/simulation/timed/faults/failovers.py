"""Failovers: the group's coordinator is lost, another broker loads its log and goes on.

What only the coordinator before knew is gone: who waits for an answer, timers, records that were
not replicated. Members lose their connections, or hear NOT_COORDINATOR; each looks for the new
coordinator (`lookups`), and what it sends meanwhile waits. While the new one loads, it answers that
it does so, and members ask again; only heartbeats of classic members get an answer that says
nothing, as Kafka's do. A coordinator that does not know of its loss answers members that do not
either (`old_coordinator`).

Source: `GroupCoordinatorService.onElection`, `onResignation`, `heartbeat` of Kafka 4.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.faults.coordinator_log import CoordinatorLog
from assignors.simulation.timed.faults.events import FaultEvent
from assignors.simulation.timed.faults.lookups import find
from assignors.simulation.timed.faults.old_coordinator import OLD, OldCoordinator
from assignors.simulation.timed.faults.recovery import Recoveries
from assignors.simulation.timed.network import Network
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    OUTSIDE,
    Arrived,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    NotCoordinator,
    Reply,
    Response,
)
from assignors.simulation.timed.protocols.kafka.coordinator import load
from assignors.simulation.timed.protocols.kafka.messages import (
    EndTransaction,
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    JoinGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.restore import restored
from assignors.simulation.timed.scenario import Fault, FaultKind, Scenario
from assignors.simulation.timed.scenario.faults import OF_THE_COORDINATOR
from assignors.simulation.timed.sides import Sides

LOADED = Fired(("loaded",), 0)
"""The event at which the new coordinator has read the log."""


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
    """That because of which the stage is another one."""
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
    outside: list[Arrived] = field(default_factory=list)
    """What nobody in the group has sent, and waits for a coordinator."""

    @classmethod
    def of(
        cls, scenario: Scenario, sides: Sides, network: Network, meter: Meter
    ) -> Failovers | None:
        """Return the failovers of a run that begins, `None` for one without any."""
        if not any(each.kind in OF_THE_COORDINATOR for each in scenario.faults):
            return None
        found = cls(
            scenario=scenario,
            sides=sides,
            network=network,
            recoveries=Recoveries.of(scenario, sides, meter),
            leader=scenario.broker.placement.leader,
        )
        network.detour, network.may_rest = found.detour, found.recoveries.may_rest
        return found

    def change(self, event: FaultEvent) -> None:
        """Let a broker's fault begin or end. Cost: O(members + requests on their way)."""
        fault, begins = event
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
        found = find(self.network, member, from_us, self.elected_us)
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
        if isinstance(event.request, EndTransaction):
            self.log.mark(event.request)
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
