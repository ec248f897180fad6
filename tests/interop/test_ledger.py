"""Ownership and reading by members' reports, on histories small enough to check by hand."""

from __future__ import annotations

import pytest

from tests.interop.admin import DescribedGroup, DescribedMember
from tests.interop.events import Event, Partition, parse
from tests.interop.group import Participant, Verdict, why_unsettled
from tests.interop.ledger import owned_by, repeats, unread, windows

A0, A1 = ("a", 0), ("a", 1)


def did(t_ms: int, member: str, kind: str, *partitions: Partition) -> Event:
    return Event(t_ms=t_ms, member=member, kind=kind, partitions=frozenset(partitions))


def read(t_ms: int, member: str, first: int, last: int, one: Partition = A0) -> Event:
    return Event(
        t_ms=t_ms,
        member=member,
        kind="records",
        partitions=frozenset({one}),
        first=first,
        last=last,
    )


@pytest.mark.parametrize(
    ("end", "lengths"),
    [
        pytest.param(did(20, "x", "revoked", A0), [], id="handed over"),
        pytest.param(did(20, "x", "lost", A0), [], id="lost"),
        pytest.param(did(20, "x", "killed"), [], id="killed"),
        pytest.param(did(20, "x", "died"), [], id="died"),
        pytest.param(did(20, "x", "closed"), [], id="closed"),
        pytest.param(did(20, "x", "view"), [], id="a view without it"),
        pytest.param(did(21, "x", "revoked", A0), [1], id="a millisecond late"),
        pytest.param(did(50, "x", "revoked", A0), [30], id="late"),
        pytest.param(did(20, "x", "revoked", A1), [80], id="another partition"),
        pytest.param(did(20, "x", "view", A0), [80], id="a view with it"),
    ],
)
def test_two_owners_are_a_window_as_long_as_both_last(end: Event, lengths: list[int]) -> None:
    events = [did(10, "x", "assigned", A0), end, did(20, "y", "assigned", A0)]
    found = windows(events, until_ms=100)
    assert [one.length_ms for one in found] == lengths
    assert all(one.members == ("x", "y") for one in found)
    assert not windows(events, until_ms=100, longer_than_ms=80)


def test_a_member_that_wakes_up_owns_on_until_it_learns_better() -> None:
    events = [
        did(10, "x", "assigned", A0),
        did(20, "x", "paused"),
        did(30, "y", "assigned", A0),
        did(40, "x", "resumed"),
        did(60, "x", "lost", A0),
    ]
    (found,) = windows(events, until_ms=100)
    assert found.was_frozen
    assert (found.start_ms, found.length_ms) == (40, 20)


def test_a_line_from_before_the_freeze_may_be_read_after_it() -> None:
    events = [
        did(20, "x", "paused"),
        did(19, "x", "assigned", A0),
        did(30, "y", "assigned", A0),
        did(40, "x", "resumed"),
        did(41, "x", "view", A0),
        did(60, "x", "revoked", A0),
    ]
    (found,) = windows(events, until_ms=100)
    assert found.was_frozen
    assert (found.start_ms, found.length_ms) == (40, 20)
    assert not windows([*events[:2], did(20, "x", "revoked", A0), *events[2:4]], until_ms=100)


def test_a_line_from_before_the_kill_brings_nobody_back() -> None:
    events = [
        did(20, "x", "killed"),
        did(19, "x", "assigned", A0),
        did(30, "y", "assigned", A0),
        did(40, "x", "assigned", A1),
    ]
    assert not windows(events, until_ms=100)
    assert [(one.member_id, one.topic_partition) for one in owned_by(events)] == [
        ("y", A0),
        ("x", A1),
    ]


def test_what_nobody_read_is_unread() -> None:
    events = [read(1, "x", 0, 3), read(2, "y", 6, 6)]
    assert unread(events, {A0: 8, A1: 2}) == {A0: [4, 5, 7], A1: [0, 1]}
    assert unread(events, {A0: 4}) == {}


