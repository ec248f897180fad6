"""Who held what when, against playing the changes through moment by moment."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.analysis.holders import sole_holdings, spans
from assignors.replay.analysis.intervals import FOR_EVER, Place, intervals, overlaps
from assignors.replay.history.model import Change, Kind, Life, pairs
from assignors.replay.history.timeline import group_history
from tests.replay.histories import Says, classic, gone, in_order

LAST = 12
"""The last moment that tests look at."""


def life(changes: list[Change], to_ms: int | None = None) -> Life:
    """A life of these changes."""
    return Life(number=1, kind=Kind.CONSUMER, from_ms=0, to_ms=to_ms, changes=tuple(changes))


changes = st.lists(
    st.builds(
        Change,
        at_ms=st.integers(0, 10),
        generation=st.just(1),
        member_id=st.sampled_from("abc"),
        held=st.dictionaries(
            st.just("t"), st.lists(st.integers(0, 2), unique=True).map(tuple), max_size=1
        ),
    ),
    max_size=12,
).map(lambda listed: sorted(listed, key=lambda change: change.at_ms))


def holders(listed: list[Change], at_ms: int) -> dict[Place, set[str]]:
    """Who holds each partition at a moment, by playing all changes until then."""
    held = {change.member_id: change.held for change in listed if change.at_ms <= at_ms}
    found: dict[Place, set[str]] = {}
    for member_id, share in held.items():
        for place in pairs(share):
            found.setdefault(place, set()).add(member_id)
    return found


@given(changes)
def test_at_every_moment_the_intervals_say_who_holds_what(listed: list[Change]) -> None:
    found = intervals(life(listed))
    for at_ms in range(LAST):
        ours: dict[Place, set[str]] = {}
        for interval in found:
            if interval.from_ms <= at_ms < interval.end_ms:
                ours.setdefault(interval.place, set()).add(interval.member_id)
        assert ours == holders(listed, at_ms)


@given(changes)
def test_overlaps_are_the_moments_with_two_holders(listed: list[Change]) -> None:
    found = overlaps(intervals(life(listed)))
    for at_ms in range(LAST):
        ours = {
            overlap.first.place
            for overlap in found
            if overlap.from_ms <= at_ms < (FOR_EVER if overlap.to_ms is None else overlap.to_ms)
        }
        several = {place for place, who in holders(listed, at_ms).items() if len(who) > 1}
        assert ours == several


@given(changes)
def test_a_holding_is_a_time_with_one_holder_and_no_other(listed: list[Change]) -> None:
    found = sole_holdings(intervals(life(listed)))
    for at_ms in range(LAST):
        ours = {
            (one.topic, one.partition): one.member_id
            for one in found
            if one.from_ms <= at_ms < one.to_ms
        }
        assert ours == {
            place: next(iter(who)) for place, who in holders(listed, at_ms).items() if len(who) == 1
        }


@given(st.lists(st.integers(0, 9), min_size=1, max_size=4, unique=True).map(sorted))
def test_every_moment_falls_into_one_life(starts: list[int]) -> None:
    lives = [
        Life(number=number, kind=Kind.CLASSIC, from_ms=start)
        for number, start in enumerate(starts, 1)
    ]
    for at_ms in range(-3, LAST):
        found = [span.life for span in spans(lives) if span.from_ms <= at_ms < span.to_ms]
        assert found == [max(sum(start <= at_ms for start in starts), 1)]
    assert spans([]) == []


@given(changes)
def test_an_interval_says_why_it_ended(listed: list[Change]) -> None:
    found = intervals(life(listed))
    for interval in found:
        if interval.to_ms is None:
            assert interval.ended_by is None
            continue
        begins = [i for i in found if i.place == interval.place and i.from_ms == interval.to_ms]
        assert interval.ended_by == ("moved" if begins else "withheld")


def test_reasons_in_a_classic_life() -> None:
    """A partition moves, one waits, a member leaves, the group ends."""
    entries = in_order(
        [
            classic(1, 1, {"a": Says(gets={"t": (0, 1, 2)}), "b": Says(gets={"t": (3,)})}),
            classic(4, 2, {"a": Says(gets={"t": (0,)}), "b": Says(gets={"t": (2, 3)})}),
            classic(6, 3, {"b": Says(gets={"t": (0, 1, 2)})}),
            gone(9),
        ]
    )
    (lived,) = group_history("g", entries).lives
    told = {(i.member_id, i.partition, i.from_ms): (i.to_ms, i.ended_by) for i in intervals(lived)}
    assert told == {
        ("a", 0, 1): (6, "left"),
        ("a", 1, 1): (4, "withheld"),
        ("a", 2, 1): (4, "moved"),
        ("b", 3, 1): (6, "withheld"),
        ("b", 2, 4): (9, "group-ended"),
        ("b", 0, 6): (9, "group-ended"),
        ("b", 1, 6): (9, "group-ended"),
    }


def test_what_lies_behind_a_gap_is_not_certain() -> None:
    entries = in_order(
        [
            classic(1, 1, {"a": Says(gets={"t": (0,)}), "b": Says(gets={"t": (1,)})}),
            classic(9, 5, {"a": Says(gets={"t": (0, 2)}), "b": Says(gets={"t": (3,)})}),
        ]
    )
    (lived,) = group_history("g", entries).lives
    told = {(i.member_id, i.partition): i.is_certain for i in intervals(lived)}
    assert told == {("a", 0): False, ("b", 1): False, ("a", 2): True, ("b", 3): True}


def test_a_member_with_a_share_in_two_plans_of_one_generation_overlaps() -> None:
    entries = in_order(
        [
            classic(1, 1, {"a": Says(gets={"t": (0,)}), "b": Says(gets={"t": (0, 1)})}),
            classic(7, 2, {"a": Says(gets={"t": (0,)}), "b": Says(gets={"t": (1,)})}),
        ]
    )
    (lived,) = group_history("g", entries).lives
    (found,) = overlaps(intervals(lived))
    assert (found.from_ms, found.to_ms) == (1, 7)
    assert {found.first.member_id, found.second.member_id} == {"a", "b"}
