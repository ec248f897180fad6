"""A run: what goes on, and what it has led to so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.model import Cluster
from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.execution import port
from assignors.simulation.timed.faults.events import FaultEvent
from assignors.simulation.timed.faults.live import ForMember, LiveFaults
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.seen import Observer
from assignors.simulation.timed.monitors.watch import Watch, report
from assignors.simulation.timed.network import Network
from assignors.simulation.timed.processing.offsets_sides import Processing
from assignors.simulation.timed.protocols.effects import (
    Arrived,
    Committed,
    Fired,
    Record,
    Schedule,
    TimerKey,
)
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.running.execution_state import Execution
from assignors.simulation.timed.running.machine import Handled, Machine
from assignors.simulation.timed.running.other_groups import OtherAsks
from assignors.simulation.timed.scenario import Action, Scenario
from assignors.simulation.timed.sides import Sides


class LongRest:
    """The moment at which a group has been at rest for long (`Scenario.has_rested`)."""


Planned = Action | FaultEvent | LongRest
Happening = ForMember | Handled | Arrived | Committed | Planned | OtherAsks | port.Event
Event = tuple[int, Happening]
"""Whom it is for, and what happens."""


@dataclass(slots=True, kw_only=True)
class Run:
    """A run: what goes on, and what it has led to so far."""

    scenario: Scenario
    sides: Sides
    ledger: Ledger
    network: Network
    numbers: dict[str, int]
    """Member name -> its number."""
    queue: EventQueue[Event]
    processing: Processing | None
    topics: dict[str, int]
    cluster: Cluster
    """These topics, as a member that starts learns of them."""
    meter: Meter
    watch: Watch | None
    observe: Observer | None
    faults: LiveFaults = field(init=False)
    machine: Machine | None = None
    """What all members share; `None`: each has a machine of its own."""
    due: set[tuple[int, TimerKey]] = field(default_factory=set)
    """Members and the timers that have run out and wait for their machine, which shares this."""
    execution: Execution | None = None
    """What executes the coordinator by a model; `None`: it handles one request after the other."""
    heartbeats: Heartbeats | None = None
    """Computes those that change nothing; `None`: every one is queued."""
    records: list[tuple[int, Record]] = field(default_factory=list)
    fired: dict[tuple[int, TimerKey], Event] = field(default_factory=dict)
    """What each timer without data is when it has run out: most are started again and again."""

    def assignor_failed(self, number: int, text: str) -> None:
        """Report that the assignor of a member that leads has failed, and how."""
        if self.watch is not None:
            self.watch.at = (self.queue.count, self.queue.now)
            name = self.scenario.members[number].name
            report(self.watch, [("assignor-failed", f"{name} leads, and {text}")])

    def start_timer(
        self, number: int, effect: Schedule, rank: Rank | None, whose: int | str
    ) -> None:
        """Start a timer of a member, or of the coordinator. Cost: O(log n)."""
        name, after_us, data = effect
        key = (number, name)
        event = None if data else self.fired.get(key)
        if event is None:
            event = (number, Fired(name, data))
            if not data:
                self.fired[key] = event
        self.queue.start(key, self.queue.now + after_us, event, rank, whose)
