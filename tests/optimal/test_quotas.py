"""Equal subscriptions: the closed form keeps the most, and spreads every topic."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors.optimal.quotas import gains, share
from tests.optimal.groups import Arrays, arrays


def most_kept_by_trial(owned: list[int], partition_count: int) -> int:
    """Return the most that any choice of members for the spares keeps, all of them tried."""
    floor, spare = divmod(partition_count, len(owned))
    return max(
        sum(min(floor + (member in chosen), count) for member, count in enumerate(owned))
        for chosen in combinations(range(len(owned)), spare)
    )


def spread(made: Arrays, given: np.ndarray) -> list[int]:
    """Return for each topic the widest gap between two members."""
    gaps: list[int] = []
    for first, end in zip(made.first, made.first[1:], strict=False):
        held = np.bincount(given[first:end], minlength=made.member_count)
        gaps.append(int(held.max() - held.min()))
    return gaps


@given(st.lists(st.integers(0, 9), min_size=1, max_size=7), st.integers(0, 9))
def test_no_other_choice_of_spares_keeps_more(owned: list[int], unowned: int) -> None:
    partition_count = sum(owned) + unowned
    quota = np.array(owned) + gains(np.array(owned), partition_count)
    assert quota.sum() == partition_count
    assert quota.max() - quota.min() <= 1
    assert np.minimum(quota, owned).sum() == most_kept_by_trial(owned, partition_count)


@given(st.integers(1, 9), st.lists(st.integers(0, 30), min_size=1, max_size=6))
def test_a_fresh_group_is_dealt_round_robin(members: int, sizes: list[int]) -> None:
    made = arrays(sizes, [list(range(len(sizes)))] * members)
    answer = made.solve().owner
    assert answer.tolist() == [partition % members for partition in range(sum(sizes))]
    assert max(spread(made, answer)) <= 1


def test_a_newcomer_gets_some_of_every_topic() -> None:
    made = arrays([100] * 10, [list(range(10))] * 11)
    owner = np.arange(1000, dtype=np.int32) % 10
    answer = share(made.first, owner, 11).owner
    assert np.bincount(made.topic_of[answer == 10]).tolist() == [9] * 9 + [9]


def test_an_over_full_member_gives_up_half_of_each_topic() -> None:
    made = arrays([6, 2], [[0, 1]] * 2)
    answer = share(made.first, np.zeros(8, dtype=np.int32), 2).owner
    assert np.bincount(made.topic_of[answer == 0]).tolist() == [3, 1]


def test_the_extra_one_goes_to_who_owns_most_then_to_the_lower_number() -> None:
    assert gains(np.array([0, 2, 3, 2]), partition_count=10).tolist() == [2, 1, 0, 0]
    assert gains(np.array([1, 1, 1]), partition_count=4).tolist() == [1, 0, 0]


def test_a_large_group_is_the_same_problem() -> None:
    members, partitions = 300, 70_000
    made = arrays([partitions // 2] * 2, [[0, 1]] * members)
    owner = np.arange(partitions, dtype=np.int32) % (members // 2)
    answer = share(made.first, owner, members).owner
    kept = int(np.count_nonzero(answer == owner))
    load = np.bincount(answer, minlength=members)
    assert load.max() - load.min() <= 1
    assert kept == int(np.minimum(np.bincount(owner, minlength=members), load).sum())
