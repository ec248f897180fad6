"""Members that go through rounds together in a run (`stages`), and what ends that for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from assignors.model import Cluster
from assignors.simulation.timed.faults.events import FaultEvent
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.protocols.classic.coordinator_state import ClassicCoordinator
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.records import EpochsByPartition
from assignors.simulation.timed.protocols.consumer.step import WaitingCoordinator
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Command,
    Consume,
)
from assignors.simulation.timed.running.coordinator import take_note
from assignors.simulation.timed.running.run import Event, Run
from assignors.simulation.timed.scenario import Action, GroupProtocol, Scenario, Verb
from assignors.simulation.timed.stages import rounds
from assignors.simulation.timed.stages.plain import (
    MEAN_US_MIN,
    has_plain_rounds,
    plain_members,
)
from assignors.simulation.timed.stages.reconciling.asking import Asking
from assignors.simulation.timed.stages.reconciling.members import ReconcilingMembers
from assignors.simulation.timed.stages.reconciling.steps import MemberSteps
from assignors.simulation.timed.stages.stage import StageDue
from assignors.simulation.timed.stages.starts import classic, consumer
from assignors.simulation.timed.stages.starts.start import NotTogether, Start
from wire import TopicPartitions

M = TypeVar("M")
C = TypeVar("C")
MEAN_US_LIMIT = 1 << 26
"""Longer delays are not drawn in arrays."""


def compute_heartbeats(run: Run, *, promotes: bool) -> None:
    """Compute heartbeats that change nothing, unless each one waits for its turn somewhere."""
    if run.execution is not None or run.machine is not None:
        return
    if run.faults.failovers is not None:
        promotes = False  # the next coordinator reads every move in the log
    run.heartbeats = Heartbeats.of(
        run.sides, run.network, run.queue, run.scenario.broker, promotes=promotes
    )
    run.faults.heartbeats = run.heartbeats


def compute_stages(run: Run, handle: Callable[[Run, Event], None]) -> None:
    """Let members of a run that begins do together, or with few events, what they can.

    `handle` lets an event happen. Cost: O(members).
    """
    compute_rounds(run, handle)
    _compute_reconciliations(run)


def _compute_reconciliations(run: Run) -> None:
    """Let members of a consumer group reconcile with few events each."""
    coordinator, heartbeats = run.sides.coordinator, run.heartbeats
    if (
        heartbeats is not None
        and heartbeats.promotes
        and isinstance(coordinator, WaitingCoordinator)
        and run.scenario.protocols == {GroupProtocol.CONSUMER}
        and run.scenario.network.mean_us >= MEAN_US_MIN
        and run.processing is None
        and not run.scenario.faults
        and _are_all_in_the_group(run.scenario)
    ):
        heartbeats.reconciling = members = ReconcilingMembers(
            asking=Asking(
                waiting=coordinator,
                heartbeats=heartbeats,
                meter=run.meter,
                take_note=lambda event, epoch: take_note(run, event, [], epoch),
            ),
            clients=[each for each in run.sides.members if isinstance(each, ConsumerClient)],
            heartbeats=heartbeats,
            watch=run.watch,
            steps=MemberSteps(
                heartbeats=heartbeats,
                watch=run.watch,
                consume=partial(_consume_then, run),
                end=partial(_end_then, run),
            ),
        )
        run.happen, run.ledger.look_closely = members.happen, members.look_closely


def _consume_then(run: Run, number: int, at: int, consume: Consume) -> None:
    """Let a member consume other partitions from a moment on that may be over."""
    name, owned = run.scenario.members[number].name, consume.owned
    has_lost = run.ledger.consume(at, name, owned, consume.reason)
    _count_then(run, number, at, owned, has_lost=has_lost)


def _end_then(
    run: Run, number: int, at: int, gone: EpochsByPartition, rest: TopicPartitions
) -> None:
    """Let a member consume some of its partitions no more from a moment on that may be over."""
    has_lost = run.ledger.end(at, run.scenario.members[number].name, gone, rest)
    _count_then(run, number, at, rest, has_lost=has_lost)


def _count_then(run: Run, number: int, at: int, owned: TopicPartitions, *, has_lost: bool) -> None:
    """Count what it means for a member that it consumes other partitions since then."""
    name = run.scenario.members[number].name
    run.meter.pauses.consume(name, owned, has_lost=has_lost)
    if has_lost:
        run.meter.touch_then(at, run.sides, number)
    if not owned:
        run.faults.zombies.end(at, name)


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
        and _are_all_in_the_group(run.scenario)
    ):
        members = [each for each in run.sides.members if isinstance(each, ClassicMember)]
        coordinator.keeps_records = run.ledger.keeps_changes
        run.heartbeats.rounds = rounds.ComputedRounds(
            coordinator=coordinator,
            members=members,
            heartbeats=run.heartbeats,
            meter=run.meter,
            watch=run.watch,
            plain=plain_members(members, keeps_changes=run.ledger.keeps_changes),
            handle=lambda event: handle(run, event),
        )


def start_together(run: Run) -> bool:
    """Let the members that start first come to rest together, where nothing else is on.

    Returns whether the run can go on: if not it has to be prepared anew, and played by events.
    Cost: O(members log members + partitions), plus the assignor's.
    """
    scenario, heartbeats = run.scenario, run.heartbeats
    times = [each.starts_at_ms for each in scenario.members if each.starts_at_ms is not None]
    if (
        not times
        or heartbeats is None
        or run.processing is not None
        or run.faults.failovers is not None
        or scenario.network.mean_us >= MEAN_US_LIMIT
        or scenario.has_kept_pauses
        or not _are_all_in_the_group(scenario)
    ):
        return True
    first_ms = min(times)
    if scenario.protocols == {GroupProtocol.CLASSIC}:
        numbers = classic.starting(scenario.members, scenario.broker)
    else:
        numbers = [n for n, each in enumerate(scenario.members) if each.starts_at_ms == first_ms]
    start = _start_of(run, heartbeats, first_ms * MILLISECOND, numbers)
    if start is None:
        return True
    starting, until = set(numbers), scenario.until_ms * MILLISECOND
    run.queue.drop(lambda event: event[1] is Command.START and event[0] in starting)
    next_at = run.queue.next_at
    try:
        run.queue.skip_to(start(until if next_at is None else min(next_at, until)))
    except NotTogether:
        return False
    return True


def _are_all_in_the_group(scenario: Scenario) -> bool:
    """Return whether nobody takes partitions by itself: members have the scenario's numbers."""
    return not any(each.assign for each in scenario.members)


