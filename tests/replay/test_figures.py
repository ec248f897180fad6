"""Figures of generations and inferred counts, against slow ways to count."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.ownership.changes import pairs
from assignors.replay.analysis.figures import Figures, figures, stopped_count
from assignors.replay.engines.python import replay_records
from assignors.replay.history.fold import group_history, histories
from assignors.replay.history.model import Generation, Kind, Participant
from assignors.replay.history.partition_counts import counts_of, inferred_counts
from assignors.replay.report import page
from tests.replay.histories import Says, captured, classic, commit, in_order

Plan = dict[str, dict[str, tuple[int, ...]]]

COUNTS = {"t": 3, "u": 1}
PLACES = [("t", 0), ("t", 1), ("t", 2), ("u", 0)]


def generation(number: int, plan: Plan, protocol: str = "range") -> Generation:
    """A generation whose members all ask for `t`, and for `u` unless they are called b."""
    members = tuple(
        Participant(
            member_id=m,
            topics=("t",) if m == "b" else ("t", "u"),
            assigned=share,
            subscription_version=3,
        )
        for m, share in plan.items()
    )
    return Generation(
        number=number, at_ms=number, state="Stable", members=members, protocol=protocol
    )


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Who has which of the four partitions, lawfully; some may be with nobody."""
    members = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
    plan: dict[str, dict[str, list[int]]] = {m: {} for m in members}
    for topic, number in PLACES:
        able = [m for m in members if topic == "t" or m != "b"]
        chosen = draw(st.sampled_from([*able, None]))
        if chosen is not None:
            plan[chosen].setdefault(topic, []).append(number)
    return {m: {t: tuple(n) for t, n in share.items()} for m, share in plan.items()}


def owner_of(plan: Plan) -> dict[tuple[str, int], str]:
    """Partition -> member."""
    return {place: m for m, share in plan.items() for place in pairs(share)}


def best_by_trial(members: list[str], had: dict[tuple[str, int], str]) -> tuple[int, int]:
    """Least sum of squared loads, and the fewest moves among such plans, by trying them all."""
    able: list[list[str | None]] = [
        [m for m in members if place[0] == "t" or m != "b"] for place in PLACES
    ]
    choices = [members_able or [None] for members_able in able]
    tried = []
    for owners in product(*choices):
        given_to = dict(zip(PLACES, owners, strict=True))
        loads = [sum(owner == m for owner in owners) for m in members]
        moves = sum(
            1
            for place, old in had.items()
            if old in members and (place[0] == "t" or old != "b") and given_to[place] != old
        )
        tried.append((sum(load * load for load in loads), moves))
    return min(tried)


@given(plans(), plans())
def test_moves_and_balance_are_counted_as_by_trying_every_plan(then: Plan, now: Plan) -> None:
    counted = figures(Kind.CLASSIC, generation(2, now), generation(1, then), COUNTS)
    had, have = owner_of(then), owner_of(now)
    assert counted.moved == sum(
        1 for place, old in had.items() if old in now and have.get(place) != old
    )
    assert counted.lost == len(had.keys() - have.keys())
    squares, moves = best_by_trial(sorted(now), had)
    assert counted.moved_minimum == moves
    free = [place for place in PLACES if place not in have]
    could_be_given = [place for place in free if place[0] == "t" or set(now) - {"b"}]
    assert sorted(pairs(counted.unassigned)) == sorted(could_be_given)
    loads = [sum(1 for owner in have.values() if owner == m) for m in now]
    if could_be_given:
        assert counted.balance_gap is None
    else:
        assert counted.balance_gap == sum(load * load for load in loads) - squares
    assert (counted.load_min, counted.load_max) == (min(loads), max(loads))
    assert set(counted.joined) == now.keys() - then.keys()
    assert set(counted.left) == then.keys() - now.keys()


@given(plans())
def test_a_fair_share_is_never_outside_of_what_the_best_plan_gives(now: Plan) -> None:
    fair = figures(Kind.CLASSIC, generation(1, now), None, COUNTS).fair
    assert set(fair) == set(now)
    assert all(0 <= least <= most <= 4 for least, most in fair.values())
    if "b" in now:
        assert fair["b"][1] <= 3