@pytest.mark.parametrize(
    ("end", "is_excused"), [("killed", True), ("lost", True), ("revoked", False), ("closed", False)]
)
def test_a_second_reading_is_excused_where_the_first_reader_was_cut_off(
    end: str, *, is_excused: bool
) -> None:
    events = [
        did(0, "x", "assigned", A0),
        read(5, "x", 0, 9),
        did(10, "x", end, A0),
        did(10, "y", "assigned", A0),
        read(15, "y", 7, 12),
    ]
    (found,) = repeats(events)
    assert (found.first, found.last, found.members) == (7, 9, ("x", "y"))
    assert found.is_excused is is_excused


@pytest.mark.parametrize("is_frozen", [True, False])
def test_a_second_reading_is_excused_where_the_second_reader_slept(*, is_frozen: bool) -> None:
    sleep = [did(2, "y", "paused"), did(12, "y", "resumed")] * is_frozen
    events = [
        did(0, "y", "assigned", A0),
        *sleep,
        did(5, "x", "assigned", A0),
        read(6, "x", 0, 9),
        did(10, "x", "revoked", A0),
        read(12, "y", 3, 4),
    ]
    (found,) = repeats(events)
    assert found.members == ("x", "y")
    assert found.is_excused is is_frozen


class Awake:
    """A member that runs and owns what the test says."""

    is_paused = False
    is_alive = True

    def __init__(self, name: str, *owned: Partition) -> None:
        self.name = name
        self.owned = frozenset(owned)
        self.topics = ("a",)

    def end(self) -> None:
        pass


def described(state: str = "Stable", **owned: tuple[Partition, ...]) -> DescribedGroup:
    members = tuple(
        DescribedMember(member_id=name, client_id=name, instance_id=None, partitions=partitions)
        for name, partitions in owned.items()
    )
    return DescribedGroup(state=state, protocol="range", members=members)


@pytest.mark.parametrize(
    ("group", "members", "reason"),
    [
        (described(x=(A0,), y=(A1,)), [Awake("x", A0), Awake("y", A1)], ""),
        (described("PreparingRebalance"), [], "the broker says PreparingRebalance"),
        (described(x=(A0, A1)), [Awake("x", A0, A1), Awake("y")], "running are"),
        (described(x=(A0, A1), y=()), [Awake("x", A0, A1)], "running are"),
        (described(x=(A0, A1), y=(A1,)), [Awake("x", A0, A1), Awake("y", A1)], "given twice"),
        (described(x=(A0,)), [Awake("x", A0)], "given to nobody"),
        (described(x=(A0, A1, ("b", 0))), [Awake("x", A0, A1, ("b", 0))], "not wanted"),
        (described(x=(A0, A1)), [Awake("x", A0)], "x has"),
    ],
)
def test_a_group_rests_where_all_views_are_one(
    group: DescribedGroup, members: list[Participant], reason: str
) -> None:
    found = why_unsettled(group, members, {"a": 2})
    assert reason in found
    assert bool(reason) == bool(found)


def test_a_verdict_is_clean_where_there_is_nothing_to_say() -> None:
    assert Verdict(windows=(), unread={}, repeats=()).is_clean
    assert not Verdict(windows=(), unread={}, repeats=(), died=("x: exit code 3",)).is_clean
    assert not Verdict(windows=(), unread={A0: [1]}, repeats=()).is_clean


def test_any_line_of_a_program_is_an_event() -> None:
    assert parse('{"t": 5, "event": "died"}', "x").kind == "died"
    assert parse("[1]", "x").text == "[1]"
    assert parse('{"event": "view"}', "x").kind == "error"
    found = parse('{"t":1,"event":"records","topic":"a","partition":0,"first":2,"last":4}', "x")
    assert (found.partitions, found.first, found.last) == (frozenset({A0}), 2, 4)
