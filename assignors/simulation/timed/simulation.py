"""Run a timed scenario: deliver messages, run timers, keep the ledger, and count.

The steps of coordinator and members say what they want done; here it is done. A request takes its
way over the network, waits for its turn at the coordinator, and the answer comes back the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from assignors.model import Cluster
from assignors.ownership.changes import Change
from assignors.simulation.timed.costs.meter import Meter, Rebalance, result_of
from assignors.simulation.timed.engine import cut_cycles, play, rare_collections, step_member
from assignors.simulation.timed.faults.live import (
    FaultEvent,
    LiveFaults,
    Zombie,
    fault_events,
)
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.host import executed, handle
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.liveness import (
    Ending,
    is_settled,
    quiet_us,
    without_what_follows,
)
from assignors.simulation.timed.monitors.rules import Monitoring, Observer, Violation, described
from assignors.simulation.timed.monitors.table import end_found
from assignors.simulation.timed.monitors.watch import Watch, report, saw_end, watch_over
from assignors.simulation.timed.network import Network
from assignors.simulation.timed.plan import with_arrivals, with_commits
from assignors.simulation.timed.processing import processing_of
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    Command,
    Record,
)
from assignors.simulation.timed.queue import EventQueue
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.run import Event, LongRest, Run
from assignors.simulation.timed.scenario import Action, Scenario
from assignors.simulation.timed.shared_machine import Machine
from assignors.simulation.timed.sides import sides_of
from assignors.simulation.timed.threads.client import threads_of


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
    scenario = with_commits(with_arrivals(scenario))
    until = scenario.until_ms * MILLISECOND
    run = prepared(scenario, monitoring, observe, keeps_history=keeps_history)
    if not queues_heartbeats:
        compute_heartbeats(run)
    stopped_by = play(run, until)
    end = until if stopped_by is None else run.queue.now
    result, watch = _result(run, end), run.watch
    rebalances, zombies = list(run.meter.rebalances), run.faults.zombies.close(end)
    if watch is not None and stopped_by is None:
        judge_end(run, watch)
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


def prepared(
    scenario: Scenario, monitoring: Monitoring, observe: Observer | None, *, keeps_history: bool
) -> Run:
    """Return a run of which nothing has happened yet."""
    ledger = Ledger(count_from=scenario.count_from_ms * MILLISECOND, keeps_changes=keeps_history)
    for topic, count in scenario.topics.items():
        ledger.grow(0, topic, count)
    queue: EventQueue[Event] = EventQueue()
    sides = sides_of(scenario)
    processing = processing_of(scenario, sides)
    run = Run(
        scenario=scenario,
        queue=queue,
        processing=processing,
        sides=sides,
        threads=threads_of(scenario, sides, processing),
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
        scenario,
        sides,
        run.network,
        run.meter,
        processing,
        step=partial(step_member, run),
        reach_coordinator=partial(handle, run),
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
    run.execution = executed(run)
    return run


def compute_heartbeats(run: Run) -> None:
    """Compute heartbeats of idle members, unless each one waits for its turn somewhere."""
    is_idle = run.sides.has_idle_heartbeats and not run.threads
    if is_idle and run.execution is None and run.machine is None:
        run.heartbeats = run.faults.heartbeats = Heartbeats(
            step_member=run.step_member,
            sides=run.sides,
            network=run.network,
            queue=run.queue,
            broker=run.scenario.broker,
        )


# What becomes of a group after the end of its run

SECOND = 1000 * MILLISECOND
"""How often it is looked whether the group has settled."""


def judge_end(run: Run, watch: Watch) -> None:
    """Judge a run at its end, and what becomes of its group where nothing else happens to it.

    The results of the run have to be taken before.
    """
    over_ms = run.scenario.until_ms
    watch.at = (run.queue.count, over_ms * MILLISECOND)
    saw_end(watch)
    run.scenario = without_what_follows(run.scenario)
    run.queue.drop(lambda event: _is_planned(event, over_ms))
    run.watch = run.observe = None
    run.ledger.keeps_changes = False
    watch.at, found = settled(run)
    report(watch, found)


def _is_planned(event: Event, over_ms: int) -> bool:
    """Return whether an event does not follow from what has happened by then."""
    what = event[1]
    if isinstance(what, FaultEvent):
        return what.fault.from_ms > over_ms
    return isinstance(what, Action) or what is Command.START


def settled(run: Run) -> tuple[tuple[int, int], list[tuple[str, str]]]:
    """Play a run to its end and on until the group has settled, or has had the time for it.

    Returns when that was, as the number of an event and a time, and what liveness monitors find.
    """
    quiet_from = run.scenario.until_ms * MILLISECOND
    bound = play(run, quiet_from)
    rounds, waiting = run.sides.generation(), set(run.network.in_flight)
    until, longest = quiet_from, quiet_from + quiet_us(run.scenario)
    while until < longest and bound is None:
        waiting &= run.network.in_flight.keys()
        # Whoever has joined may still wait for a target, the others being at rest.
        is_quiet = not waiting and not run.sides.is_rebalancing() and until >= run.topics_known_us
        if is_quiet and is_settled(run.sides, run.ledger):
            break
        until += SECOND
        bound = play(run, until)
    if bound is not None:
        return (run.queue.count, until), []  # nobody knows what would become of it
    rounds = run.sides.generation() - rounds
    unanswered = still_awaited(run, waiting & run.network.in_flight.keys())
    end = Ending(run.scenario, run.sides, run.ledger, rounds, unanswered)
    return (run.queue.count, until), list(end_found(end))


def still_awaited(run: Run, requests: set[int]) -> set[int]:
    """Return those of the requests whose process and connection still are what they were."""
    network = run.network
    awaited = set()
    for number in requests:
        member, _, life, *_ = network.in_flight[number]
        if run.sides.members[member].is_up and network.links[member].life == life:
            awaited.add(number)
    return awaited


def _delayed(run: Run) -> int:
    """Return how many records were written while nobody consumed their partition."""
    return sum(
        run.scenario.processing.rates(topic)[0] * lasted // (1000 * MILLISECOND)
        for topic, lasted in run.ledger.unavailable_of.items()
    )


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
        events_hash=run.events_hash.text(),
        delayed_records=_delayed(run),
        violations=0,
        **figures,
    )
