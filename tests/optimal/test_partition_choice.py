"""From counts to partitions: as many as asked, the highest piles first, members in turns."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors.arrays import Int32, Int64
from assignors.optimal.flow.table import narrow
from assignors.optimal.partition_choice import dealt, given_up

PILES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=40).filter(bool)


@st.composite
def givers(draw: st.DrawFn) -> tuple[Int64, Int32, Int64]:
    """Cell and topic of each partition of those that give some up, and how many each cell does."""
    # Partitions ascend by topic, as they do in a group.
    held = sorted(draw(PILES), key=lambda pair: pair[1])
    count = Counter(cell for cell, _ in held)
    drop = np.array([draw(st.integers(0, count[cell])) for cell in range(4)])
    held = [pair for pair in held if drop[pair[0]]]
    cell, topic = np.array(held, dtype=np.int64).reshape(-1, 2).T
    return cell, topic.astype(np.int32), drop


GIVERS = givers().filter(lambda drawn: bool(len(drawn[0])))


@given(GIVERS)
def test_each_cell_gives_up_its_number_from_its_highest_piles(
    drawn: tuple[Int64, Int32, Int64],
) -> None:
    cell, topic, drop = drawn
    chosen = given_up(*drawn)
    assert len(set(chosen.tolist())) == len(chosen)
    assert np.bincount(cell[chosen], minlength=4).tolist() == drop.tolist()
    for giver in range(4):
        before = Counter(topic[cell == giver].tolist())
        gone = Counter(topic[chosen][cell[chosen] == giver].tolist())
        assert after_slow_giving(before, int(drop[giver])) == sorted((before - gone).values())


def test_members_take_turns_at_which_topic_they_give_up_first() -> None:
    """Four members hold one partition of each of four topics: a newcomer gets one of each."""
    cell, topic = np.tile(np.arange(4), 4), np.repeat(np.arange(4, dtype=np.int32), 4)
    chosen = given_up(cell, topic, np.ones(4, dtype=np.int64))
    assert sorted(topic[chosen].tolist()) == [0, 1, 2, 3]
    twice = given_up(cell, topic, np.array([2, 2, 0, 0]))
    assert sorted(topic[twice].tolist()) == [0, 1, 2, 3]


def after_slow_giving(pile: Counter[int], amount: int) -> list[int]:
    """Return the heights left when the highest pile loses one, `amount` times over."""
    left = Counter(pile)
    for _ in range(amount):
        highest = max(left, key=lambda topic: left[topic])
        left[highest] -= 1
    return sorted(height for height in left.values() if height)


gains = st.lists(
    st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=4
).filter(lambda rows: any(map(sum, rows)))


@given(gains)
def test_free_partitions_are_dealt_in_turns(rows: list[list[int]]) -> None:
    expected: list[int] = []
    for row in rows:
        for turn in range(max(row)):
            expected += [member for member, amount in enumerate(row) if amount > turn]
    amounts = np.array(rows, dtype=np.int64)
    of_row, members = amounts.nonzero()
    dealt_out = dealt(of_row, members, amounts[of_row, members], len(rows))
    assert dealt_out.tolist() == expected


def test_numbers_that_do_not_fit_16_bits_are_left_alone() -> None:
    values = np.array([0, 1 << 16])
    assert narrow(values, (1 << 16) + 1) is values
    assert narrow(values[:1], 1 << 16).dtype == np.uint16
