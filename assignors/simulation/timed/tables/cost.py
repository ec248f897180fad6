"""How long a run takes, estimated from its scenario, and runs shared out by that.

A long run costs a thousand times what a short one does. If tasks got equal numbers of runs, one
that got the long ones would keep all others waiting.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from assignors.simulation.timed.scenario import GroupProtocol, Scenario

EVENTS_A_MEMBER = 10
"""Events of a member in a rebalance: requests, answers, timers, callbacks."""
EVENTS_A_RECONCILIATION = 3
"""Events of a member of a consumer group: a heartbeat, what it gets, its report."""
EVENTS_A_REQUEST = 4
"""Events of a request of an execution model: it comes, is handled, replicated, and answered."""
EVENTS_A_SHARED_BEAT = 5
"""Events of a heartbeat that waits for a machine: it is due, sent, arrives, and is answered."""


def cost_of(scenario: Scenario) -> int:
    """Return about how many events a run has.

    Every action is a rebalance of all members, every start one of half of them. Classic members
    that start one after the other go through one together. Heartbeats that change nothing cost
    none, but where a model executes the coordinator every request is an event or more, those of
    other groups too. Cost: O(members + actions).

    >>> from assignors.simulation.timed.gallery import named
    >>> cost_of(named("crash")) < cost_of(named("rolling-restart"))
    True
    """
    members = len(scenario.members)
    partitions = sum(scenario.topics.values())
    starts = 1 if scenario.protocols == {GroupProtocol.CLASSIC} else members // 2
    rebalances = len(scenario.plan) + starts
    standing = 1 + _executed(scenario) + _looks(scenario) + _waiting(scenario)
    reconciles = scenario.protocols == {GroupProtocol.CONSUMER}
    each = EVENTS_A_RECONCILIATION if reconciles else EVENTS_A_MEMBER
    return standing + rebalances * (each * members + partitions // 10)


def _looks(scenario: Scenario) -> int:
    """Return how often clients look for what is due that only do so from time to time."""
    until_ms = scenario.until_ms
    return sum(
        until_ms // every_ms + until_ms // 1000
        for each in scenario.members
        if (every_ms := each.times.wake_ms)
    )


def _waiting(scenario: Scenario) -> int:
    """Return about how many events heartbeats are that wait for a machine that all share."""
    if not scenario.network.handling_us:
        return 0
    beats = sum(scenario.until_ms // each.heartbeat_interval_ms for each in scenario.members)
    return EVENTS_A_SHARED_BEAT * beats


def _executed(scenario: Scenario) -> int:
    """Return about how many events an execution model makes of heartbeats and other groups."""
    execution = scenario.broker.execution
    if execution.model is None:
        return 0
    others, until_ms = execution.others, scenario.until_ms
    asking_ms = min(others.until_ms or until_ms, until_ms) - others.from_ms
    heartbeats = sum(until_ms // each.heartbeat_interval_ms for each in scenario.members)
    requests = heartbeats + others.per_second * max(asking_ms, 0) // 1000
    return EVENTS_A_REQUEST * requests


def shared_out(costs: Sequence[int], count: int, *, first: int = 0) -> list[int]:
    """Return for each cost which of `count` tasks takes it: the dearest first, to the least loaded.

    `first` is the task that is taken first where all have the same. No task gets more than the
    mean and one cost on top of it. Cost: O(N log N). Source: Graham, "Bounds on multiprocessing
    timing anomalies" (1969), longest processing time first.

    >>> shared_out([1, 9, 1, 7, 1], 2)
    [1, 0, 1, 1, 0]
    """
    order = sorted(range(len(costs)), key=lambda place: -costs[place])
    loads = [(0, (task - first) % count) for task in range(count)]
    heapq.heapify(loads)
    chosen = [0] * len(costs)
    for place in order:
        load, rank = loads[0]
        chosen[place] = (rank + first) % count
        heapq.heapreplace(loads, (load + costs[place], rank))
    return chosen
