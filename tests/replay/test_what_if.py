"""What another assignor would have done: against what happened, and against doing it by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assignors.assignor import Assignor, RebalanceProtocol, UserData
from assignors.model import Cluster, Group, Member
from assignors.ownership.changes import pairs
from assignors.rebalance import Rebalance
from assignors.registry import ASSIGNORS, assignor_named
from assignors.replay.analysis.group_analysis import GroupAnalysis, analysed_group
from assignors.replay.analysis.outcome_rows import EVERY_GROUP, total
from assignors.replay.analysis.what_if import what_if
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history.fold import group_history, histories, learned_names
from assignors.replay.tables.rows import OutcomeRow
from tests.replay.histories import (
    Says,
    captured,
    classic,
    commit,
    current,
    epoch,
    in_order,
    member,
    target,
    target_of,
)

ID = "AAAAAAAAAAAAAAAAAAAAAQ"

KNOWN = {"orders": 6, "payments": 4, "clicks.v2": 3, "tiny": 1}


@pytest.fixture(scope="module")
def real() -> dict[str, GroupAnalysis]:
    entries = captured("real")
    names = learned_names(entries)
    return {h.group: analysed_group(h, KNOWN) for h in histories(entries, topic_names=names)}


def tried(analysis: GroupAnalysis, name: str) -> list[OutcomeRow]:
    """The outcome of an assignor, without the sums."""
    return [row for row in what_if(analysis, assignor_named(name)) if row.generation is not None]


def summed(analysis: GroupAnalysis, name: str) -> list[OutcomeRow]:
    """The rows that sum up each life."""
    return [row for row in what_if(analysis, assignor_named(name)) if row.generation is None]


def made(*entries: LoggedRecord, counts: dict[str, int] | None = None) -> GroupAnalysis:
    """A group of these records."""
    return analysed_group(group_history("g", in_order(entries)), counts or {"t": 4})


def test_the_assignor_that_ran_would_have_done_what_it_did(real: dict[str, GroupAnalysis]) -> None:
    """A group of Java members under Java's own assignor: every figure is what happened."""
    lives = summed(real["shop.01-java44"], "java/cooperative-sticky")
    assert len(lives) == 2
    for row in lives:
        assert row.rounds == row.actual_rounds
        assert row.moved == row.actual_moved
        assert (row.load_max, row.balance_gap) == (row.actual_load_max, row.actual_balance_gap)
        assert row.unassigned == 0


@pytest.mark.parametrize("name", ["optimal/sticky", "optimal/cooperative-sticky"])
def test_the_best_assignors_leave_no_gap_and_nothing_with_nobody(
    real: dict[str, GroupAnalysis], name: str
) -> None:
    rows = [row for analysis in real.values() for row in tried(analysis, name)]
    assert len(rows) > 250
    assert {(row.balance_gap, row.unassigned, row.error) for row in rows} == {(0, 0, None)}


def test_every_registered_assignor_plays_every_history_without_an_error(
    real: dict[str, GroupAnalysis],
) -> None:
    for name in ASSIGNORS:
        rows = [row for analysis in real.values() for row in tried(analysis, name)]
        assert {row.error for row in rows} == {None}, name
        assert all(row.rounds <= 3 for row in rows), name


def by_hand(analysis: GroupAnalysis) -> list[int]:
    """Moves of `java/roundrobin`, generation by generation, with dictionaries alone."""
    moves = []
    (life_analysis,) = analysis.lives
    had: dict[tuple[str, int], str] = {}
    before: object = None
    for analysed in life_analysis.generations:
        members = analysed.generation.members
        asked = sorted((m.member_id, sorted(m.topics)) for m in members)
        if members and asked != before:
            group = Group(
                cluster=Cluster.of(dict(analysis.partition_counts)),
                members=tuple(Member(member_id=m.member_id, topics=m.topics) for m in members),
            )
            answer = ASSIGNORS["java/roundrobin"].assign(group).assignment
            now = {place: m for m, share in answer.items() for place in pairs(share)}
            wants = {m.member_id: m.topics for m in members}
            moves.append(
                sum(
                    1
                    for place, old in had.items()
                    if place[0] in wants.get(old, ()) and now.get(place) != old
                )
            )
            had = now
        elif members:
            moves.append(0)
        if not members:
            had = {}
        before = asked
    return moves


