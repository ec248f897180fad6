"""Paused partitions: an eager rebalance ends every pause, another one those of what is revoked.

Of clients that keep pauses, a rebalance ends only those of partitions that others read on.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.ownership.changes import Change, TopicPartition, changed_topics, pairs
from assignors.simulation.timed.costs.meter import Pauses
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario import Action, GroupProtocol, Scenario, Verb
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases
from tests.simulation.timed.groups import SETTLED_MS, planned

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


def kept(scenario: Scenario, keepers: frozenset[str]) -> Scenario:
    """Let the clients of some members keep their pauses."""
    members = tuple(replace(each, keeps_pauses=each.name in keepers) for each in scenario.members)
    return replace(scenario, members=members)


def read_on(changes: list[Change], *, stopped: str) -> int:
    """Return how often a paused partition came to a member that has not paused it, the slow way.

    All keep their pauses, each of what it had when everybody paused; who stops forgets them.
    """
    paused: dict[str, frozenset[TopicPartition]] = {}
    consumer: dict[TopicPartition, str] = {}
    count = 0
    for change in changes:
        name, owned = change.member_id, frozenset(pairs(change.owned))
        if change.at < AT_MS * 1000:
            paused[name] = owned
        elif name == stopped:
            paused[name] = frozenset()
        for one in owned:
            before = consumer.get(one, name)
            if change.at >= AT_MS * 1000 and before != name:
                count += one in paused[before] and one not in paused[name]
            consumer[one] = name
    return count


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("rolling-restart-eager", CLASSIC),
        ("rolling-restart", CLASSIC),
        ("rolling-restart", CONSUMER),
    ],
)
@cases(8)
@given(stopped=st.integers(0, 9))
def test_a_kept_pause_ends_only_where_another_member_reads_on(
    name: str, protocol: GroupProtocol, stopped: int
) -> None:
    scenario = paused(name, protocol, stopped=f"c{stopped}")
    scenario = kept(scenario, frozenset(each.name for each in scenario.members))
    played = simulate(scenario, keeps_history=True)
    assert played.result.pauses_ended == read_on(played.changes, stopped=f"c{stopped}") > 0
    assert simulate(scenario).result.pauses_ended == played.result.pauses_ended


def test_an_eager_rebalance_ends_no_kept_pause_of_what_comes_back() -> None:
    scenario = paused("rolling-restart-eager", CLASSIC, stopped="c9")
    kept_by_all = kept(scenario, frozenset(each.name for each in scenario.members))
    java = kept(scenario, frozenset())
    # c9 has the last ten partitions; the others change theirs as it goes, and back as it comes.
    assert simulate(kept_by_all).result.pauses_ended < simulate(java).result.pauses_ended == 90


def test_who_resumes_what_it_has_lost_reads_it_when_it_comes_back() -> None:
    """A partition goes from a to b and back, and a resumes its topic meanwhile."""
    pauses = Pauses(keepers=frozenset({"a"}))
    pauses.pause("a", "t", {"a": {"t": (0, 1)}})
    pauses.consume("a", {"t": (1,)}, has_lost=True)
    assert pauses.between == {("t", 0)}
    pauses.resume("a", "t")
    pauses.consume("b", {"t": (0,)}, has_lost=False)
    assert (pauses.ended, pauses.between) == (0, set())


def test_a_pause_that_comes_back_goes_on_and_can_end_later() -> None:
    pauses = Pauses(keepers=frozenset({"a"}))
    pauses.pause("a", "t", {"a": {"t": (0,)}})
    for _ in range(2):
        pauses.consume("a", {}, has_lost=True)
        pauses.consume("a", {"t": (0,)}, has_lost=False)
    assert pauses.ended == 0
    pauses.consume("a", {}, has_lost=True)
    pauses.consume("b", {"t": (0,)}, has_lost=False)
    assert pauses.ended == 1
