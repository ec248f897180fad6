"""Histories of groups that were there: against what their broker said itself."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from assignors.ownership.changes import pairs
from assignors.replay.decode.logged_records import LoggedRecord, group_in
from assignors.replay.history import fold
from assignors.replay.history.fold import group_history, learned_names
from assignors.replay.history.model import GroupHistory, Kind, Life
from tests.replay.histories import (
    captured,
    state,
)

ID = "AAAAAAAAAAAAAAAAAAAAAQ"


@pytest.fixture(scope="module")
def real() -> list[LoggedRecord]:
    return captured("real")


@pytest.fixture(scope="module")
def histories(real: list[LoggedRecord]) -> dict[str, GroupHistory]:
    return {h.group: h for h in fold.histories(real, topic_names=learned_names(real))}


def test_at_the_end_every_group_is_what_the_broker_said_it_is(
    histories: dict[str, GroupHistory],
) -> None:
    said = state()
    assert len(said) == 14
    kinds = {"CLASSIC": Kind.CLASSIC, "CONSUMER": Kind.CONSUMER}
    member_count = 0
    for group, described in said.items():
        life = histories[group].lives[-1]
        last = life.generations[-1]
        assert life.to_ms is None
        assert life.kind is kinds[described["type"]]
        assert last.state.upper() == described["state"]
        ours = {
            m.member_id: (m.client_id, m.instance_id, sorted(pairs(m.assigned)))
            for m in last.members
        }
        theirs = {
            m["id"]: (m["client"], m["instance"], sorted(map(tuple, m["assignment"])))
            for m in described["members"]
        }
        assert ours == theirs
        member_count += len(ours)
    assert member_count == 10


def test_the_last_commits_are_the_offsets_that_the_broker_said(
    histories: dict[str, GroupHistory],
) -> None:
    # Key and value do not show that the transactions of these were aborted.
    aborted = {
        (3, n)
        for a, b in ((657, 662), (688, 693), (1127, 1132), (1148, 1153))
        for n in range(a, b + 1)
    }
    checked = 0
    for group, described in state().items():
        if "offsets" not in described:
            continue
        last: dict[tuple[str, int], int | None] = {}
        for made in histories[group].commits:
            if (made.record_partition, made.record_offset) not in aborted:
                last[made.topic, made.partition] = made.offset
        ours = {place: offset for place, offset in last.items() if offset is not None}
        assert ours == {(topic, n): offset for topic, n, offset, *_ in described["offsets"]}
        checked += len(ours)
    assert checked == 143


def test_a_group_that_migrates_and_comes_back_leads_five_lives(
    histories: dict[str, GroupHistory],
) -> None:
    lives = histories["shop.32-migrate"].lives
    kinds = [(life.kind, life.is_converted) for life in lives]
    assert kinds == [
        (Kind.CLASSIC, True),
        (Kind.CONSUMER, False),
        (Kind.CLASSIC, True),
        (Kind.CONSUMER, True),
        (Kind.CLASSIC, False),
    ]
    assert [g.number for g in lives[1].generations] == [2, 3, 4, 5, 6, 7, 8]
    assert lives[4].generations[0].is_from_broker
    assert not any(g.missing_before for life in lives for g in life.generations)


def test_share_and_streams_groups_are_told_by_their_names(
    histories: dict[str, GroupHistory],
) -> None:
    share = histories["shop.35-share"].lives[0]
    streams = histories["shop.36-ks-streams"].lives[0]
    assert (share.kind, streams.kind) == (Kind.SHARE, Kind.STREAMS)
    held = {place for change in share.changes for place in pairs(change.owned)}
    assert ("orders", 5) in held
    tasks = {place for change in streams.changes for place in pairs(change.owned)}
    assert tasks == {("subtopology 0", number) for number in range(6)}


def test_a_regular_expression_stands_for_the_topics_that_the_broker_found(
    histories: dict[str, GroupHistory],
) -> None:
    generations = histories["shop.34-re"].lives[0].generations
    asked = {m.topics for g in generations for m in g.members if m.topic_regex}
    assert ("clicks.v2", "orders", "payments") in asked


def test_a_group_alone_has_the_history_that_it_has_among_others(real: list[LoggedRecord]) -> None:
    names = learned_names(real)
    for history in fold.histories(real, topic_names=names):
        alone = [entry for entry in real if group_in(entry.record.key) == history.group]
        assert group_history(history.group, alone, topic_names=names) == history


def test_members_of_other_protocols_are_listed_and_not_decoded(
    histories: dict[str, GroupHistory],
) -> None:
    (connect,) = [
        generation
        for name, history in histories.items()
        if "connect" in name
        for generation in history.lives[0].generations
        if generation.members
    ]
    assert connect.protocol_type == "connect"
    assert all(m.subscription_version is None and not m.assigned for m in connect.members)


def numbers(life: Life) -> Sequence[int]:
    """The numbers of a life's generations."""
    return [generation.number for generation in life.generations]


def test_generations_follow_each_other_in_time_and_number(
    histories: dict[str, GroupHistory],
) -> None:
    seen = 0
    for history in histories.values():
        for life in history.lives:
            assert numbers(life) == sorted(set(numbers(life)))
            times = [g.at_ms for g in life.generations]
            assert times == sorted(times)
            for one, after in zip(life.generations, life.generations[1:], strict=False):
                assert one.until_ms == after.at_ms
                seen += 1
    assert seen > 250
