"""Free partitions: shared out in plain Python as in numpy; among kinds of members the most."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.optimal.flow import pour
from assignors.optimal.flow.kinds import most_placed
from assignors.optimal.flow.pour import row_weights, spread
from assignors.optimal.flow.shares import FINE, chosen_shares, share_few, share_many
from tests.conftest import cases
from tests.optimal.groups import SHAPES, group, with_racks
from tests.optimal.workloads import workload


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, FINE)), max_size=9),
    st.integers(1, 300),
    st.booleans(),
)
def test_few_and_many_get_the_same_shares(
    members: list[tuple[int, int]],
    amount: int,
    is_counted: bool,  # noqa: FBT001 - drawn
) -> None:
    room = [one for one, _ in members]
    left = [rows for _, rows in members] if is_counted else None
    few = share_few(room, amount, left)
    lefts = None if left is None else np.array(left, dtype=np.int64)
    many = share_many(np.array(room, dtype=np.int64), amount, lefts)
    assert few == many.tolist()
    assert sum(few) == min(amount, sum(room))
    assert all(0 <= share <= most for share, most in zip(few, room, strict=True))
    if left is None:
        some, given = chosen_shares(np.array(room, dtype=np.int64), amount, sum(room))
        assert dict(zip(some.tolist(), given.tolist(), strict=True)) == {
            place: share for place, share in enumerate(few) if share
        }


def test_who_can_take_less_of_the_rows_left_gets_more_of_this_one() -> None:
    assert share_few([4, 4], 4, [1, 3]) == [3, 1]


def test_a_fresh_group_with_a_random_half_of_ten_topics_is_poured_whole() -> None:
    made = dict(workload("Hb 100 x 1000 / 10"))["fresh"]
    assert made.solve().ways == 0


@st.composite
def turns(
    draw: st.DrawFn,
) -> tuple[list[int], list[list[int]], list[list[int]], list[int]]:
    """Draw how much there is of rows, who takes them, what room counts, and the room."""
    room = draw(st.lists(st.integers(0, 9), min_size=1, max_size=6))
    members = st.lists(st.sampled_from(range(len(room))), unique=True, min_size=1).map(sorted)
    takers = draw(st.lists(members, max_size=5))
    amounts = [draw(st.integers(1, 40)) for _ in takers]
    return amounts, takers, row_weights_of(takers, len(room)), room


def row_weights_of(takers: list[list[int]], member_count: int) -> list[list[int]]:
    flat = np.array([member for members in takers for member in members], dtype=np.int64)
    weights = iter(row_weights(flat, member_count).tolist())
    return [[next(weights) for _ in members] for members in takers]


@given(turns())
def test_rows_in_turn_give_what_there_is_room_for(
    case: tuple[list[int], list[list[int]], list[list[int]], list[int]],
) -> None:
    amounts, takers, weights, room = case
    for place, members in enumerate(takers):
        lefts = [sum(member in later for later in takers[place:]) for member in members]
        assert weights[place] == [pour.PARTS // left for left in lefts]
    left = room.copy()
    shares = spread(amounts, takers, weights, room)
    for amount, members, given_to in zip(amounts, takers, shares, strict=True):
        assert all(0 <= share <= left[m] for m, share in zip(members, given_to, strict=True))
        assert sum(given_to) == min(amount, sum(left[member] for member in members))
        for member, share in zip(members, given_to, strict=True):
            left[member] -= share
    assert left == room


@pytest.mark.parametrize("event", ["fresh", "replace"])
def test_many_rows_that_few_members_take_leave_little_to_search(event: str) -> None:
    made = dict(workload("Hc 500 x 3000 / 60"))[event]
    assert made.solve().ways <= (10 if event == "fresh" else 175)


@pytest.mark.parametrize("shape", SHAPES)
def test_few_members_are_poured_to_as_many_are(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(25):
        owners = "nobody" if seed % 3 == 0 else "random"
        made = group(seed, member_max=20, topic_max=8, size_max=9, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=3) if seed % 2 else made
        answers = []
        for few in (0, 1 << 30):
            monkeypatch.setattr(pour, "FEW", few)
            answers.append(made.solve().owner.tolist())
        assert answers[0] == answers[1]


@cases(100)
@given(st.data())
def test_the_most_is_placed_that_kinds_of_members_have_room_for(data: st.DataObject) -> None:
    kind_count = data.draw(st.integers(1, 4))
    kinds = st.lists(st.sampled_from(range(kind_count)), unique=True)
    takes = data.draw(st.lists(kinds, min_size=1, max_size=4))
    few = st.integers(0, 9)
    rooms = st.lists(few, min_size=kind_count, max_size=kind_count)
    must, may, spare = data.draw(rooms), data.draw(rooms), data.draw(st.integers(0, 20))
    supply = data.draw(st.lists(few, min_size=len(takes), max_size=len(takes)))
    given_to = most_placed(supply, takes, must=must, may=may, spare=spare)
    by_kind = list(map(sum, zip(*given_to, strict=True)))
    assert all(sum(row) <= amount for row, amount in zip(given_to, supply, strict=True))
    assert all(got <= one + other for got, one, other in zip(by_kind, must, may, strict=True))
    assert sum(max(got - one, 0) for got, one in zip(by_kind, must, strict=True)) <= spare
    for row, amounts in enumerate(given_to):
        assert min(amounts) >= 0
        assert {kind for kind, amount in enumerate(amounts) if amount} <= set(takes[row])

    def cut(beyond: list[int]) -> int:
        """Return the least that some rows and the kinds that take the others let through."""
        return min(
            sum(amount for row, amount in enumerate(supply) if row not in rows)
            + sum(
                must[kind] + beyond[kind] for kind in {kind for row in rows for kind in takes[row]}
            )
            for size in range(len(takes) + 1)
            for rows in combinations(range(len(takes)), size)
        )

    assert sum(map(sum, given_to)) == min(cut([0] * kind_count) + spare, cut(may))


def test_where_every_partition_can_be_local_nothing_has_to_be_searched() -> None:
    phases = {event: made.solve().phases for event, made in workload("R2 1000 x 10000 / 100")}
    assert phases == {"fresh": 0, "leave": 0, "join": 0, "replace": 0, "grow": 0}
