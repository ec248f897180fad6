"""Who owns what, when, against playing the changes through moment by moment."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.model import Assignment
from assignors.ownership.changes import Change, TopicPartition, pairs
from assignors.ownership.double import double_time, overlaps
from assignors.ownership.intervals import FOREVER, Ownership, ownerships
from assignors.ownership.missing import gaps
from assignors.ownership.monitors import double_owned, started_while_owned
from tests.ownership.changes import LAST, changes, owners

WANTED = [("t", 2), ("t", 0), ("t", 1), ("u", 0)]

owned_now: st.SearchStrategy[Assignment] = st.dictionaries(
    st.sampled_from("abc"),
    st.dictionaries(
        st.sampled_from("tu"), st.lists(st.integers(0, 2), unique=True).map(tuple), max_size=2
    ),
    max_size=3,
)


@given(changes)
def test_at_every_moment_the_ownerships_say_who_owns_what(listed: list[Change]) -> None:
    found = ownerships(listed)
    for at in range(LAST):
        ours: dict[TopicPartition, set[str]] = {}
        for one in found:
            if one.start <= at < one.until:
                ours.setdefault(one.topic_partition, set()).add(one.member_id)
        assert ours == owners(listed, at)


@given(changes)
def test_ownerships_are_listed_as_they_began_and_a_member_has_one_at_a_time(
    listed: list[Change],
) -> None:
    found = ownerships(listed)
    assert [one.start for one in found] == sorted(one.start for one in found)
    for one, after in combinations(found, 2):
        if (one.topic_partition, one.member_id) == (after.topic_partition, after.member_id):
            assert one.until <= after.start


@pytest.mark.parametrize("every_pair", [False, True])
@given(listed=changes)
def test_overlaps_are_the_moments_with_two_owners(
    listed: list[Change], *, every_pair: bool
) -> None:
    found = overlaps(ownerships(listed), every_pair=every_pair)
    assert all(one.end is None or one.end > one.start for one in found)
    for at in range(LAST):
        ours = {
            overlap.topic_partition
            for overlap in found
            if overlap.start <= at < (FOREVER if overlap.end is None else overlap.end)
        }
        several = {one for one, who in owners(listed, at).items() if len(who) > 1}
        assert ours == several


@given(changes)
def test_every_pair_of_owners_is_found_where_all_are_asked_for(listed: list[Change]) -> None:
    found = overlaps(ownerships(listed), every_pair=True)
    for at in range(LAST):
        ours = {
            (
                overlap.topic_partition,
                frozenset((overlap.first.member_id, overlap.second.member_id)),
            )
            for overlap in found
            if overlap.start <= at < (FOREVER if overlap.end is None else overlap.end)
        }
        assert ours == {
            (one, frozenset(pair))
            for one, who in owners(listed, at).items()
            for pair in combinations(who, 2)
        }


@given(changes)
def test_double_time_counts_a_moment_once_however_many_own(listed: list[Change]) -> None:
    listed = [*listed, *(Change(at=LAST, member_id=name, owned={}) for name in "abc")]
    moments = sum(len(who) > 1 for at in range(LAST) for who in owners(listed, at).values())
    assert double_time(overlaps(ownerships(listed))) == moments


@pytest.mark.parametrize("every_pair", [False, True])
def test_a_member_does_not_own_a_partition_twice(*, every_pair: bool) -> None:
    """Lines of one member in the wrong order: it is still one owner."""
    both = [
        Ownership(topic="t", partition=0, member_id="a", start=start, end=9) for start in (0, 5)
    ]
    assert overlaps(both, every_pair=every_pair) == ()


def test_double_time_is_not_known_where_no_overlap_has_an_end() -> None:
    both = [Change(at=0, member_id=name, owned={"t": (0,)}) for name in "ab"]
    assert double_time(overlaps(ownerships(both))) is None
    assert double_time([]) == 0


@given(changes, st.integers(0, 4), st.integers(4, LAST))
def test_gaps_are_the_moments_without_an_owner(listed: list[Change], start: int, end: int) -> None:
    found = gaps(ownerships(listed), WANTED, start=start, end=end)
    assert all(gap.start < gap.end for gap in found)
    assert found == sorted(
        found, key=lambda gap: (WANTED.index((gap.topic, gap.partition)), gap.start)
    )
    for at in range(LAST):
        ours = [(gap.topic, gap.partition) for gap in found if gap.start <= at < gap.end]
        nobodys = [one for one in WANTED if one not in owners(listed, at)]
        assert ours == (nobodys if start <= at < end else [])


def test_a_gap_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueError, match="from 5 to 4"):
        gaps([], WANTED, start=5, end=4)


def test_an_end_before_its_start_is_moved_to_the_start() -> None:
    """A line of a member's from before may be read after."""
    (found,) = ownerships(
        [
            Change(at=5, member_id="a", owned={"t": (0,)}, generation=1),
            Change(at=4, member_id="a", owned={}, generation=2, reason="lost"),
        ]
    )
    assert found == Ownership(
        topic="t",
        partition=0,
        member_id="a",
        start=5,
        end=5,
        from_generation=1,
        to_generation=2,
        ended_by="lost",
    )


def test_what_was_owned_before_a_gap_is_not_certain_and_what_begins_after_it_is() -> None:
    found = ownerships(
        [
            Change(at=1, member_id="a", owned={"t": (0, 1)}),
            Change(at=2, member_id="a", owned={"t": (0, 2)}, after_gap=True),
        ]
    )
    assert {one.partition: one.is_certain for one in found} == {0: False, 1: False, 2: True}


def test_only_what_begins_with_a_thaw_was_frozen() -> None:
    found = ownerships(
        [
            Change(at=1, member_id="a", owned={"t": (0,)}),
            Change(at=2, member_id="a", owned={"t": (0, 1)}, was_frozen=True),
            Change(at=3, member_id="a", owned={"t": (0, 1, 2)}),
        ]
    )
    assert {one.partition: one.was_frozen for one in found} == {0: False, 1: True, 2: False}


@given(owned_now)
def test_double_owned_is_what_two_members_have(owned: Assignment) -> None:
    listed = [one for share in owned.values() for one in pairs(share)]
    assert sorted(double_owned(owned)) == sorted({one for one in listed if listed.count(one) > 1})


@given(owned_now, owned_now)
def test_what_is_started_while_owned_overlaps_in_the_step(
    owned: Assignment, given_next: Assignment
) -> None:
    """Any other owner counts, and who is not there starts nothing."""
    expected = {
        one
        for member_id in owned
        for one in pairs(given_next.get(member_id, {}))
        if one not in pairs(owned[member_id])
        for other in owned
        if other != member_id and one in pairs(owned[other])
    }
    started = [one for m in owned for one in pairs(given_next.get(m, {})).keys() - pairs(owned[m])]
    found = started_while_owned(owned, given_next)
    assert list(found) == sorted(found)
    assert set(found) <= expected
    if len(started) == len(set(started)):
        assert set(found) == expected
