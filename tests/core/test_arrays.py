"""Partitions by topic become arrays as they stand, whatever the lists are like."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.arrays import INT64, partition_arrays

NUMBERS = st.integers(-2, 9) | st.sampled_from([2**63 - 1, 2**63, -(2**63) - 1, 2**80])
LISTS = st.lists(NUMBERS, min_size=1, max_size=1) | st.lists(NUMBERS, max_size=3)
OWNED = st.dictionaries(st.sampled_from("tuvw"), LISTS.map(tuple), max_size=3)


@given(st.lists(OWNED, max_size=4))
def test_lists_become_arrays_in_their_order(by_member: list[dict[str, tuple[int, ...]]]) -> None:
    index = {"t": 0, "u": 1, "v": 2}
    found = partition_arrays(by_member, index)
    lists = [
        (member, index[topic], numbers)
        for member, owned in enumerate(by_member)
        for topic, numbers in owned.items()
        if topic in index
    ]
    assert found.member.tolist() == [member for member, _, _ in lists]
    assert found.topic.tolist() == [topic for _, topic, _ in lists]
    assert found.length.tolist() == [len(numbers) for _, _, numbers in lists]
    least, most = int(INT64.min), int(INT64.max)
    clipped = [min(max(number, least), most) for _, _, numbers in lists for number in numbers]
    assert found.number.tolist() == clipped


@pytest.mark.parametrize("lists", [[(1,), (2, 3), (4,)], [(1,), (), (4,)], [(1,), (2,)]])
def test_lists_of_one_number_are_read_as_others_are(lists: list[tuple[int, ...]]) -> None:
    found = partition_arrays(
        [{str(n): numbers for n, numbers in enumerate(lists)}],
        {"0": 0} | {str(n): n for n in range(3)},
    )
    assert found.length.tolist() == list(map(len, lists))
    assert np.array_equal(found.number, [number for numbers in lists for number in numbers])
