"""Run a timed scenario: deliver messages, run timers, keep the ledger, and count.

The steps of coordinator and members say what they want done; here it is done. A request takes its
way over the network, waits for its turn at the coordinator, and the answer comes back the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from assignors.model import Cluster
from assignors.ownership.changes import Change
from assignors.simulation.timed.costs.meter import Meter, Rebalance, result_of
from assignors.simulation.timed.faults.events import FaultEvent, fault_events
from assignors.simulation.timed.faults.live import USUAL, LiveFaults
from assignors.simulation.timed.faults.transactions import transaction
from assignors.simulation.timed.faults.zombies import Zombie
from assignors.simulation.timed.heartbeats import HEARTBEAT, Heartbeats
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.seen import Observer, Seen
from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.monitors.violation import Violation, described
from assignors.simulation.timed.monitors.watch import (
    saw_member,
    watch_over,
)
from assignors.simulation.timed.network import Network
from assignors.simulation.timed.processing.offsets_sides import sides_with_offsets
from assignors.simulation.timed.protocols.classic.messages import JoinGroup
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    AssignorFailed,
    Cancel,
    Command,
    Consume,
    Disconnect,
    GiveUp,
    MemberEvent,
    Record,
    Schedule,
    Send,
)
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.running import coordinator, execution
from assignors.simulation.timed.running.acts import act, rest_for_long
from assignors.simulation.timed.running.arrivals import with_arrivals
from assignors.simulation.timed.running.garbage import cut_cycles, rare_collections
from assignors.simulation.timed.running.machine import Handled, Machine
from assignors.simulation.timed.running.play import play
from assignors.simulation.timed.running.run import Event, Happening, LongRest, Run
from assignors.simulation.timed.running.settling import judge_end
from assignors.simulation.timed.scenario import Action, FaultKind, Scenario
from assignors.simulation.timed.threads.sides import sides_with_threads

START, STOP, CRASH = Command.START, Command.STOP, Command.CRASH
PLANNED = frozenset({Action, FaultEvent, Cluster, LongRest})
"""What is neither a message nor a timer of one side."""
HEARTBEAT_RANK = Rank.HEARTBEAT
RESTART = ("restart",)
"""The timer after which a process that ended by itself starts again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a run led to. Times are microseconds since it began."""

    result: TimedResult
    rebalances: list[Rebalance]
    violations: list[Violation]
    """The first that the monitors found."""
    changes: list[Change]
    """Every change of what a member really consumes, if they are kept."""
    records: list[tuple[int, Record]]
    """When each record was written to the offsets topic, and the record, if they are kept."""
    zombies: list[Zombie]
    """Members that consumed after the coordinator had removed them."""


@rare_collections()
def simulate(
    scenario: Scenario,
    *,
    keeps_history: bool = False,
    monitoring: Monitoring = Monitoring.BASIC,
    observe: Observer | None = None,
    queues_heartbeats: bool = False,
) -> Played:
    """Run a scenario; keep every change of consumption and every record if asked for.

    `observe` is called after each event of a member or the coordinator. Heartbeats of idle members
    are computed; with `queues_heartbeats` each one is an event. The run is the same, but for the
    number of events.

    Raises `ValueError` for an unknown assignor. Cost: O(events log events), plus the assignors;
    memory: that of the group, plus what is kept.
    """
    scenario = with_arrivals(scenario)

    until = scenario.until_ms * MILLISECOND
    run = _prepared(scenario, monitoring, observe, keeps_history=keeps_history)
    if not queues_heartbeats:
        _compute_heartbeats(run)
    stopped_by = play(run, _handle, until)
    end = until if stopped_by is None else run.queue.now
    result, watch = _result(run, end), run.watch
    rebalances, zombies = list(run.meter.rebalances), run.faults.zombies.close(end)
    if watch is not None and stopped_by is None:
        judge_end(run, watch, _handle)
    found = [] if watch is None else watch.kept
    played = Played(
        result=replace(
            result,
            stopped_by=stopped_by,
            violations=0 if watch is None else watch.count,
            first_violation=described(found[0], scenario.seed) if found else None,
        ),
        rebalances=rebalances,
        violations=found,
        changes=run.ledger.changes,
        records=run.records,
        zombies=zombies,
    )
    cut_cycles(run)
    return played


def _prepared(
    scenario: Scenario, monitoring: Monitoring, observe: Observer | None, *, keeps_history: bool
) -> Run:
    ledger = Ledger(count_from=scenario.count_from_ms * MILLISECOND, keeps_changes=keeps_history)
    for topic, count in scenario.topics.items():
        ledger.grow(0, topic, count)
    queue: EventQueue[Event] = EventQueue()
    sides, processing = sides_with_offsets(scenario, lambda: queue.now)
    sides = sides_with_threads(scenario, sides, processing, lambda: queue.now)
    run = Run(
        scenario=scenario,
        queue=queue,
        processing=processing,
        sides=sides,
        ledger=ledger,
        meter=Meter.of(ledger, scenario.members),
        watch=watch_over(sides, ledger, [each.name for each in scenario.members], monitoring),
        observe=observe,
        network=Network.of(scenario, queue),
        numbers={each.name: number for number, each in enumerate(scenario.members)},
        topics=dict(scenario.topics),
        cluster=Cluster.of(scenario.topics),
    )
    run.faults = LiveFaults.of(
        scenario, sides, run.network, run.meter, step=partial(_step_member, run)
    )
    if run.watch is not None:
        run.watch.removed = run.faults.zombies.removed
    if run.watch is not None and run.faults.failovers is not None:
        run.watch.unwritten = run.faults.failovers.unwritten
    for number, config in enumerate(scenario.members):
        if config.starts_at_ms is not None:
            run.queue.put(config.starts_at_ms * MILLISECOND, (number, Command.START))
    if scenario.has_rested and scenario.count_from_ms:
        run.queue.put(scenario.count_from_ms * MILLISECOND, (COORDINATOR, LongRest()))
    for action in scenario.plan:
        run.queue.put(action.at_ms * MILLISECOND, (COORDINATOR, action))
    for at, fault in fault_events(scenario.faults):
        run.queue.put(at, (COORDINATOR, fault))
    if scenario.network.handling_us:
        handling_us = scenario.network.handling_us
        run.machine = Machine(handling_us=handling_us, put=run.queue.put, due=run.due)
    run.execution = execution.executed(run)
    return run


def _compute_heartbeats(run: Run) -> None:
    """Compute heartbeats of idle members, unless each one waits for its turn somewhere."""
    if run.execution is None and run.machine is None:
        run.heartbeats = run.faults.heartbeats = Heartbeats.of(
            run.sides, run.network, run.queue, run.scenario.broker
        )


def _handle(run: Run, event: Event) -> None:
    """Let an event happen: most are messages and timers."""
    target, what = event
    kind = type(what)
    if kind in PLANNED:
        _do_planned(run, target, what)
    elif target == COORDINATOR:
        _reach_coordinator(run, what)
    elif run.machine is not None:
        _reach_machine(run, run.machine, target, what)
    elif kind in USUAL and not run.faults.frozen and run.faults.failovers is None:
        _step_member(run, target, what)  # type: ignore[arg-type]  # by its type
    else:
        run.faults.reach(target, what)  # type: ignore[arg-type]  # by whom it is for


def _reach_machine(run: Run, machine: Machine, target: int, what: Any) -> None:  # noqa: ANN401 - as below
    """Let an event at a member happen, or wait until their machine has handled it."""
    if isinstance(what, Handled):
        event = machine.take(target, what)
        if event is not None:
            run.faults.reach(target, event)
        machine.start_next(run.queue.now)
    elif not machine.turn(run.queue.now, target, run.sides.members[target], what):
        run.faults.reach(target, what)


def _do_planned(run: Run, target: int, what: Happening) -> None:
    """Do what the plan says, let a fault begin or end, or show a member new topics."""
    if isinstance(what, Action):
        act(run, what)
    elif isinstance(what, LongRest):
        rest_for_long(run)
    elif isinstance(what, FaultEvent) and what.fault.kind is FaultKind.HANGING_TRANSACTION:
        _reach_coordinator(run, transaction(what, run.scenario, run.topics))
    elif isinstance(what, FaultEvent):
        run.faults.change(what)
    elif isinstance(what, Cluster):
        run.faults.reach(target, what)


def _reach_coordinator(run: Run, what: Any) -> None:  # noqa: ANN401 - what the queue has for it
    if run.execution is not None:
        execution.handle(run, run.execution, what)
    else:
        coordinator.handle(run, what)


def _step_member(run: Run, number: int, event: MemberEvent) -> None:
    if event is START and not _starts_process(run, number):
        return
    heartbeats, queue = run.heartbeats, run.queue
    if heartbeats is not None and number in heartbeats.resting:
        heartbeats.wake(number)
    effects = run.sides.step_member(number, event)
    for effect in effects:
        if type(effect) is Cancel:  # what steps ask for most often
            queue.stop(key := (number, effect.key))
            run.due.discard(key)
        else:
            DO[type(effect)](run, number, event, effect)
    if heartbeats is not None:
        heartbeats.rest(number)
    if run.watch is not None:
        saw_member(run.watch, (run.queue.count, run.queue.now), number, event, effects)
    if run.observe is not None:
        name = run.scenario.members[number].name
        run.observe(Seen(run.queue.count, run.queue.now, name, event, effects))


def _starts_process(run: Run, number: int) -> bool:
    """Prepare the start of a member's process, unless it runs; return whether it starts."""
    if run.sides.members[number].is_up:
        return False
    run.queue.stop((number, RESTART))
    run.network.start(number)
    run.sides.show_topics(number, run.cluster)
    return True