def test_moves_are_those_of_playing_the_assignor_by_hand(real: dict[str, GroupAnalysis]) -> None:
    checked = 0
    for analysis in real.values():
        if len(analysis.lives) == 1 and analysis.lives[0].life.kind.value == "classic":
            if any(
                m.instance_id for c in analysis.lives[0].generations for m in c.generation.members
            ):
                continue
            assert [row.moved for row in tried(analysis, "java/roundrobin")] == by_hand(analysis)
            checked += 1
    assert checked > 15


def test_a_generation_that_asks_for_nothing_new_is_the_other_assignors_doing() -> None:
    """A cooperative hand-over takes two rounds here too, both in the generation that began it."""
    first = classic(0, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}, state_ms=0)
    second = classic(1100, 2, {"a": Says(gets={"t": (0, 1)}), "b": Says()}, state_ms=1000)
    third = classic(
        2050, 3, {"a": Says(gets={"t": (0, 1)}), "b": Says(gets={"t": (2, 3)})}, state_ms=2000
    )
    rows = tried(made(first, second, third), "optimal/cooperative-sticky")
    assert [(row.rounds, row.moved) for row in rows] == [(1, 0), (2, 2), (0, 0)]
    # The round took 100 ms: two partitions wait through the first and arrive in the second.
    assert [row.downtime_partition_ms for row in rows] == [None, 400, 0]
    # What happened: eager, so all four stopped each time.
    assert [row.actual_downtime_partition_ms for row in rows] == [None, 400, 200]


def test_an_eager_round_stops_all_and_a_brokers_round_what_moves() -> None:
    first = classic(10, 1, {"a": Says(gets={"t": (0, 1, 2, 3)})}, state_ms=5)
    second = classic(1100, 2, {"a": Says(), "b": Says()}, state_ms=1000)
    analysis = made(first, second)
    downtime = {
        name: tried(analysis, name)[1].downtime_partition_ms
        for name in ("optimal/sticky", "server/uniform")
    }
    assert downtime == {"optimal/sticky": 400, "server/uniform": 200}


def test_the_pause_of_an_epoch_is_that_of_its_whole_handover() -> None:
    """Two partitions move to b within 300 ms: a cooperative assignor tried has the same figures."""
    entries = [
        commit(0, "t", 3, 1, topic_id=ID),
        member(1, "a", ("t",)),
        epoch(1, 2),
        target_of(1, "a", {ID: (0, 1, 2, 3)}),
        target(1, 2),
        current(1, "a", 2, {ID: (0, 1, 2, 3)}),
        member(1_000, "b", ("t",)),
        epoch(1_000, 3),
        target_of(1_000, "a", {ID: (0, 1)}),
        target_of(1_000, "b", {ID: (2, 3)}),
        target(1_000, 3),
        current(1_100, "a", 2, {ID: (0, 1)}, state=1, revoking={ID: (2, 3)}),
        current(1_200, "a", 3, {ID: (0, 1)}),
        current(1_300, "b", 3, {ID: (2, 3)}),
    ]
    row = tried(made(*entries), "optimal/cooperative-sticky")[1]
    assert (row.rounds, row.moved, row.actual_rounds, row.actual_moved) == (2, 2, 1, 2)
    assert row.downtime_partition_ms == row.actual_downtime_partition_ms == 2 * 300


def test_a_brokers_own_plan_is_where_the_next_leader_starts() -> None:
    """A group came back from KIP-848 with what one of two members left: nobody dealt that."""
    entries = [
        member(1, "a", ("t",)),
        member(1, "b", ("t",)),
        epoch(1, 2),
        target(1, 2),
        epoch(5, None),
        classic(5, 3, {"a": Says(gets={"t": (0, 1)})}),
        classic(90, 4, {"a": Says(gets={"t": (0, 1, 2, 3)})}, state_ms=80),
    ]
    analysis = made(*entries)
    assert analysis.lives[1].life.generations[0].is_from_broker
    rows = [row for row in tried(analysis, "optimal/sticky") if row.life == 2]
    assert [(row.generation, row.rounds, row.load_max, row.actual_load_max) for row in rows] == [
        (4, 1, 4, 4)
    ]
    assert rows[0].downtime_partition_ms == rows[0].actual_downtime_partition_ms == 4 * 10


def test_a_static_member_that_comes_back_keeps_its_share() -> None:
    first = classic(10, 1, {"a-1": Says(instance_id="a"), "b": Says()})
    again = classic(20, 2, {"a-2": Says(instance_id="a"), "b": Says(), "c": Says()})
    rows = tried(made(first, again), "optimal/sticky")
    assert [row.moved for row in rows] == [0, 1]


