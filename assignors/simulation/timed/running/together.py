"""Members that go through rounds together in a run (`stages`), and what ends that for them."""

from __future__ import annotations

from collections.abc import Callable

from assignors.model import Cluster
from assignors.simulation.timed.faults.events import FaultEvent
from assignors.simulation.timed.protocols.classic.coordinator_state import ClassicCoordinator
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.running.run import Event, Run
from assignors.simulation.timed.scenario import Action
from assignors.simulation.timed.stages import rounds
from assignors.simulation.timed.stages.plain import has_plain_rounds, plain_members
from assignors.simulation.timed.stages.stage import StageDue


def compute_rounds(run: Run, handle: Callable[[Run, Event], None]) -> None:
    """Let plain members of a run that begins go through rounds together. Cost: O(members)."""
    coordinator = run.sides.coordinator
    if (
        run.heartbeats is not None
        and len(run.scenario.members) >= rounds.LEAST
        and run.processing is None
        and run.faults.failovers is None
        and isinstance(coordinator, ClassicCoordinator)
        and has_plain_rounds(run.scenario)
    ):
        members = [each for each in run.sides.members if isinstance(each, ClassicMember)]
        run.heartbeats.rounds = rounds.ComputedRounds(
            coordinator=coordinator,
            members=members,
            heartbeats=run.heartbeats,
            meter=run.meter,
            watch=run.watch,
            plain=plain_members(members),
            handle=lambda event: handle(run, event),
        )


def go_on_by_events(run: Run, target: int, what: Action | FaultEvent | Cluster | StageDue) -> None:
    """Let members that go through a round together do so by events, if this concerns them."""
    together = None if run.heartbeats is None else run.heartbeats.rounds
    if together is None:
        return
    if isinstance(what, StageDue):
        together.due()
    elif isinstance(what, FaultEvent):
        together.release()
    elif isinstance(what, Cluster):
        together.touch(target)
    else:
        together.settle()
        if what.member is not None:
            together.touch(run.numbers[what.member])
