"""What opens an alert, what holds it off, and what ends it: one story each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.decode.logged_records import LoggedRecord
from assignors.watch import machine
from assignors.watch.events import Alert, Event
from assignors.watch.group_state import Cluster
from assignors.watch.groups import Watch
from assignors.watch.machine import Input, Tick
from assignors.watch.reach import Reach
from assignors.watch.rules import Rules
from tests.conftest import cases
from tests.replay.histories import (
    TOPIC_ID,
    Says,
    classic,
    commit,
    current,
    epoch,
    gone,
    member,
    target,
    target_of,
)

SECOND, MINUTE = 1_000, 60_000
ID = TOPIC_ID.format("Q")
"""The id of a topic; without a name it is the name."""


def watched(
    inputs: Iterable[Input | Reach], *, rules: Rules | None = None, since_ms: int = 0
) -> list[Alert]:
    """The events of these inputs; records get offsets in their order."""
    watch, offsets, events = Watch(rules=rules or Rules(), since_ms=since_ms), count(), []
    for one in inputs:
        given = one
        if isinstance(one, LoggedRecord):
            given = replace(one, partition=0, offset=next(offsets))
        events += watch.add(given)
    return events


def said(events: Sequence[Alert], kind: str) -> list[tuple[Event, int]]:
    """What happened to alerts of a kind, and when."""
    return [(one.event, one.at_ms) for one in events if one.kind == kind]


def paging(events: Sequence[Alert]) -> list[Alert]:
    """The events that wake somebody up."""
    return [one for one in events if one.severity in {"critical", "high"}]


def shares(names: Sequence[str]) -> dict[str, Says]:
    """Members by id (`name.start`) that share 12 partitions."""
    return {
        name: Says(
            gets={"t": tuple(range(turn, 12, len(names)))},
            client_id=name.partition(".")[0],
        )
        for turn, name in enumerate(names)
    }


def life(*generations: tuple[int, Sequence[str]]) -> list[LoggedRecord]:
    """Generations at these times with these members, numbered from 1."""
    return [
        classic(at_ms, number, shares(names))
        for number, (at_ms, names) in enumerate(generations, start=1)
    ]


@cases(15)
@given(
    size=st.integers(2, 30),
    every_ms=st.integers(2 * SECOND, 5 * MINUTE),
    away_ms=st.integers(1, SECOND),
    is_within=st.booleans(),
)
def test_a_rolling_deployment_wakes_nobody(
    size: int, every_ms: int, away_ms: int, *, is_within: bool
) -> None:
    """Whether a member is away for a generation, or is back before the next one begins."""
    names = [f"c{number}.0" for number in range(size)]
    generations = [(0, [*names])]
    for turn in range(size):
        at_ms = (turn + 1) * every_ms
        if not is_within:
            generations.append((at_ms, [one for one in names if one != names[turn]]))
        names[turn] = f"c{turn}.1"
        generations.append((at_ms + away_ms, [*names]))
    end_ms = generations[-1][0] + 10 * MINUTE
    assert paging(watched([*life(*generations), Tick(end_ms)])) == []


def crash_loop(times: int, every_ms: int = MINUTE) -> list[LoggedRecord]:
    """One of fifty members comes and goes."""
    others = [f"c{number}.0" for number in range(49)]
    generations = [(0, [*others, "x.0"])]
    for turn in range(1, times + 1):
        generations.append((turn * every_ms, others))
        generations.append((turn * every_ms + 10 * SECOND, [*others, f"x.{turn}"]))
    return life(*generations)


def test_a_member_that_crashes_again_and_again_is_a_storm_by_its_third_crash() -> None:
    once = watched([*crash_loop(1), Tick(30 * MINUTE)])
    assert paging(once) == []
    events = watched([*crash_loop(3), Tick(60 * MINUTE)])
    (opened, at_ms), *_, (resolved, _) = said(events, "rebalance-storm")
    assert (opened, resolved) == (Event.OPENED, Event.RESOLVED)
    assert at_ms <= 3 * MINUTE + 11 * SECOND
    first = next(one for one in events if one.kind == "rebalance-storm")
    assert "x at /10.0.0.1 joined" in first.evidence
    assert said(events, "member-flaps")[0][0] is Event.OPENED


def test_a_deployment_in_which_one_member_starts_three_times_is_no_storm() -> None:
    """Each is back before the next generation begins, so a start is one rebalance."""
    names = [f"c{number}.0" for number in range(10)]
    generations = [(0, [*names])]
    for turn, number in enumerate([0, 0, 0, *range(1, 10)], start=1):
        names = [one for one in names if not one.startswith(f"c{number}.")]
        names.append(f"c{number}.{turn}")
        generations.append((20 * MINUTE + turn * 20 * SECOND, [*names]))
    events = watched([*life(*generations), Tick(60 * MINUTE)])
    assert paging(events) == []
    assert said(events, "member-flaps")[0][0] is Event.OPENED


@pytest.mark.parametrize("least", [5, 12])
def test_a_loop_is_found_whatever_its_threshold(least: int) -> None:
    same = [(turn * 20 * SECOND, ["a.0", "b.0"]) for turn in range(14)]
    events = watched([*life(*same), Tick(10 * MINUTE)], rules=Rules(loop_generations=least))
    opened = [at_ms for event, at_ms in said(events, "rebalance-loop") if event is Event.OPENED]
    assert opened == [(least - 1) * 20 * SECOND + SECOND]


@pytest.mark.parametrize(("lasts_ms", "is_alert"), [(900, False), (1_100, True), (60_000, True)])
def test_double_ownership_of_a_second_opens_and_is_resolved(
    lasts_ms: int, *, is_alert: bool
) -> None:
    both = {"a": Says(gets={"t": (0, 1)}), "b": Says(gets={"t": (1,)})}
    apart = {"a": Says(gets={"t": (0,)}), "b": Says(gets={"t": (1,)})}
    events = watched(
        [classic(10_500, 1, both), classic(10_500 + lasts_ms, 2, apart), Tick(10 * MINUTE)]
    )
    expected = [(Event.OPENED, 11_500), (Event.RESOLVED, 10_500 + lasts_ms + MINUTE)]
    assert said(events, "double-ownership") == (expected if is_alert else [])


@pytest.mark.parametrize("lasts_ms", [29_000, 31_000])
def test_unassigned_partitions_are_an_alert_after_half_a_minute(lasts_ms: int) -> None:
    counts = Cluster(at_ms=0, counts={"t": 12})
    some = {"a": Says(gets={"t": (0, 1)})}
    events = watched(
        [
            counts,
            classic(SECOND, 1, some),
            classic(SECOND + lasts_ms, 2, shares(["a"])),
            Tick(10 * MINUTE),
        ]
    )
    opened = [at_ms for event, at_ms in said(events, "unassigned") if event is Event.OPENED]
    assert opened == ([SECOND + 30_000] if lasts_ms > 30_000 else [])


def test_new_partitions_wait_until_every_client_has_new_metadata() -> None:
    grown = Cluster(at_ms=MINUTE, counts={"t": 14})
    for takes_ms, opened in ((4 * MINUTE, 0), (7 * MINUTE, 1)):
        events = watched(
            [
                Cluster(at_ms=0, counts={"t": 12}),
                classic(SECOND, 1, shares(["a"])),
                grown,
                classic(MINUTE + takes_ms, 2, {"a": Says(gets={"t": tuple(range(14))})}),
                Tick(20 * MINUTE),
            ]
        )
        assert sum(event is Event.OPENED for event, _ in said(events, "unassigned")) == opened


def committing(until_ms: int, *, ends: int, goes_on_ms: int | None = None) -> list[Input]:
    """A member that commits every five seconds until it stops; the topic ends at `ends`."""
    inputs: list[Input] = [classic(0, 1, {"a": Says(gets={"t": (0,)})})]
    for at_ms in range(5_000, 20 * MINUTE, 5_000):
        if at_ms <= until_ms or (goes_on_ms is not None and at_ms >= goes_on_ms):
            inputs.append(commit(at_ms, "t", 0, at_ms))
        end = at_ms if ends < 0 else min(at_ms, ends)
        inputs.append(Cluster(at_ms=at_ms + 1, counts={"t": 1}, ends={"t": (end,)}))
    return inputs


def test_commits_that_stop_while_there_are_records_are_stuck_until_they_go_on() -> None:
    events = watched(
        committing(5 * MINUTE, ends=-1, goes_on_ms=10 * MINUTE), rules=Rules(silence_ms=30_000)
    )
    (opened, at_ms), (resolved, end_ms) = said(events, "stuck")
    assert (opened, resolved) == (Event.OPENED, Event.RESOLVED)
    # All of the group is silent, so a rebalance has the time of its slowest member: 30 seconds.
    assert 5 * MINUTE + 30_000 <= at_ms <= 5 * MINUTE + 40_000
    assert 11 * MINUTE <= end_ms <= 11 * MINUTE + 15_000


def test_a_topic_without_new_records_is_never_stuck() -> None:
    idle = committing(5 * MINUTE, ends=5 * MINUTE)
    assert said(watched(idle), "stuck") == []
    unknown = [one for one in committing(5 * MINUTE, ends=-1) if not isinstance(one, Cluster)]
    assert said(watched([*unknown, Tick(60 * MINUTE)]), "stuck") == []


def commits_of(times_ms: Iterable[int]) -> list[Input]:
    """A member that commits at these times, and always has records left to read."""
    inputs: list[Input] = [classic(0, 1, {"a": Says(gets={"t": (0,)})})]
    for at_ms in times_ms:
        inputs.append(commit(at_ms, "t", 0, at_ms))
        inputs.append(Cluster(at_ms=at_ms + 1, counts={"t": 1}, ends={"t": (10**12,)}))
    return inputs


def test_commits_of_rebalances_do_not_make_the_next_commit_late() -> None:
    regular = [turn * 5 * MINUTE for turn in range(1, 12)]
    rebalances = [regular[-1] + turn * SECOND for turn in range(1, 15)]
    inputs = commits_of([*regular, *rebalances, rebalances[-1] + 5 * MINUTE])
    assert said(watched(inputs), "stuck") == []


def test_a_night_without_commits_does_not_hide_that_they_stop_in_the_morning() -> None:
    evening = [turn * 5 * SECOND for turn in range(1, 30)]
    morning = [8 * 60 * MINUTE + turn * 5 * SECOND for turn in range(12)]
    inputs = commits_of(evening)
    inputs[-1] = Cluster(at_ms=evening[-1] + 1, counts={"t": 1}, ends={"t": (evening[-1],)})
    stops = [*inputs, *commits_of(morning)[1:], Tick(morning[-1] + 10 * MINUTE)]
    [(event, at_ms)] = said(watched(stops), "stuck")
    assert event is Event.OPENED
    assert at_ms <= morning[-1] + 3 * MINUTE


def test_a_group_that_returns_after_a_night_has_time_to_read_what_has_come() -> None:
    day = [one for one in committing(5 * MINUTE, ends=-1) if one.at_ms <= 5 * MINUTE + 1]
    evening, morning = 5 * MINUTE + 10 * SECOND, 8 * 60 * MINUTE
    night = [
        Cluster(at_ms=evening + turn * 15 * SECOND, counts={"t": 1}, ends={"t": (10**9,)})
        for turn in range(4)
    ]
    back = {"b": Says(gets={"t": (0,)})}
    inputs = [
        *day,
        classic(evening, 2, {}),
        *night,
        classic(morning, 3, back),
        Cluster(at_ms=morning + SECOND, counts={"t": 1}, ends={"t": (10**9,)}),
    ]
    first_commit = commit(morning + 25 * SECOND, "t", 0, 10**6)
    assert said(watched([*inputs, first_commit, Tick(morning + 26 * SECOND)]), "stuck") == []
    late = watched([*inputs, Tick(morning + 20 * MINUTE)])
    assert said(late, "stuck") == [(Event.OPENED, morning + 120 * SECOND)]


def test_a_static_member_that_is_away_is_not_stuck() -> None:
    """It leaves with epoch -2, and its session decides when it is gone."""
    records = [
        member(0, "a", ("t",)),
        epoch(0, 2),
        target_of(0, "a", {ID: (0,)}),
        target(0, 2),
        current(100, "a", 2, {ID: (0,)}),
        current(30 * MINUTE, "a", -2, {ID: (0,)}),
    ]
    assert said(watched([*records, Tick(40 * MINUTE)]), "stuck") == []


def test_a_member_that_does_not_reach_its_epoch_is_stuck() -> None:
    records = [
        member(0, "a", ("t",)),
        epoch(0, 2),
        target_of(0, "a", {ID: (0,)}),
        target(0, 2),
        current(100, "a", 2, {ID: (0,)}),
        member(MINUTE, "b", ("t",)),
        epoch(MINUTE, 3),
        target_of(MINUTE, "a", {}),
        target_of(MINUTE, "b", {ID: (0,)}),
        target(MINUTE, 3),
        current(MINUTE, "b", 3, {}, state=2),
        current(MINUTE + 100, "a", 2, {}, revoking={ID: (0,)}, state=1),
    ]
    reached = current(2 * MINUTE, "a", 3, {})
    events = watched([*records, Tick(90 * SECOND), reached, Tick(10 * MINUTE)])
    # The rebalance timeout of the members is a second, and two heartbeats more are allowed.
    assert said(events, "stuck") == [
        (Event.OPENED, MINUTE + 100 + 11_000),
        (Event.RESOLVED, 2 * MINUTE + SECOND + MINUTE),
    ]
    assert events[-1].kind != "stuck" or "a" in events[-1].members


def test_a_name_that_is_learned_late_renames_what_was_kept() -> None:
    """Without its name the topic of an id would be a topic that nobody subscribes to."""
    records = [
        member(0, "a", ("orders",)),
        epoch(0, 2),
        target_of(0, "a", {ID: (0, 1)}),
        target(0, 2),
        current(100, "a", 2, {ID: (0, 1)}),
    ]
    named = commit(10 * SECOND, "orders", 0, 5, topic_id=ID)
    assert watched([*records, named, Tick(60 * MINUTE)]) == []
    unnamed = watched([*records, Tick(60 * MINUTE)])
    assert {one.kind for one in unnamed} == {"foreign-topic"}


def test_alerts_from_before_are_given_out_only_if_they_are_open() -> None:
    both = {"a": Says(gets={"t": (0, 1)}), "b": Says(gets={"t": (1,)})}
    apart = {"a": Says(gets={"t": (0,)}), "b": Says(gets={"t": (1,)})}
    records = [classic(0, 1, both), classic(5 * MINUTE, 2, apart)]
    inputs: list[Input | Reach] = [*records, Tick(20 * MINUTE)]
    since_open = watched(inputs, since_ms=3 * MINUTE)
    assert said(since_open, "double-ownership") == [
        (Event.OPENED, 3 * MINUTE),
        (Event.RESOLVED, 6 * MINUTE),
    ]
    assert since_open[0].id == watched(inputs)[0].id
    assert watched(inputs, since_ms=10 * MINUTE) == []


def test_a_watch_that_is_behind_or_blind_says_so() -> None:
    def reach(at_ms: int, position: int, stable: int, high: int) -> Reach:
        return Reach(at_ms=at_ms, positions={0: position}, stable={0: stable}, high={0: high})

    behind = [reach(turn * 15_000, 5, 10 + turn, 10 + turn) for turn in range(6)]
    after = [reach(90_000 + turn * 15_000, 99, 99, 99) for turn in range(6)]
    assert [event for event, _ in said(watched([*behind, *after]), "watch-behind")] == [
        Event.OPENED,
        Event.RESOLVED,
    ]
    blind = [reach(turn * 15_000, 10, 10, 11 + turn) for turn in range(6)]
    assert [event for event, _ in said(watched([*blind, *after]), "watch-blind")] == [
        Event.OPENED,
        Event.RESOLVED,
    ]
    still = [reach(turn * 15_000, 10, 10, 11) for turn in range(6)]
    assert watched(still) == []


def test_a_group_that_is_gone_is_forgotten_after_a_day_whether_ticks_come_or_not() -> None:
    day = 24 * 60 * MINUTE
    both = {"a": Says(gets={"t": (0, 1)}), "b": Says(gets={"t": (1,)})}
    first = [classic(0, 1, both), commit(1, "t", 0, 5)]
    end = [gone(MINUTE, group="g"), commit(MINUTE, "t", 0, None)]
    again = classic(3 * day, 1, both)
    records = [
        replace(one, partition=0, offset=number) for number, one in enumerate([*first, *end, again])
    ]
    last = Tick(3 * day + MINUTE)
    ticking, still = Watch(), Watch()
    events = [event for one in records[:-1] for event in ticking.add(one)]
    for hour in range(1, 72):
        events += ticking.add(Tick(hour * 60 * MINUTE))
        assert ("g" in ticking.groups) == (hour <= 24)
    events += [*ticking.add(records[-1]), *ticking.add(last)]
    at_once = [event for one in records for event in still.add(one)]
    assert events == [*at_once, *still.add(last)]
    assert [one.life for one in events] == [1, 1, 1]
    assert [one.event for one in events] == [Event.OPENED, Event.RESOLVED, Event.OPENED]


def test_each_group_is_planned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every look at a group planned two more, so a day of ticks had more looks than a year."""
    looks = 0
    evaluated = machine._evaluate

    def counted(*given: Any, **named: Any) -> Iterator[Alert]:
        nonlocal looks
        looks += 1
        return evaluated(*given, **named)

    monkeypatch.setattr(machine, "_evaluate", counted)
    inputs = committing(20 * MINUTE, ends=-1)
    watched([one for given in inputs for one in (given, Tick(given.at_ms))])
    assert looks < 20
