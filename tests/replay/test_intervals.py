"""Why ownerships end, and how certain they are."""

from __future__ import annotations

from hypothesis import given

from assignors.ownership.changes import Change
from assignors.ownership.double import overlaps
from assignors.replay.analysis.ownership import ownerships_of
from assignors.replay.history.fold import group_history
from assignors.replay.history.model import Kind, Life
from tests.ownership.changes import changes
from tests.replay.histories import Says, classic, gone, in_order


def life(listed: list[Change]) -> Life:
    """A life of these changes that goes on."""
    return Life(number=1, kind=Kind.CONSUMER, from_ms=0, changes=tuple(listed))


@given(changes)
def test_an_ownership_says_why_it_ended(listed: list[Change]) -> None:
    found = ownerships_of(life(listed))
    for one in found:
        if one.end is None:
            assert one.ended_by is None
            continue
        begins = [
            other
            for other in found
            if other.topic_partition == one.topic_partition and other.start == one.end
        ]
        assert one.ended_by == ("moved" if begins else "withheld")


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
    ends = {(i.member_id, i.partition, i.start): (i.end, i.ended_by) for i in ownerships_of(lived)}
    assert ends == {
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
    certain = {(i.member_id, i.partition): i.is_certain for i in ownerships_of(lived)}
    assert certain == {("a", 0): False, ("b", 1): False, ("a", 2): True, ("b", 3): True}


def test_a_member_with_a_share_in_two_plans_of_one_generation_overlaps() -> None:
    entries = in_order(
        [
            classic(1, 1, {"a": Says(gets={"t": (0,)}), "b": Says(gets={"t": (0, 1)})}),
            classic(7, 2, {"a": Says(gets={"t": (0,)}), "b": Says(gets={"t": (1,)})}),
        ]
    )
    (lived,) = group_history("g", entries).lives
    (found,) = overlaps(ownerships_of(lived))
    assert (found.start, found.end) == (1, 7)
    assert {found.first.member_id, found.second.member_id} == {"a", "b"}
