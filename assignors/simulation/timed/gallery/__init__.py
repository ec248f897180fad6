"""Named scenarios: what happens to groups, each with what it shows and the figures it must give.

A scenario is made for a protocol, so that one can be compared with another: `named` takes the
seed and the protocol. A new one is a function in one of the files here (its text is what it
shows), and a row in that file's `STORIES`: under which protocols it runs, and what comes out.
"""

from __future__ import annotations

from dataclasses import replace

from assignors.names.nearest import question
from assignors.simulation.timed.gallery import (
    changes,
    clients,
    failovers,
    failures,
    migrations,
    outages,
    pushing,
    restarts,
    rounds,
    zombies,
)
from assignors.simulation.timed.gallery.models import execution, threads
from assignors.simulation.timed.gallery.story import Story
from assignors.simulation.timed.scenario import GroupProtocol, Scenario

GALLERY: dict[str, Story] = {
    **restarts.STORIES,
    **changes.STORIES,
    **failures.STORIES,
    **failovers.STORIES,
    **rounds.STORIES,
    **zombies.STORIES,
    **outages.STORIES,
    **migrations.STORIES,
    **clients.STORIES,
    **threads.STORIES,
    **pushing.STORIES,
    **execution.STORIES,
}
"""Name -> scenario and expected outcome. A file of stories more is one entry more here."""


def named(name: str, *, seed: int = 0, protocol: GroupProtocol | None = None) -> Scenario:
    """Return a scenario of the gallery, for its first protocol unless one is given.

    Raises `ValueError`, with the known names, for another name.

    >>> named("crash").plan[0].do.value
    'crash'
    """
    if name not in GALLERY:
        words = question(name, GALLERY)
        raise ValueError(f"no scenario {name!r}{words or ';'} known: {', '.join(GALLERY)}")
    story = GALLERY[name]
    chosen = next(iter(story.expected)) if protocol is None else protocol
    return replace(story.scenario(), name=name, seed=seed, protocol=chosen)