def _start_of(
    run: Run, heartbeats: Heartbeats, at: int, numbers: list[int]
) -> Callable[[int], int] | None:
    """Return what starts these members together, `None` where they are not plain.

    It takes the time by which all must be over, and returns when it is; microseconds.
    """
    coordinator, members, broker = run.sides.coordinator, run.sides.members, run.scenario.broker
    protocols, configs = run.scenario.protocols, [run.scenario.members[each] for each in numbers]

    def begun(listed: list[M], state: C, before: int) -> Start[M, C]:
        return Start(
            numbers=numbers,
            members=listed,
            coordinator=state,
            heartbeats=heartbeats,
            meter=run.meter,
            watch=run.watch,
            at=at,
            before=before,
        )

    if (
        isinstance(coordinator, WaitingCoordinator)
        and protocols == {GroupProtocol.CONSUMER}
        and consumer.are_plain(configs, broker)
    ):
        consumers = [each for each in members if isinstance(each, ConsumerClient)]
        inner = coordinator.coordinator
        return lambda before: consumer.start(begun(consumers, inner, before))
    if (
        isinstance(coordinator, ClassicCoordinator)
        and protocols == {GroupProtocol.CLASSIC}
        and classic.are_plain(configs, broker)
    ):
        group, listed = coordinator, [each for each in members if isinstance(each, ClassicMember)]
        return lambda before: classic.start(begun(listed, group, before))
    return None


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
    elif what.do is Verb.DELETE:
        # Who has joined so far is counted as a consumer of the topic, and who joins later is not.
        together.release()
    else:
        if not run.sides.is_rebalancing():
            together.settle()  # then the meter looks at what everybody consumes
        if what.member is not None:
            together.touch(run.numbers[what.member])