def test_a_static_member_has_its_share_under_a_new_id_until_it_is_taken() -> None:
    old = Participant(member_id="a-1", instance_id="a", topics=("t",), assigned={"t": (0, 1, 2)})
    new = Participant(member_id="a-2", instance_id="a", topics=("t",), assigned={"t": (0,)})
    first = Generation(number=1, at_ms=1, state="Stable", members=(old,))
    second = Generation(number=2, at_ms=2, state="Stable", members=(new,))
    counted = figures(Kind.CLASSIC, second, first, {"t": 3})
    assert (counted.moved, counted.waiting) == (2, {"t": (1, 2)})
    assert counted.joined == ("a-2",)


@pytest.mark.parametrize(
    ("is_cooperative", "count"),
    [(False, 4), (True, 3)],
)
def test_an_eager_round_stops_everything_and_a_cooperative_one_what_moves(
    is_cooperative: bool,  # noqa: FBT001 - a parameter of the test
    count: int,
) -> None:
    then = {"a": {"t": (0, 1, 2)}}
    now = {"a": {"t": (0,)}, "b": {"t": (1,), "u": (0,)}}
    waiting = 1
    assert stopped_count(now, then, waiting, is_cooperative=is_cooperative) == count


def test_a_share_group_has_loads_and_no_moves() -> None:
    both: Plan = {"a": {"t": (0, 1)}, "b": {"t": (0, 1)}}
    counted = figures(Kind.SHARE, generation(2, both), generation(1, both), COUNTS)
    assert (counted.moved_minimum, counted.double, counted.load_max) == (None, (), 2)


def test_a_partition_in_two_plans_is_double() -> None:
    both: Plan = {"a": {"t": (0, 1)}, "b": {"t": (1, 2)}}
    assert figures(Kind.CLASSIC, generation(1, both), None, COUNTS).double == (("t", 1),)


def test_nobody_is_no_trouble() -> None:
    assert figures(Kind.CLASSIC, generation(1, {}), None, COUNTS) == Figures()


def test_counts_are_what_was_dealt_without_a_hole_to_those_who_asked() -> None:
    """A leader gave 99 of a topic with 3 partitions, and a topic that its member never named."""
    entries = in_order(
        [
            classic(1, 1, {"a": Says(gets={"t": (0, 1, 2, 99), "nope": (0,)})}),
            commit(2, "v", 4, 17),
            commit(3, "w", 1, None),
        ]
    )
    assert inferred_counts(group_history("g", entries)) == {"t": 3, "v": 5, "w": 2}


def test_what_is_known_is_not_inferred() -> None:
    entries = in_order([classic(1, 1, {"a": Says(gets={"t": (0, 1), "u": (0,)})})])
    counts, inferred = counts_of(group_history("g", entries), {"t": 6})
    assert (counts, inferred) == ({"t": 6}, frozenset())
    asked = in_order([classic(1, 1, {"a": Says(gets={"u": (0,)}, topics=("t", "u"))})])
    counts, inferred = counts_of(group_history("g", asked), {"t": 6})
    assert (counts, inferred) == ({"u": 1, "t": 6}, frozenset({"u"}))


def test_counts_of_a_real_topic_are_found_by_every_group_that_was_dealt_all_of_it() -> None:
    known = {"orders": 6, "payments": 4, "clicks.v2": 3, "tiny": 1}
    seen = 0
    for history in histories(captured("real")):
        if history.group.startswith(("shop.0", "shop.1")):
            counts = inferred_counts(history)
            assert all(counts[topic] == known[topic] for topic in counts)
            seen += len(counts)
    assert seen > 50


@pytest.mark.parametrize("name", ["real", "java-plans"])
def test_no_more_moves_were_unnecessary_than_happened(name: str) -> None:
    """The page had a minimum beside the moves: of several uneven groups it was above them."""
    tables = replay_records(captured(name))
    uneven = [row for row in tables.generations if row.balance_gap]
    assert any((row.moved_minimum or 0) > row.moved for row in uneven)
    text = page(tables, title=name)
    moves, unnecessary = re.findall(
        r"<dt>moves</dt><dd>([\d,]+)<small>([\d,]+) unnecessary</small>", text
    )[0]
    needless = [row.moved - min(row.moved, row.moved_minimum or 0) for row in tables.generations]
    known = [row.moved_minimum is not None for row in tables.generations]
    expected = sum(count for count, is_known in zip(needless, known, strict=True) if is_known)
    assert int(unnecessary.replace(",", "")) == expected
    assert 0 < expected <= int(moves.replace(",", ""))
    assert "(minimum" not in text
    for row in tables.findings:
        if row.kind == "needless-moves":
            moved = sum(one.moved for one in tables.generations if one.group == row.group)
            assert row.count <= moved
