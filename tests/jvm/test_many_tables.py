"""Many tables at once are each ordered as alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors.jvm.hash_order import compute_order
from assignors.jvm.hash_trees import tree_order
from assignors.jvm.many_tables import compute_orders, put_order, put_orders

NUMBERS = st.lists(st.integers(-(2**31), 2**31 - 1), unique=True, min_size=1, max_size=60)
STRIDED = st.builds(
    lambda steps, step: [step * n for n in steps],
    st.lists(st.integers(0, 200), unique=True, min_size=1, max_size=70),
    st.sampled_from([1, 16, 32, 64, 128]),
)


def joined(tables: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.repeat(np.arange(len(tables)), [len(keys) for keys in tables])
    return table, np.array([key for keys in tables for key in keys], dtype=np.int32)


@given(tables=st.lists(NUMBERS | STRIDED, min_size=1, max_size=4))
def test_sets_are_walked_through_as_one_by_one(tables: list[list[int]]) -> None:
    order = put_orders(*joined(tables)).tolist()
    start, expected = 0, []
    for keys in tables:
        alone = tree_order(np.array(keys, dtype=np.int32), capacity=16)
        assert put_order(np.array(keys, dtype=np.int32)).tolist() == alone.tolist()
        expected += [start + place for place in alone.tolist()]
        start += len(keys)
    assert order == expected


@given(tables=st.lists(st.tuples(NUMBERS, st.booleans()), min_size=1, max_size=4))
def test_maps_are_walked_through_as_one_by_one(tables: list[tuple[list[int], bool]]) -> None:
    follows = np.array([follow for _, follow in tables])
    order = compute_orders(*joined([keys for keys, _ in tables]), calls_follow=follows).tolist()
    start, expected = 0, []
    for keys, follow in tables:
        alone = compute_order(np.array(keys, dtype=np.int32), calls_follow=follow)
        expected += [start + place for place in alone.tolist()]
        start += len(keys)
    assert order == expected


def test_small_maps_that_crowd_double_early() -> None:
    """Eight keys of one bucket in a table of sixteen."""
    keys = [32 * n for n in range(8)] + [16]
    for follow in (False, True):
        order = compute_orders(*joined([keys]), calls_follow=np.array([follow])).tolist()
        alone = compute_order(np.array(keys, dtype=np.int32), calls_follow=follow)
        assert order == alone.tolist()
        assert [keys[place] for place in order][-1] == 16


def test_without_keys_there_is_no_order() -> None:
    assert put_orders(*joined([])).tolist() == []
    assert put_order(np.array([], dtype=np.int32)).tolist() == []
