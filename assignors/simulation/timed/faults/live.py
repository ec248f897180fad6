"""The faults of a run as they go on: who is frozen, whose connection is bad, who is a zombie.

Whatever happens to a member passes through here: what comes to one that is frozen waits, and a
request whose time is over is turned into what the member notices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.model import Cluster
from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.faults.events import FaultEvent, disturb, member_event
from assignors.simulation.timed.faults.failovers import Failovers
from assignors.simulation.timed.faults.zombies import Zombies
from assignors.simulation.timed.heartbeats import HEARTBEAT, Heartbeats
from assignors.simulation.timed.network import Network, Silent, TimedOut
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Command,
    Failed,
    Failure,
    Fired,
    MemberEvent,
    NotCoordinator,
    Restrict,
)
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.scenario import FaultKind, Scenario
from assignors.simulation.timed.scenario.faults import OF_THE_COORDINATOR
from assignors.simulation.timed.sides import Sides

ForMember = MemberEvent | Cluster | TimedOut | Silent
"""What can happen to a member."""
USUAL = frozenset({Answered, Fired})
"""Most of it."""


@dataclass(slots=True, kw_only=True)
class LiveFaults:
    """The faults of a run."""

    names: list[str]
    sides: Sides
    network: Network
    meter: Meter
    step: Callable[[int, MemberEvent], None]
    """Lets a member do what it does about an event."""
    zombies: Zombies
    failovers: Failovers | None = None
    """`None`: the coordinator is always the same."""
    heartbeats: Heartbeats | None = None
    frozen: dict[int, list[ForMember]] = field(default_factory=dict)
    """Member that stands still -> what waits for it."""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        sides: Sides,
        network: Network,
        meter: Meter,
        *,
        step: Callable[[int, MemberEvent], None],
    ) -> LiveFaults:
        """Return the faults of a run that begins. Cost: O(members)."""
        return cls(
            names=[each.name for each in scenario.members],
            sides=sides,
            network=network,
            meter=meter,
            step=step,
            zombies=Zombies.of(scenario.members),
            failovers=Failovers.of(scenario, sides, network, meter),
        )

    def change(self, event: FaultEvent) -> None:
        """Let a fault begin or end. Cost: O(members)."""
        fault = event.fault
        numbers = {name: number for number, name in enumerate(self.names)}
        self.meter.compare(self.network.queue.now, self.sides, numbers)
        if event.begins:
            self.meter.acted = self.network.queue.now
        members = list(numbers.values()) if fault.member is None else [numbers[fault.member]]
        if self.heartbeats is not None:
            for number in members:
                self.heartbeats.wake(number)
        if fault.kind in OF_THE_COORDINATOR:
            assert self.failovers is not None
            self.failovers.change(event)
            return
        if fault.kind is FaultKind.APPEND_FAILURE:
            return  # whoever appends looks for it
        noticed = member_event(event)
        if noticed is not None:
            self.reach(members[0], noticed)
        elif fault.kind is not FaultKind.FREEZE:
            disturb(self.network, members, event)
        elif event.begins:
            self.frozen.update({each: [] for each in members if self.sides.members[each].is_up})
            self.sides.freeze(members[0], event.begins)
        else:
            self.sides.freeze(members[0], event.begins)
            self._thaw(members[0])

    def _thaw(self, number: int) -> None:
        """Let a process go on: its timers are due, unless what came meanwhile stops them."""
        held = self.frozen.pop(number, ())
        queue = self.network.queue
        for what in held:
            if isinstance(what, Fired):
                rank = Rank.HEARTBEAT if what == HEARTBEAT else None
                queue.start((number, what.key), queue.now, (number, what), rank, number)
        for what in held:
            if not isinstance(what, Fired):
                self.reach(number, what)

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

    def restrict(self, effect: Restrict) -> None:
        """Let a member consume no more than brokers let it. Cost: O(partitions that change)."""
        now = self.network.queue.now
        self.meter.ledger.consume(now, effect.member, effect.owned, effect.reason)
        if not effect.owned:
            self.zombies.end(now, effect.member)

    def note_removed(self) -> list[str]:
        """Keep who was removed, and declare the windows of those whose processes consume.

        Returns the ids of all that were removed. Cost: O(members removed).
        """
        removed = self.sides.removed()
        if self.failovers is not None:
            self.failovers.recoveries.look()
        for member_id in removed:
            for number in self.zombies.candidates(member_id):
                name = self.names[number]
                is_current = self.sides.members[number].member_id in {member_id, ""}
                if is_current:
                    self.zombies.removed[name] = member_id
                if is_current and self.meter.ledger.consumed.get(name):
                    self.zombies.since[name] = self.network.queue.now
        return removed
