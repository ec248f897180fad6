"""Orders of a few keys on lists are those that the arrays give."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.jvm import hash_order, many_tables
from assignors.jvm.few_keys import (
    NAMES_MAX,
    in_set_order,
    order_of_computed,
    order_of_names,
    order_of_put,
)
from assignors.jvm.hash_order import spread_of, string_hash, string_hashes, uuid_hash, uuid_hashes
from assignors.jvm.hash_trees import name_order

HASHES = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=60, unique=True)
CROWDED = st.lists(st.integers(0, 80).map(lambda n: 16 * n), max_size=60, unique=True)
NAMES = st.lists(
    st.one_of(st.text(max_size=5), st.text("ab", max_size=6), st.sampled_from(["Aa", "BB"] * 9)),
    max_size=60,
    unique=True,
)
COLLIDING = st.lists(
    st.lists(st.sampled_from(["Aa", "BB"]), min_size=4, max_size=4).map("".join),
    max_size=16,
    unique=True,
)
"""Names of one hash code: `Aa` and `BB` have the same one."""


@given(text=st.text(max_size=200))
def test_a_hash_code_is_the_polynomial_of_its_code_units(text: str) -> None:
    assert [string_hash(text)] == string_hashes([text]).tolist()


@given(high=st.integers(-(2**63), 2**63 - 1), low=st.integers(-(2**63), 2**63 - 1))
def test_the_hash_code_of_an_id_is_that_of_the_arrays(high: int, low: int) -> None:
    assert [uuid_hash(high, low)] == uuid_hashes(np.array([high]), np.array([low])).tolist()


@given(names=st.one_of(NAMES, COLLIDING))
def test_names_come_in_the_order_of_the_arrays(names: list[str]) -> None:
    assert order_of_names(names) == name_order(names).tolist()


def test_names_of_every_count_do_and_those_that_make_a_tree_of_a_long_table() -> None:
    names = [f"member-{number}" for number in range(2_000)]
    together = [name for name in names if spread_of(string_hash(name)) % 64 == 5][:20]
    for count in range(1, NAMES_MAX + 10):
        crowded = [*dict.fromkeys([*names[:count], *together[: count - 1]])]
        for some in (names[:count], crowded):
            assert order_of_names(some) == name_order(some).tolist()


@given(hashes=st.one_of(HASHES, CROWDED), capacity=st.integers(0, 70))
def test_keys_that_were_put_do(hashes: list[int], capacity: int) -> None:
    expected = hash_order.put_order(np.array(hashes, dtype=np.int32), capacity=capacity)
    assert order_of_put(hashes, capacity=capacity) == expected.tolist()


@given(hashes=st.one_of(HASHES, CROWDED).filter(bool), calls_follow=st.booleans())
def test_keys_that_were_computed_do(hashes: list[int], *, calls_follow: bool) -> None:
    keys = np.array(hashes, dtype=np.int32)
    expected = hash_order.compute_order(keys, calls_follow=calls_follow)
    assert order_of_computed(hashes, calls_follow=calls_follow) == expected.tolist()


@pytest.mark.parametrize("calls_follow", [False, True])
def test_keys_of_every_count_come_in_the_order_of_a_table_of_their_size(
    *, calls_follow: bool
) -> None:
    """At 13 and 25 keys another call makes a table twice as long."""
    for count in range(1, 40):
        hashes = [(7919 * number + count) % 1000 for number in range(count)]
        keys = np.array(hashes, dtype=np.int32)
        expected = hash_order.compute_order(keys, calls_follow=calls_follow).tolist()
        assert order_of_computed(hashes, calls_follow=calls_follow) == expected
        assert order_of_put(hashes) == hash_order.put_order(keys).tolist()


@given(numbers=st.one_of(CROWDED, st.lists(st.integers(0, 100_000), max_size=60, unique=True)))
def test_numbers_of_a_set_do(numbers: list[int]) -> None:
    order = many_tables.put_order(np.array(numbers, dtype=np.int32)).tolist()
    assert in_set_order(numbers) == [numbers[place] for place in order]
