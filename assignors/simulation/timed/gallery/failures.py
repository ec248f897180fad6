"""Members that fail."""

from __future__ import annotations

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
    SECOND,
    SETTLED_MS,
    Story,
    group,
    planned,
)
from assignors.simulation.timed.scenario import Action, Scenario, Verb


def crash() -> Scenario:
    """Let one member of ten die without a word.

    Its partitions stop for the session timeout, 45 seconds, under every protocol.
    """
    return planned(group(), [Action(at_ms=SETTLED_MS + 10_000, do=Verb.CRASH, member="c3")])


STORIES = {
    "crash": Story(
        scenario=crash,
        everywhere={"gaps": 10, "longest_gap_ms": (40 * SECOND, 51 * SECOND)},
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
}