def _schedule(run: Run, number: int, _event: MemberEvent, effect: Schedule) -> None:
    """Start a timer of a member; what has run out and waits for their machine is due no longer."""
    key = effect.key
    if run.machine is not None:
        run.due.discard((number, key))
        if run.machine.goes_on(number, run.sides.members[number], effect):
            run.queue.stop((number, key))
            return
    run.start_timer(number, effect, HEARTBEAT_RANK if key == HEARTBEAT.key else None, number)


def _send(run: Run, number: int, _event: MemberEvent, effect: Send) -> None:
    """Send a request to the coordinator; it may get lost on its way."""
    now = run.queue.now
    if type(effect.request) is JoinGroup:
        name = run.scenario.members[number].name
        if run.ledger.consumed.get(name):
            run.meter.touch(now, run.sides, number)
    sent = run.network.send(now, number, effect)
    if sent is not None:
        arrives, rank, arrived = sent
        run.queue.put(arrives, (COORDINATOR, arrived), rank, number)


def _consume(run: Run, number: int, event: MemberEvent, effect: Consume) -> None:
    """Let a member consume other partitions, and count what that means for it."""
    now, name = run.queue.now, run.scenario.members[number].name
    has_lost = run.ledger.consume(now, name, effect.owned, effect.reason)
    if event is STOP or event is CRASH:
        run.meter.pauses.end_process(name)
    else:
        run.meter.pauses.consume(name, effect.owned, has_lost=has_lost)
        if has_lost:
            run.meter.touch(now, run.sides, number)
    if not effect.owned:
        run.faults.zombies.end(now, name)


