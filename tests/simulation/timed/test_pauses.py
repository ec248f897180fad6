"""Paused partitions: an eager rebalance ends every pause, another one those of what is revoked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.ownership.changes import Change, changed_topics
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.gallery.story import SETTLED_MS, planned
from assignors.simulation.timed.scenario import Action, GroupProtocol, Scenario, Verb
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases

AT_MS = SETTLED_MS + 1000
CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER


def paused(name: str, protocol: GroupProtocol, *after: Action, stopped: str = "c3") -> Scenario:
    """Return a group in which everybody pauses, then one member restarts."""
    scenario = named(name, protocol=protocol)
    pauses = [
        Action(at_ms=AT_MS, do=Verb.PAUSE, member=each.name, topic="orders")
        for each in scenario.members
    ]
    stop = Action(at_ms=AT_MS + 2000, do=Verb.STOP, member=stopped)
    start = Action(at_ms=AT_MS + 12_000, do=Verb.START, member=stopped)
    return replace(planned(scenario, [*pauses, *after, stop, start]), name="")


def revoked(changes: list[Change], *, without: str) -> int:
    """Return how many partitions members gave up after everybody paused, but for one member."""
    held: dict[str, Change] = {}
    count = 0
    for change in changes:
        before = held.get(change.member_id)
        held[change.member_id] = change
        if before is not None and change.at >= AT_MS * 1000 and change.member_id != without:
            for _, old, new in changed_topics(before.owned, change.owned):
                count += len(old - new)
    return count


def test_an_eager_rebalance_ends_every_pause() -> None:
    assert simulate(paused("rolling-restart-eager", CLASSIC)).result.pauses_ended == 90


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
@cases(20)
@given(stopped=st.integers(0, 9))
def test_others_end_the_pauses_of_what_is_revoked(protocol: GroupProtocol, stopped: int) -> None:
    scenario = paused("rolling-restart", protocol, stopped=f"c{stopped}")
    played = simulate(scenario, keeps_history=True)
    # Nine members give one partition each to the tenth; it may be one that came without a pause.
    assert 0 < played.result.pauses_ended <= revoked(played.changes, without=f"c{stopped}") < 20


def test_what_was_resumed_has_no_pause_to_end() -> None:
    resumes = [
        Action(at_ms=AT_MS + 1000, do=Verb.RESUME, member=f"c{number}", topic="orders")
        for number in range(10)
    ]
    scenario = paused("rolling-restart-eager", CLASSIC, *resumes)
    assert simulate(scenario).result.pauses_ended == 0
