"""Prices against what they promise: every best assignment obeys them, whoever found it."""

from __future__ import annotations

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.optimal import prices as module
from assignors.optimal.prices import Prices, prices
from assignors.optimal.rows import topic_rows
from assignors.problem import Int64
from tests.optimal.groups import SHAPES, Arrays, group, tiny_groups


def priced(made: Arrays) -> tuple[Prices, Int64]:
    """Return the prices of a group and the load of each member in its best assignment."""
    row_of_topic, row_takes = topic_rows(made.first, made.takes, made.class_of)
    wanted = row_of_topic >= 0
    size = np.bincount(
        row_of_topic[wanted], weights=np.diff(made.first)[wanted], minlength=len(row_takes)
    ).astype(np.int64)
    member_count = np.bincount(made.class_of, minlength=len(made.takes))
    answer = made.solve().owner
    load = np.bincount(answer[answer >= 0], minlength=made.member_count)
    found = prices(size=size, takes=row_takes, member_count=member_count)
    assert found is not None
    for partition in np.flatnonzero(answer >= 0).tolist():
        row = row_of_topic[made.topic_of[partition]]
        assert found.of_row[row] == found.of_class[made.class_of[answer[partition]]]
    return found, load


@given(tiny_groups())
def test_loads_are_the_price_or_one_less(made: Arrays) -> None:
    found, load = priced(made)
    price = found.of_class[made.class_of]
    assert ((load == price) | (load == np.maximum(price - 1, 0))).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_loads_are_the_price_or_one_less_in_larger_groups(shape: str) -> None:
    for seed, owners in product(range(25), ("nobody", "skewed")):
        made = group(seed, member_max=40, topic_max=20, size_max=20, shape=shape, owners=owners)
        found, load = priced(made)
        price = found.of_class[made.class_of]
        assert ((load == price) | (load == np.maximum(price - 1, 0))).all()


@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 3), st.integers(0, 2)), max_size=6),
)
def test_classes_that_share_no_topic_have_the_prices_that_flows_find(
    mean: int, buckets: list[tuple[int, int, int]]
) -> None:
    members = np.array([1 + count for _, count, _ in buckets] * 2, dtype=np.int64)
    each = len(buckets)
    # Each topic has two classes, of which the second may have no members or take another topic.
    takes = np.tile(np.eye(each, dtype=np.bool_), 2)
    members[each:] -= 1
    for number, (_, _, other) in enumerate(buckets):
        takes[(number + (other == 2)) % each, each + number] = True
    size = np.array([max(1, members[takes[row]].sum() * mean + more)
                     for row, (more, _, _) in enumerate(buckets)], dtype=np.int64)  # fmt: skip
    found = prices(size=size, takes=takes, member_count=members)
    with patch.object(module, "_are_separate_at", return_value=False):
        expected = prices(size=size, takes=takes, member_count=members)
    assert found is not None
    assert expected is not None
    assert found.of_class.tolist() == expected.of_class.tolist()
    assert found.of_row.tolist() == expected.of_row.tolist()


def test_a_crowded_topic_and_a_quiet_one_have_their_own_prices() -> None:
    found = prices(
        size=np.array([9, 2]),
        takes=np.array([[True, False], [False, True]]),
        member_count=np.array([1, 2]),
    )
    assert found is not None
    assert found.of_class.tolist() == [9, 1]
    assert found.level_count == 2


def test_classes_without_members_or_topics_have_no_price() -> None:
    found = prices(
        size=np.array([4]),
        takes=np.array([[True, False, True]]),
        member_count=np.array([2, 3, 0]),
    )
    assert found is not None
    assert found.of_class.tolist() == [2, 0, 0]
