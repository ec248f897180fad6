"""Random scenarios under every monitor, until one violates something: `fuzz`.

A scenario is drawn for each seed, from the first seed on, and played. The first one that violates
a monitor is made small (`shrinking`). A seed always gives the same scenario in one version of this
package.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from assignors.simulation.timed.explore.random_scenarios import (
    LAWFUL,
    Choices,
    random_document,
)
from assignors.simulation.timed.explore.shrinking import Shrunk, shrunk
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.scenario_document import scenario_from_document
from assignors.simulation.timed.simulation import simulate

EVENTS_MAX = 20_000
"""A run ends after this many events."""


@dataclass(slots=True, kw_only=True)
class Fuzzed:
    """Which scenarios were played, and the first violation."""

    first_seed: int
    scenarios: int = 0
    """How many were played, the one with the violation included."""
    events: int = 0
    """Events of all runs."""
    stopped: int = 0
    """Runs that ended after `EVENTS_MAX` events."""
    protocols: Counter[str] = field(default_factory=Counter)
    """Protocol -> scenarios in which the group or a member has it."""
    clients: Counter[str] = field(default_factory=Counter)
    """Client model -> scenarios in which a member has it."""
    executions: Counter[str] = field(default_factory=Counter)
    """Execution model of the coordinator -> scenarios."""
    faults: Counter[str] = field(default_factory=Counter)
    """Kind of fault -> scenarios."""
    actions: Counter[str] = field(default_factory=Counter)
    """Verb of the plan -> scenarios."""
    seed: int | None = None
    """Seed of the scenario that violates a monitor; `None` where none does."""
    smallest: Shrunk | None = None
    """Its smallest scenario, and the violation there."""


def fuzz(
    count: int,
    *,
    seed: int = 0,
    choices: Choices = LAWFUL,
    progress: Callable[[Iterable[int]], Iterable[int]] = iter,
) -> Fuzzed:
    """Play random scenarios of the seeds from `seed` to `seed + count - 1` until one violates.

    `progress` may wrap the seeds, to show how many are done. Raises `ValueError` for a count below
    1 or a negative seed, and `DocumentError` for choices that no scenario can have. Cost: about
    0.2 s a scenario, and up to 500 runs of the one that violates something.

    >>> found = fuzz(3, seed=1)
    >>> found.scenarios, found.seed
    (3, None)
    """
    if count < 1:
        raise ValueError(f"{count} scenarios: at least 1")
    if seed < 0:
        raise ValueError(f"seed {seed}: a natural number")
    found = Fuzzed(first_seed=seed)
    for each in progress(range(seed, seed + count)):
        scenario = random_scenario(each, choices)
        _count(found, scenario)
        result = simulate(scenario, monitoring=Monitoring.FULL).result
        found.events += result.events
        found.stopped += result.stopped_by is not None
        if result.violations:
            found.seed, found.smallest = each, shrunk(scenario)
            break
    return found


def random_scenario(seed: int, choices: Choices = LAWFUL) -> Scenario:
    """Return the scenario of a seed. Raises and costs what `fuzz` does."""
    document = random_document(seed, choices)
    scenario = scenario_from_document(document, own_assignors=choices.own_assignors)
    return replace(scenario, event_limit=EVENTS_MAX)


def _count(found: Fuzzed, scenario: Scenario) -> None:
    members = (*scenario.members, *(each.member for each in scenario.arrivals))
    clients = {each.client_model for each in members}
    found.scenarios += 1
    found.protocols.update({each.value for each in scenario.protocols})
    found.clients.update({each.value for each in clients if each is not None})
    found.faults.update({each.kind.value for each in scenario.faults})
    found.actions.update({each.do.value for each in scenario.plan})
    if scenario.execution_model is not None:
        found.executions[scenario.execution_model] += 1
