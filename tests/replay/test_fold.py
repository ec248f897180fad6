"""The history of a group comes out record by record, and nothing that came out changes later."""

from __future__ import annotations

from collections import defaultdict

import pytest

from assignors.ownership.intervals import by_partition
from assignors.replay.analysis.ownership import ownerships_of
from assignors.replay.decode.logged_records import NO_GROUP, LoggedRecord, group_in
from assignors.replay.history.fold import (
    GroupState,
    finish,
    group_history,
    learned_names,
    step,
)
from assignors.replay.history.model import Generation, HistoryRow, Kind, Life
from assignors.replay.tables.rows import OffsetRow
from tests.replay.histories import (
    TOPIC_ID,
    Says,
    captured,
    classic,
    commit,
    current,
    epoch,
    gone,
    in_order,
    member,
    target,
    target_of,
)

NAMES: dict[str, str] = {}
ID = TOPIC_ID.format("Q")


@pytest.fixture(scope="module")
def groups() -> dict[str, list[LoggedRecord]]:
    """The records of each captured group."""
    found = defaultdict(list)
    for entry in captured("real"):
        found[group_in(entry.record.key) or NO_GROUP].append(entry)
    return found


def test_rows_of_a_prefix_are_the_first_rows_of_the_whole(
    groups: dict[str, list[LoggedRecord]],
) -> None:
    for group, entries in groups.items():
        names = learned_names(entries)
        state = GroupState(group, names)
        stepped = [row for entry in entries for row in step(state, entry)]
        whole = [*stepped, *finish(state)]
        for end in range(0, len(entries), max(len(entries) // 5, 1)):
            cut = GroupState(group, names)
            rows = [row for entry in entries[:end] for row in step(cut, entry)]
            assert rows == whole[: len(rows)]
        history = group_history(group, entries)
        assert list(history.commits) == [row for row in whole if isinstance(row, OffsetRow)]
        generations = [row for row in whole if isinstance(row, Generation)]
        assert [g for life in history.lives for g in life.generations] == generations
        assert len(history.lives) == sum(isinstance(row, Life) for row in whole)


def test_a_holder_owns_the_partition_alone_by_the_intervals_too(
    groups: dict[str, list[LoggedRecord]],
) -> None:
    seen = 0
    for group, entries in groups.items():
        history = group_history(group, entries)
        owned = by_partition(
            one
            for life in history.lives
            if life.kind is not Kind.SHARE
            for one in ownerships_of(life)
        )
        for made in history.commits:
            listed = owned.get((made.topic, made.partition), [])
            now = {one.member_id for one in listed if one.start <= made.at_ms < one.until}
            seen += made.holder_id is not None
            if made.offset is not None:
                assert made.holder_id == (next(iter(now)) if len(now) == 1 else None)
    assert seen > 2000


def rows_of(entries: list[LoggedRecord]) -> list[HistoryRow]:
    state = GroupState("g", NAMES)
    return [row for entry in in_order(entries) for row in (*step(state, entry),)] + finish(state)


def test_a_commit_has_the_one_owner_of_its_partition_when_it_was_written() -> None:
    rows = rows_of(
        [
            commit(1, "t", 0, 1),
            classic(5, 1, {"a": Says(gets={"t": (0,)}), "b": Says(gets={"t": (1,)})}),
            commit(5, "t", 0, 2),
            commit(2, "t", 1, 2),  # the clock of another broker: the log decides
            classic(9, 2, {"a": Says(gets={"t": (0, 1)}), "b": Says(gets={"t": (1,)})}),
            commit(10, "t", 0, 3),
            commit(10, "t", 1, 3),
            commit(10, "t", 0, None),
            gone(11),
            commit(12, "t", 0, 4),
        ]
    )
    commits = [row for row in rows if isinstance(row, OffsetRow)]
    assert [(row.holder_id, row.generation, row.life) for row in commits] == [
        (None, None, 1),
        ("a", 1, 1),
        ("b", 1, 1),
        ("a", 2, 1),
        (None, 2, 1),
        (None, 2, 1),
        (None, None, 1),
    ]


def test_a_life_that_goes_on_under_another_protocol_is_known_by_the_next_record() -> None:
    rows = rows_of(
        [
            classic(1, 1, {"a": Says(gets={"t": (0,)})}),
            gone(2),
            epoch(2, 2),
            member(3, "a", ("t",)),
            current(4, "a", 2, {}),
            epoch(5, None),
            classic(9, 1, {}),
        ]
    )
    lives = [row for row in rows if isinstance(row, Life)]
    assert [(life.number, life.kind.value, life.is_converted) for life in lives] == [
        (1, "classic", True),
        (2, "consumer", False),
        (3, "classic", False),
    ]


def test_a_target_that_compaction_left_before_its_member_is_kept() -> None:
    """A member that changes its rack is written again, and its target is not."""
    entries = in_order(
        [
            epoch(0, 2),
            target_of(0, "a", {ID: (0, 1)}),
            target(0, 2),
            current(0, "a", 2, {ID: (0, 1)}),
            member(0, "a", ("t",)),
            epoch(5_000, 3),
        ]
    )
    history = group_history("g", entries, topic_names={ID: "t"})
    [_, last] = history.lives[0].generations
    assert [one.target for one in last.members] == [{"t": (0, 1)}]
