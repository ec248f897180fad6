"""Make a scenario small that violates a monitor, so that a reader sees what matters.

Greedy delta debugging: leave something out, run again, and keep what still violates the same
monitor. Left out are, in turns until nothing more can be, members with all that happens to them,
actions of the plan, faults, topics, partitions, random delays, and the time after the violation.
The same scenario always gives the same result.

Source: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from json import dumps, loads
from typing import Any

from assignors.documents.values import DocumentError
from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.monitors.violation import Violation
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import NetworkConfig, Scenario
from assignors.simulation.timed.scenario_document import (
    document_from_scenario,
    own_assignors_of,
    scenario_from_document,
)
from assignors.simulation.timed.simulation import simulate

RUNS_MAX = 500
"""A scenario is run so often at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A small scenario, and how it violates the monitor."""

    scenario: Scenario
    violation: Violation
    runs: int
    """How many runs it took."""


def shrunk(scenario: Scenario, *, runs_max: int = RUNS_MAX) -> Shrunk | None:
    """Return a smaller scenario that violates what this one violates first, `None` without any.

    Raises what `simulate` raises. Cost: that of `runs_max` runs of the scenario at most.
    """
    played = simulate(scenario, monitoring=Monitoring.FULL)
    if not played.violations:
        return None
    violation = played.violations[0]
    limit = 2 * played.result.events + 1000
    best = Shrunk(scenario=scenario, violation=violation, runs=1)
    is_done = False
    while not is_done and best.runs < runs_max:
        is_done = True
        for smaller in _smaller(best):
            if best.runs >= runs_max:
                break
            found = _violation(replace(smaller, event_limit=limit), violation.monitor)
            best = replace(best, runs=best.runs + 1)
            if found is not None:
                best = Shrunk(scenario=smaller, violation=found, runs=best.runs)
                is_done = False
                break
    return best


def _violation(scenario: Scenario, monitor: str) -> Violation | None:
    """Return how a scenario violates a monitor, `None` if it does not or cannot be played."""
    try:
        document = loads(dumps(document_from_scenario(scenario)))
        scenario_from_document(document, own_assignors=own_assignors_of(scenario))
    except DocumentError:
        return None
    played = simulate(scenario, monitoring=Monitoring.FULL)
    return next((each for each in played.violations if each.monitor == monitor), None)


def _smaller(best: Shrunk) -> Iterator[Scenario]:
    """Yield scenarios with less in them, those with much less first."""
    scenario = best.scenario
    until_ms = best.violation.at_us // MILLISECOND + 1
    if until_ms < scenario.until_ms:
        counted = min(scenario.count_from_ms, until_ms - 1)
        yield replace(scenario, until_ms=until_ms, count_from_ms=counted)
    for kept in _parts(scenario.members):
        names = {each.name for each in kept}
        yield replace(
            scenario,
            members=kept,
            plan=tuple(each for each in scenario.plan if each.member in {None, *names}),
            faults=tuple(each for each in scenario.faults if each.member in {None, *names}),
        )
    for kept in _parts(scenario.plan):
        yield replace(scenario, plan=kept)
    for kept in _parts(scenario.faults):
        yield replace(scenario, faults=kept)
    yield from _with_less_data(scenario)


def _with_less_data(scenario: Scenario) -> Iterator[Scenario]:
    """Yield scenarios with fewer topics or partitions, or with a plainer network."""
    for topics in _parts(tuple(scenario.topics)):
        yield replace(scenario, topics={topic: scenario.topics[topic] for topic in topics})
    for topic, count in scenario.topics.items():
        for fewer in dict.fromkeys((1, count // 2, count - 1)):
            if 0 < fewer < count:
                yield replace(scenario, topics={**scenario.topics, topic: fewer})
    if scenario.network.mean_us:
        yield replace(scenario, network=replace(scenario.network, mean_us=0))
    if scenario.network != NetworkConfig(mean_us=0):
        yield replace(scenario, network=NetworkConfig(mean_us=0))


def _parts(listed: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield what is left without a half of the sequence, without a quarter, down to without one.

    >>> list(_parts("abc"))
    [('c',), ('a', 'b'), ('b', 'c'), ('a', 'c'), ('a', 'b')]
    """
    size = len(listed)
    while size:
        size = (size + 1) // 2 if size > 1 else 0
        for start in range(0, len(listed), max(size, 1)) if size else ():
            yield (*listed[:start], *listed[start + size :])
        if size == 1:
            return
    if len(listed) == 1:
        yield ()