def _give_up(run: Run, number: int, _event: MemberEvent, effect: GiveUp) -> None:
    """Count a process that has ended by itself; start it again later, if something does that."""
    run.meter.errors.update((effect.error,))
    after_ms = run.scenario.members[number].restarts_after_ms
    if after_ms is not None:
        at = run.queue.now + after_ms * MILLISECOND
        run.queue.start((number, RESTART), at, (number, START))


def _disconnect(run: Run, number: int, _event: MemberEvent, _effect: Disconnect) -> None:
    """Close the connection of a member; every request without an answer fails."""
    run.faults.disconnect(number)


DO: dict[type, Callable[[Run, int, MemberEvent, Any], None]] = {
    Send: _send,
    Schedule: _schedule,
    Consume: _consume,
    Disconnect: _disconnect,
    AssignorFailed: lambda run, number, _event, effect: run.assignor_failed(number, effect.text),
    GiveUp: _give_up,
}
"""What a member may ask for beside `Cancel`, by type: the run, its number, what led to it, what."""


def _result(run: Run, at: int) -> TimedResult:
    scenario = run.scenario
    if run.heartbeats is not None:
        run.heartbeats.close(at)
    figures = {} if run.processing is None else run.processing.figures(at, run.topics)
    if run.faults.failovers is not None:
        figures |= run.faults.failovers.recoveries.figures()
    if run.execution is not None:
        figures.update(run.execution.figures.columns())
    result = result_of(run.meter, scenario, run.sides, at)
    return replace(
        result,
        requests=dict(sorted(run.network.requests.items())),
        events=run.queue.count,
        violations=0,
        **figures,
    )
