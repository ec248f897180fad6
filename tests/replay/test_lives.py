"""Histories of groups that were never there: against slow ways, and by example."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history.fold import group_history, histories
from assignors.replay.history.model import LEFT, Kind, Life
from tests.replay.histories import (
    Says,
    captured,
    classic,
    commit,
    current,
    epoch,
    gone,
    in_order,
    member,
    record,
    target,
    target_of,
)

ID = "AAAAAAAAAAAAAAAAAAAAAQ"


def life_of(*entries: LoggedRecord) -> Life:
    """The only life of a group with these records."""
    (found,) = group_history("g", in_order(entries)).lives
    return found


def shares(life: Life, number: int) -> dict[str, Any]:
    """What the members of a generation got."""
    (found,) = [g for g in life.generations if g.number == number]
    return {member.member_id: member.assigned for member in found.members}


@given(st.randoms(use_true_random=False))
def test_groups_and_partitions_may_come_in_any_order_that_keeps_each_partitions_own(
    rolls: random.Random,
) -> None:
    entries = captured("java-plans")[:40]
    by_partition: dict[int | None, list[LoggedRecord]] = {}
    for entry in entries:
        by_partition.setdefault(entry.partition, []).append(entry)
    mixed = []
    while any(by_partition.values()):
        chosen = rolls.choice([key for key, left in by_partition.items() if left])
        mixed.append(by_partition[chosen].pop(0))
    assert list(histories(mixed)) == list(histories(entries))


plans = st.lists(
    st.dictionaries(
        st.sampled_from(["a", "b", "c"]),
        st.dictionaries(
            st.sampled_from(["t", "u"]),
            st.sets(st.integers(0, 3), min_size=1).map(sorted),
        ),
        max_size=3,
    ),
    min_size=1,
    max_size=6,
)


@given(plans)
def test_generations_have_what_was_written_and_changes_lead_from_one_to_the_next(
    written: list[dict[str, dict[str, list[int]]]],
) -> None:
    entries = [
        classic(
            10 * number,
            number,
            {m: Says(gets={t: tuple(n) for t, n in share.items()}) for m, share in plan.items()},
        )
        for number, plan in enumerate(written, 1)
    ]
    life = life_of(*entries)
    for number, plan in enumerate(written, 1):
        expected = {m: {t: tuple(n) for t, n in share.items()} for m, share in plan.items()}
        assert shares(life, number) == expected
        held: dict[str, Any] = {}
        for change in life.changes:
            if change.generation <= number:
                held[change.member_id] = change.owned
                if change.reason == LEFT:
                    del held[change.member_id]
        assert held == expected


@given(plans, st.integers(0, 5))
def test_compaction_hides_generations_and_their_number_shows(
    written: list[dict[str, dict[str, list[int]]]], dropped: int
) -> None:
    entries = [
        classic(
            10 * number,
            number,
            {m: Says(gets={t: tuple(n) for t, n in share.items()}) for m, share in plan.items()},
        )
        for number, plan in enumerate(written, 1)
    ]
    left = entries[min(dropped, len(entries) - 1) :]
    life = life_of(*left)
    missing = sum(g.missing_before for g in life.generations)
    assert missing + len(life.generations) == len(written)
    last, whole = life.generations[-1], life_of(*entries).generations[-1]
    assert [(m.member_id, m.assigned) for m in last.members] == [
        (m.member_id, m.assigned) for m in whole.members
    ]


def test_a_tombstone_ends_a_life_and_the_next_record_starts_another() -> None:
    entries = in_order(
        [classic(1, 1, {"a": Says(gets={"t": (0,)})}), gone(5), classic(9, 1, {"b": Says()})]
    )
    first, second = group_history("g", entries).lives
    assert (first.from_ms, first.to_ms, second.from_ms, second.to_ms) == (1, 5, 9, None)
    assert first.generations[-1].until_ms == 5
    assert not first.is_converted


def test_a_lower_generation_shows_a_tombstone_that_compaction_took() -> None:
    entries = in_order([classic(1, 7, {"a": Says()}), classic(9, 2, {"b": Says()})])
    first, second = group_history("g", entries).lives
    assert first.to_ms == 9
    assert [g.number for g in second.generations] == [2]


def test_tombstones_alone_are_no_group() -> None:
    assert group_history("g", in_order([gone(1), epoch(2, None)])).lives == ()


def test_a_static_member_that_comes_back_is_no_generation_of_its_own() -> None:
    life = life_of(
        classic(1, 1, {"a-1": Says(gets={"t": (0,)}, instance_id="a")}),
        classic(5, 1, {"a-2": Says(gets={"t": (0,)}, instance_id="a")}),
    )
    (generation,) = life.generations
    assert (generation.at_ms, generation.members[0].member_id) == (1, "a-2")
    assert "written again" in generation.notes[0]
    assert [(c.at, c.member_id, c.reason) for c in life.changes] == [
        (1, "a-1", None),
        (5, "a-1", LEFT),
        (5, "a-2", None),
    ]
    # No generation has the id it lost, but it was somebody's client.
    assert [(m.member_id, m.client_id) for m in life.replaced] == [("a-1", "client")]


def test_commits_alone_are_a_simple_group() -> None:
    history = group_history("g", in_order([commit(3, "t", 0, 17), commit(8, "t", 0, None)]))
    assert [(life.kind, life.from_ms) for life in history.lives] == [(Kind.SIMPLE, 3)]
    assert [made.offset for made in history.commits] == [17, None]


def test_an_epochs_members_are_those_of_its_own_record() -> None:
    """A joining member is written before its epoch, a leaving one deleted before."""
    life = life_of(
        commit(0, "t", 0, 1, topic_id=ID),
        member(1, "a", ("t",)),
        epoch(1, 2),
        target_of(1, "a", {ID: (0, 1)}),
        target(1, 2),
        current(1, "a", 2, {ID: (0, 1)}),
        member(5, "b", ("t",)),
        epoch(5, 3),
        target_of(5, "a", {ID: (0,)}),
        target_of(5, "b", {ID: (1,)}),
        target(5, 3),
        current(5, "b", 3, {}, state=2),
        current(6, "a", 2, {ID: (0,)}, state=1, revoking={ID: (1,)}),
        current(8, "a", 3, {ID: (0,)}),
        current(9, "b", 3, {ID: (1,)}),
        current(20, "b", 3, None),
        target_of(20, "b", None),
        member(20, "b", None),
        epoch(20, 4),
    )
    assert [(g.number, len(g.members), g.state) for g in life.generations] == [
        (2, 1, "Stable"),
        (3, 2, "Stable"),
        (4, 1, "Assigning"),
    ]
    assert shares(life, 3) == {"a": {"t": (0,)}, "b": {"t": (1,)}}
    assert life.generations[1].pause_ms == 4
    moves = [(c.at, c.member_id, dict(c.owned)) for c in life.changes]
    assert moves == [
        (1, "a", {"t": (0, 1)}),
        (8, "a", {"t": (0,)}),
        (9, "b", {"t": (1,)}),
        (20, "b", {}),
    ]


def test_a_member_that_comes_without_an_epoch_of_its_own_is_part_of_the_one_it_finds() -> None:
    """A static member comes back under a new id: same subscription, no new epoch."""
    life = life_of(
        member(1, "a", ("t",)),
        epoch(1, 2),
        current(1, "a", 2, {ID: (0,)}),
        current(5, "a", 2, None),
        member(5, "a", None),
        member(5, "b", ("t",)),
        current(5, "b", 2, {ID: (0,)}),
        member(9, "c", ("t",)),
        epoch(9, 3),
    )
    assert [m.member_id for m in life.generations[0].members] == ["a", "b"]
    assert [m.member_id for m in life.generations[1].members] == ["b", "c"]


def test_a_topic_nobody_named_stands_as_its_id() -> None:
    life = life_of(member(1, "a", ("t",)), epoch(1, 2), current(1, "a", 2, {ID: (0,)}))
    assert shares(life, 2) == {"a": {ID: (0,)}}


def test_a_missing_epoch_is_counted_and_a_converted_group_misses_none() -> None:
    late = life_of(member(1, "a", ("t",)), epoch(1, 5))
    assert late.generations[0].missing_before == 3
    entries = in_order(
        [
            classic(1, 4, {"a": Says()}),
            gone(3),
            member(3, "a", ("t",)),
            epoch(3, 4),
            epoch(9, 7),
        ]
    )
    first, second = group_history("g", entries).lives
    assert first.is_converted
    assert [g.missing_before for g in second.generations] == [0, 2]


def test_what_cannot_be_read_is_kept_with_its_reason() -> None:
    entries = in_order([classic(1, 1, {"a": Says()})])
    odd = record(2, "GROUP_METADATA", {"group": "g"}, None)
    from wire.records import decode_record  # noqa: PLC0415 - only here

    assert odd.record.key_bytes is not None
    broken = LoggedRecord(
        record=decode_record(odd.record.key_bytes, b"\x00\x63"), at_ms=2, offset=1
    )
    history = group_history("g", [*entries, broken])
    (found,) = history.unreadable
    assert "version 99" in found.text
    assert len(history.lives) == 1


def test_a_lower_epoch_is_another_life_with_those_who_joined_for_it() -> None:
    """A dump without tombstones: the group was deleted, and made again under its name."""
    entries = [
        member(1, "a", ("t",)),
        epoch(1, 7),
        current(2, "a", 7, {}),
        member(9, "b", ("t",)),
        epoch(9, 2),
        current(10, "b", 2, {}),
    ]
    lives = group_history("g", in_order(entries)).lives
    assert [(life.from_ms, life.to_ms) for life in lives] == [(1, 9), (9, None)]
    seen = [
        [(g.number, [m.member_id for m in g.members]) for g in life.generations] for life in lives
    ]
    assert seen == [[(7, ["a"])], [(2, ["b"])]]
    assert lives[1].generations[0].members[0].topics == ("t",)


def test_the_clock_of_a_group_stands_still_where_a_brokers_goes_back() -> None:
    entries = [
        classic(50, 1, {"a": Says(gets={"t": (0,)})}),
        classic(30, 2, {"b": Says(gets={"t": (0,)})}),
        classic(60, 3, {}),
    ]
    (life,) = group_history("g", in_order(entries)).lives
    assert [(g.at_ms, g.until_ms) for g in life.generations] == [(50, 50), (50, 60), (60, None)]
