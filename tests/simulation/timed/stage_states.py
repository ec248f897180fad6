"""What a run has come to at a moment, by stage and by events: once all are awake it is the same."""

from __future__ import annotations

from typing import Any

from hypothesis import currently_in_test_context, event
from hypothesis import strategies as st

from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.running.play import play
from assignors.simulation.timed.running.run import Run
from assignors.simulation.timed.running.together import compute_rounds
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.simulation import _handle, _prepared, simulate
from tests.simulation.timed.started_runs import begin_moment

SOON_US = st.sampled_from([0, 1, 500, 3000, 20_000])


def require_same_states(scenario: Scenario, at_rebalance: int = 0, after_us: int = 0) -> None:
    """Compare both engines at the end of a run, and so long after one of its rebalances."""
    found = [int(each.ended) for each in simulate(scenario).rebalances] or [0]
    end = scenario.until_ms * MILLISECOND
    for until in {min(found[at_rebalance % len(found)] + after_us, end), end}:
        assert states(scenario, until, computes=True) == states(scenario, until, computes=False)


def ended(
    scenario: Scenario, until: int, *, computes: bool, count_from_us: int | None = None
) -> Run:
    """Return a run that ends then, in microseconds."""
    run = _prepared(scenario, Monitoring.BASIC, None, keeps_history=False)
    if count_from_us is not None:
        run.ledger.count_from = count_from_us
    run.heartbeats = Heartbeats.of(
        run.sides, run.network, run.queue, scenario.broker, promotes=False
    )
    assert run.heartbeats is not None
    run.faults.heartbeats = run.heartbeats
    if computes:
        compute_rounds(run, _handle)
    play(run, _handle, until)
    begin_moment(run, until + 1)
    return run


def states(scenario: Scenario, until: int, *, computes: bool) -> object:
    """Return what both sides and all books know at a moment, once everybody is awake."""
    run = ended(scenario, until, computes=computes)
    heartbeats = run.heartbeats
    assert heartbeats is not None
    if currently_in_test_context():
        event(f"of 100 events by stage: {min(run.queue.count, 999) // 100}")
    for number in list(heartbeats.resting):
        heartbeats.wake(number)
    coordinator: Any = run.sides.coordinator
    members: Any = run.sides.members
    draws = [(each.draw.polls.state, each.draw.syncs.state) for each in members]
    for each in members:
        each.draw = each.assignors = None
        each.number = each.awaited = each.reconnected_at = 0
        each.out = []
    coordinator.new_id, coordinator.out = None, []
    assert run.watch is not None
    # What has arrived makes nothing wait: a member at rest need not know when its answers came.
    links = [(max(x.arrives, until), max(x.returns, until), x.life) for x in run.network.links]
    watched = run.watch.does, run.watch.generations, run.watch.committed_by, run.watch.committing
    ledger, meter, network = run.ledger, run.meter, run.network
    ledger.look_at_all()
    for partitions in ledger.partitions.values():
        for each in partitions:
            each.double_since = 0
            each.since *= not each.consumers  # it counts as long as there is none
    ledger.consumed = {name: owned for name, owned in ledger.consumed.items() if owned}
    metered = (
        *(meter.generations, meter.rebalances, meter.began, meter.ended),
        *(meter.touched, meter.touched_in, meter.rest),
    )
    asked = dict(network.requests), network.busy_until
    # How many requests there were before one is the run's own business.
    names = [(key, "request" if "request" in str(key) else str(key)) for key in run.queue._timers]
    dues = [(name, run.queue.due(key)) for key, name in names]
    timers = sorted(each for each in dues if each[1] is not None and "stage" not in each[0])
    for each in coordinator.group.members.values():
        each.waiting_join = each.waiting_join is not None
        each.waiting_sync = each.waiting_sync is not None
    return members, draws, coordinator.group, links, watched, ledger, metered, asked, timers