def test_an_empty_group_forgets() -> None:
    entries = [
        classic(10, 1, {"a": Says()}),
        classic(20, 2, {}),
        classic(30, 3, {"a": Says(), "b": Says()}),
    ]
    rows = tried(made(*entries), "optimal/cooperative-sticky")
    assert [(row.generation, row.rounds, row.moved) for row in rows] == [(1, 1, 0), (3, 1, 0)]


def fails(_: Group) -> Rebalance:
    """An assignor with a mistake."""
    raise RuntimeError("no idea")


def never_rests(group: Group) -> Rebalance:
    """A cooperative assignor that takes everything from whoever has it, for ever."""
    ids = [member.member_id for member in group.members]
    holder = next((m.member_id for m in group.members if m.owned), ids[-1])
    chosen = ids[(ids.index(holder) + 1) % len(ids)]
    return Rebalance(assignment={m: ({"t": (0, 1, 2, 3)} if m == chosen else {}) for m in ids})


def own(assign: object, *, cooperative: bool = True) -> Assignor:
    """An assignor of one's own."""
    protocol = RebalanceProtocol.COOPERATIVE if cooperative else RebalanceProtocol.EAGER
    return Assignor(
        family="own",
        name="cooperative-sticky" if cooperative else "sticky",
        assign=assign,  # type: ignore[arg-type]
        protocols=frozenset({protocol}),
        user_data=UserData.COOPERATIVE,
    )


def test_an_assignor_that_fails_leaves_everything_and_says_why() -> None:
    analysis = made(classic(10, 1, {"a": Says()}), classic(20, 2, {"a": Says(), "b": Says()}))
    rows = list(what_if(analysis, own(fails)))
    assert [row.error for row in rows[:2]] == ["RuntimeError: no idea"] * 2
    assert [row.rounds for row in rows] == [0, 0, 0]
    assert rows[2].error == "2 generations: RuntimeError: no idea"
    assert {row.error_kind for row in rows} == {"failed"}
    (every,) = total([*rows, *rows])
    assert every.error == f"2 lives of groups, in the first {rows[2].error}"


def test_an_assignor_that_never_rests_is_stopped() -> None:
    analysis = made(
        classic(10, 1, {"a": Says(), "b": Says()}),
        classic(20, 2, {"a": Says(), "b": Says(), "c": Says()}),
    )
    (_, row, _) = what_if(analysis, own(never_rests))
    assert (row.rounds, row.error) == (10, "not settled after 10 rounds")
    assert row.error_kind == "not-settled"


def test_an_eager_assignor_gets_one_round() -> None:
    analysis = made(classic(10, 1, {"a": Says(), "b": Says()}))
    (row, _) = what_if(analysis, own(never_rests, cooperative=False))
    assert (row.rounds, row.error) == (1, None)


@pytest.mark.parametrize(("number", "rounds"), [(2, 0), (5, 1)])
def test_after_missing_generations_the_same_group_is_assigned_again(
    number: int, rounds: int
) -> None:
    """Nobody knows what happened in between, so the second is not taken for a follow-up round."""
    plan = {"a": Says(gets={"t": (0, 1)}), "b": Says(gets={"t": (2, 3)})}
    rows = tried(made(classic(1, 1, plan), classic(9, number, plan)), "optimal/sticky")
    assert [(row.generation, row.rounds) for row in rows] == [(1, 1), (number, rounds)]


def test_sums_add_up(real: dict[str, GroupAnalysis]) -> None:
    rows = [
        row for analysis in real.values() for row in what_if(analysis, assignor_named("sticky"))
    ]
    (every,) = total(rows)
    single = [row for row in rows if row.generation is not None]
    assert (every.group, every.generation) == (EVERY_GROUP, None)
    assert every.moved == sum(row.moved for row in single)
    assert every.actual_rounds == len(single)
    assert every.downtime_partition_ms == sum(row.downtime_partition_ms or 0 for row in single)
    assert every.load_max == max(row.load_max for row in single)


def test_share_and_streams_groups_are_left_out(real: dict[str, GroupAnalysis]) -> None:
    assert tried(real["shop.35-share"], "sticky") == []
    assert tried(real["shop.36-ks-streams"], "sticky") == []


def test_inferred_counts_are_marked(real: dict[str, GroupAnalysis]) -> None:
    known = real["shop.01-java44"]
    assert not any(row.counts_inferred for row in tried(known, "sticky"))
    inferred = replace(known, inferred_topics=frozenset({"orders"}))
    assert any(row.counts_inferred for row in tried(inferred, "sticky"))
