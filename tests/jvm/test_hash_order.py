"""The order of hash tables against a table that is played through, bucket by bucket."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assignors.jvm.hash_order import (
    SMALL,
    HashOrder,
    compute_order,
    copied_set_capacity,
    partition_hashes,
    put_order,
    string_hash,
    string_hashes,
    table_length,
    uuid_hashes,
)

HASHES = st.lists(st.integers(-(2**31), 2**31 - 1), max_size=200, unique=True)


class Table:
    """A hash table of Java's, without trees."""

    def __init__(self, capacity: int = 16) -> None:
        self.buckets: list[list[int]] = [[] for _ in range(table_length(0, capacity))]
        self.size = 0

    def bucket(self, key: int) -> list[int]:
        unsigned = key % 2**32
        return self.buckets[(unsigned ^ unsigned >> 16) % len(self.buckets)]

    def double(self) -> None:
        keys = self.keys()
        self.buckets = [[] for _ in range(2 * len(self.buckets))]
        for key in keys:
            self.bucket(key).append(key)

    def keys(self) -> list[int]:
        return [key for bucket in self.buckets for key in bucket]

    def crowded(self, key: int, crowd: int) -> None:
        if len(self.bucket(key)) >= crowd and len(self.buckets) < 64:
            self.double()

    def put(self, key: int) -> None:
        self.bucket(key).append(key)
        self.crowded(key, 9)
        self.size += 1
        if self.size > len(self.buckets) * 3 / 4:
            self.double()

    def compute(self, key: int) -> None:
        if self.size > len(self.buckets) * 3 / 4:
            self.double()
        if key not in self.bucket(key):
            self.bucket(key).insert(0, key)
            self.crowded(key, 8)
            self.size += 1


def in_order(hashes: list[int], order: np.ndarray) -> list[int]:
    return [hashes[place] for place in order.tolist()]


@given(HASHES, st.integers(1, 300))
@example([16 * number for number in range(9)], 16)
def test_keys_that_were_put_come_back_as_from_the_table(hashes: list[int], capacity: int) -> None:
    table = Table(capacity)
    for key in hashes:
        table.put(key)
    order = put_order(np.array(hashes, dtype=np.int32), capacity=capacity)
    assert in_order(hashes, order) == table.keys()


@given(HASHES, st.integers(1, 300), st.booleans())
@example([16 * number for number in range(8)], 16, False)  # noqa: FBT003 - drawn elsewhere
def test_computed_keys_come_back_as_from_the_table(
    hashes: list[int],
    capacity: int,
    calls_follow: bool,  # noqa: FBT001 - drawn
) -> None:
    table = Table(capacity)
    for key in hashes:
        table.compute(key)
    if calls_follow and hashes:
        table.compute(hashes[0])
    order = compute_order(
        np.array(hashes, dtype=np.int32), calls_follow=calls_follow, capacity=capacity
    )
    assert in_order(hashes, order) == table.keys()


@example([(is_added, key) for is_added in (True, False) for key in range(40)])  # it doubles twice
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 40)), max_size=120))
def test_a_set_that_changes_keeps_its_table(steps: list[tuple[bool, int]]) -> None:
    table, ours = Table(), HashOrder()
    for is_added, key in steps:
        held = key in table.bucket(key)
        if is_added:
            ours.add(key, key)
            if not held:
                table.put(key)
        else:
            ours.remove(key, key)
            if held:
                table.bucket(key).remove(key)
                table.size -= 1
    assert list(ours) == table.keys()
    assert ours.size == table.size


@given(
    st.lists(st.text(max_size=30), max_size=20)
    | st.lists(st.text(min_size=7, max_size=7), max_size=20)
)
def test_text_hashes_as_its_utf16_units(texts: list[str]) -> None:
    for text, found in zip(texts, string_hashes(texts).tolist(), strict=True):
        wanted = 0
        blob = text.encode("utf-16-be", "surrogatepass")
        for unit in range(0, len(blob), 2):
            wanted = (31 * wanted + int.from_bytes(blob[unit : unit + 2], "big")) % 2**32
        assert found % 2**32 == wanted
        assert string_hash(text) == found


def test_hashes_known_from_java() -> None:
    assert string_hash("") == 0
    assert string_hash("polygenelubricants") == -(2**31)
    topic = np.array([string_hash("t")], dtype=np.int32)
    assert partition_hashes(topic, np.array([-1])).tolist() == [31 * 30 + 116]
    high, low = np.array([-1, 0, 1 << 32]), np.array([0, -(2**63), 6])
    assert uuid_hashes(high, low).tolist() == [0, -(2**31), 7]


@pytest.mark.parametrize("size", [0, 1, 11, 12, 13, 24, 48, 96, 100])
def test_the_jdks_size_a_copied_set_apart_for_three_times_a_power_of_two(size: int) -> None:
    older, newer = (table_length(0, copied_set_capacity(size, jdk)) for jdk in (17, 25))
    assert (older != newer) == (size in {12, 24, 48, 96})
    assert SMALL < 49
