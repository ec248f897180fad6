"""Make a scenario small that violates a monitor, so that a reader sees what matters.

Greedy delta debugging: leave something out, run again, and keep what still violates the same
monitor. Left out are, in turns until nothing more can be, members with all that happens to them,
actions of the plan, faults, topics, partitions, random delays, the time after the violation, and
settings that differ from their defaults.
The same scenario always gives the same result.

Source: A. Zeller, R. Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (2002).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from json import dumps, loads
from typing import Any

from assignors.documents.values import DocumentError
from assignors.simulation.timed.monitors.rules import Monitoring, Violation
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import NetworkConfig, Scenario
from assignors.simulation.timed.scenario_document import (
    brief_document,
    document_from_scenario,
    own_assignors_of,
    scenario_from_document,
)
from assignors.simulation.timed.simulation import simulate

RUNS_MAX = 500
"""A scenario is run so often at most."""
KEPT = frozenset(
    {"version", "seed", "until_ms", "topics", "members", "name", "protocol", "plan", "network"}
)
"""Keys that are no settings with a default, or that say what the scenario is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """A small scenario, and how it violates the monitor."""

    scenario: Scenario
    violation: Violation
    runs: int
    """How many runs it took."""


Candidates = Callable[[Shrunk], Iterator[Scenario]]


def shrunk(scenario: Scenario, *, runs_max: int = RUNS_MAX) -> Shrunk | None:
    """Return a smaller scenario that violates what this one violates first, `None` without any.

    Raises what `simulate` raises. Cost: that of `runs_max` runs of the scenario at most.
    """
    played = simulate(scenario, monitoring=Monitoring.FULL)
    if not played.violations:
        return None
    violation = played.violations[0]
    # A monitor of the end looks later than the run's last event that counts.
    limit = 2 * max(played.result.events, violation.event) + 1000
    best = Shrunk(scenario=scenario, violation=violation, runs=1)
    is_smaller = True
    while is_smaller:
        before = best.scenario
        for candidates in CANDIDATES:
            best = _tried(best, candidates, limit, runs_max)
        is_smaller = best.scenario != before and best.runs < runs_max
    return best


def _tried(best: Shrunk, candidates: Candidates, limit: int, runs_max: int) -> Shrunk:
    """Return the scenario after every candidate of one kind that still violates the monitor."""
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for smaller in candidates(best):
            if best.runs >= runs_max:
                return best
            found = _violation(replace(smaller, event_limit=limit), best.violation.monitor)
            best = replace(best, runs=best.runs + 1)
            if found is not None:
                best = Shrunk(scenario=smaller, violation=found, runs=best.runs)
                is_smaller = True
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


def _shorter(best: Shrunk) -> Iterator[Scenario]:
    scenario = best.scenario
    until_ms = best.violation.at_us // MILLISECOND + 1
    if until_ms < scenario.until_ms:
        counted = min(scenario.count_from_ms, until_ms - 1)
        yield replace(scenario, until_ms=until_ms, count_from_ms=counted)


def _fewer_members(best: Shrunk) -> Iterator[Scenario]:
    """Yield scenarios without some members and all that happens to them."""
    scenario = best.scenario
    for kept in _parts(scenario.members):
        names = {each.name for each in kept}
        yield replace(
            scenario,
            members=kept,
            plan=tuple(each for each in scenario.plan if each.member in {None, *names}),
            faults=tuple(each for each in scenario.faults if each.member in {None, *names}),
        )


def _fewer_events(best: Shrunk) -> Iterator[Scenario]:
    """Yield scenarios with fewer actions, faults or kinds of arrivals."""
    scenario = best.scenario
    for plan in _parts(scenario.plan):
        yield replace(scenario, plan=plan)
    for faults in _parts(scenario.faults):
        yield replace(scenario, faults=faults)
    for arrivals in _parts(scenario.arrivals):
        yield replace(scenario, arrivals=arrivals)


def _less_data(best: Shrunk) -> Iterator[Scenario]:
    """Yield scenarios with fewer topics or partitions, or with a plainer network."""
    scenario = best.scenario
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


def _fewer_settings(best: Shrunk) -> Iterator[Scenario]:
    """Yield scenarios in which a part, or one setting, has its defaults.

    A setting of members first in all of them, then in one. Scenarios that are impossible without a
    setting are left out.
    """
    document = loads(dumps(brief_document(best.scenario)))
    own = own_assignors_of(best.scenario)
    members = document["members"]
    changes: list[list[tuple[Any, str]]] = [
        [(document, key)] for key in document if key not in KEPT
    ]
    keys = dict.fromkeys(key for each in members for key in each if key not in KEPT)
    changes += [[(each, key) for each in members if key in each] for key in keys]
    changes += [[(each, key)] for each in members for key in each if key not in KEPT]
    changes += [[(part, key)] for part in _parts_of_run(document) for key in part]
    for change in changes:
        values = [part[key] for part, key in change]
        for part, key in change:
            del part[key]
        with suppress(DocumentError):
            yield scenario_from_document(document, own_assignors=own)
        for (part, key), value in zip(change, values, strict=True):
            part[key] = value


def _parts_of_run(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the objects in a document, however deep, but for those in lists."""
    for key, value in part.items():
        if isinstance(value, dict) and key not in KEPT:
            yield value
            yield from _parts_of_run(value)


CANDIDATES: tuple[Candidates, ...] = (
    _shorter,
    _fewer_members,
    _fewer_events,
    _less_data,
    _fewer_settings,
)
"""Kinds of smaller scenarios, each until it has no more, again and again until none has."""


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
