"""How often does a watch wake somebody up in a day in which nothing is wrong? `... FIRST COUNT`"""

from __future__ import annotations

import sys
import time
from collections import Counter

from assignors.simulation.dice import Dice
from assignors.simulation.timed.simulation import simulate
from assignors.watch.events import Alert, Event
from assignors.watch.groups import Watch
from tests.lab.watch.histories import compacted, events_of, healthy_day, inputs_of

PAGES = frozenset({"critical", "high"})


def pages_of(seed: int) -> list[Alert]:
    """Return the alerts of a healthy day that would wake somebody up."""
    scenario = healthy_day(seed)
    played = simulate(scenario, keeps_history=True)
    return [
        event
        for event in events_of(scenario, played)
        if event.event is Event.OPENED and event.severity in PAGES
    ]


def pages_of_starts(seed: int, starts: int = 3) -> list[Alert]:
    """Return the pages of watches that start at random moments of a healthy day.

    They read the topic from its beginning, which is compacted by then.
    """
    scenario, dice = healthy_day(seed), Dice(seed)
    inputs = [*inputs_of(scenario, simulate(scenario, keeps_history=True))]
    found = []
    for _ in range(starts):
        cut = dice.below(len(inputs))
        watch = Watch(since_ms=inputs[cut].at_ms)
        events = [event for given in compacted(inputs, cut) for event in watch.add(given)]
        found += [one for one in events if one.event is Event.OPENED and one.severity in PAGES]
    return found


def main(first: int, count: int) -> None:
    """Print the pages of so many days, and how many days had none."""
    quiet, begun = 0, time.monotonic()
    kinds: Counter[str] = Counter()
    for seed in range(first, first + count):
        found = [*pages_of(seed), *pages_of_starts(seed)]
        quiet += not found
        for page in found:
            kinds[page.kind] += 1
            print(seed, page.at_ms, page.kind, page.severity, page.evidence)
    print(
        f"{quiet} of {count} days from {first} without a page; {dict(kinds)}; "
        f"{time.monotonic() - begun:.0f} s"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
