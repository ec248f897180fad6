"""The events of a run up to its first violation, a line each."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from assignors.simulation.timed.explore.subjects import Lines, lines_of
from assignors.simulation.timed.explore.words import line_of
from assignors.simulation.timed.monitors.rules import Monitoring, Seen, described
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.simulation import simulate

NOTHING = "no violation"
"""The last line of a run in which monitors find nothing."""
LINES_MAX = 10_000
"""So many of the last lines before a violation are kept."""


def history(scenario: Scenario, subjects: Sequence[str] = ()) -> Iterator[str]:
    """Return the lines of a run up to its first violation, which is the last line.

    Of a run without one, all its lines, and one that says so. With `subjects`, names of members
    and partitions (`orders:3`), only lines about one of these. Runs under `Monitoring.FULL`; raises
    what `simulate` raises, and before that `ValueError` for a name that the scenario does not have.
    Cost: that of the run, plus O(size of its messages) for each subject.
    """
    return _history(scenario, lines_of(scenario, subjects) or [line_of])


def _history(scenario: Scenario, of_subjects: Sequence[Lines]) -> Iterator[str]:
    lines: deque[tuple[int, str]] = deque(maxlen=LINES_MAX)

    def observe(seen: Seen) -> None:
        found = [of_one(seen) for of_one in of_subjects]
        line = next(filter(None, found), None)
        if line is not None:
            at_ms = seen.at_us / MILLISECOND
            lines.append((seen.number, f"{seen.number:>7} {at_ms:>12.3f} ms  {line}"))

    played = simulate(scenario, monitoring=Monitoring.FULL, observe=observe)
    first = played.violations[0] if played.violations else None
    yield from (line for number, line in lines if first is None or number <= first.event)
    yield NOTHING if first is None else described(first, scenario.seed)
