"""Names of every length and any number of partitions are read together, and as they are alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.group_bytes.lock_step import PAD
from assignors.group_bytes.members import ReadMembers
from assignors.group_bytes.names import find, name_table
from assignors.group_bytes.subscriptions import read_members
from assignors.model import Member
from tests.conftest import cases
from tests.group_bytes.test_subscriptions import always_together, one_by_one, subscription

LENGTHS = (1, 5, 6, 7, 8, 9, 40, 63, 64, 65, 71, 72, 73, 128, 249)
"""Around a word of eight bytes, and around what is read at once."""
COUNTS = (1, 2, 255, 256, 257, 1000)
"""Around what one byte of a count says."""
WIDE = 1 << 16


def name(length: int, kind: int = 0) -> str:
    """Return a name that differs from others of its length and kin in its last byte alone."""
    return "x" * (length - 1) + "abc"[kind]


def read(blobs: dict[str, bytes]) -> Sequence[Member]:
    """Return members read together, if they can be."""
    with always_together():
        return read_members(blobs)


@cases(30)
@given(
    st.lists(
        st.dictionaries(
            st.builds(name, st.sampled_from(LENGTHS), st.integers(0, 2)),
            st.sampled_from(COUNTS),
            min_size=1,
            max_size=6,
        ),
        min_size=2,
        max_size=5,
    )
)
def test_members_with_any_names_and_counts_are_read_together(owned: list[dict[str, int]]) -> None:
    blobs = {
        f"m{number}": subscription(
            topics=tuple(counts),
            owned={topic: tuple(range(count)) for topic, count in counts.items()},
            generation=4,
        )
        for number, counts in enumerate(owned)
    }
    found = read(blobs)
    assert isinstance(found, ReadMembers)
    assert found == one_by_one(blobs)


@pytest.mark.parametrize("length", [255, 256, 256 + 40])
def test_a_group_with_a_name_longer_than_brokers_allow_is_read_in_turn(length: int) -> None:
    long: dict[str, tuple[int, ...]] = {name(length): (0,), "a": (1,)}
    owned: list[dict[str, tuple[int, ...]]] = [{"a": (0,), "b": (1,)}, long, {"ab": (1, 2)}]
    blobs = {
        f"m{number}": subscription(topics=tuple(each), owned=each)
        for number, each in enumerate(owned)
    }
    found = read(blobs)
    assert isinstance(found, ReadMembers) == (length < 256)
    assert found == one_by_one(blobs)


def test_more_partitions_of_a_topic_than_any_cluster_has_are_read_in_turn() -> None:
    counts = (1, WIDE, WIDE - 1)
    blobs = {
        f"m{number}": subscription(owned={"b": tuple(range(count))})
        for number, count in enumerate(counts)
    }
    found = read(blobs)
    assert not isinstance(found, ReadMembers)
    assert found == one_by_one(blobs)


def test_many_names_of_different_lengths_are_found_at_once() -> None:
    known = [name(length, kind).encode() for length in LENGTHS for kind in range(2)]
    dice = np.random.default_rng(7)
    chosen = dice.integers(-1, len(known), 40_000)
    asked = [
        known[number] if number >= 0 else b"y" * (1 + place % 300)
        for place, number in enumerate(chosen.tolist())
    ]
    length = np.array(list(map(len, asked)))
    buffer = b"".join([*asked, bytes(PAD)])
    found = find(name_table(known), buffer, length.cumsum() - length, length)
    assert np.array_equal(found, chosen)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("place", [0, 20])
@pytest.mark.parametrize("topic", ["a", "b"])
def test_a_topic_may_have_any_count_of_numbers_whatever_the_first_one_has(
    topic: str, place: int, count: int
) -> None:
    blobs = {
        f"m{number:02}": subscription(owned={"a": (number, number + 1), "b": (number,)})
        for number in range(60)
    }
    owned = {"a": (1,), "b": (1,), topic: tuple(range(count))}
    blobs[f"m{place:02}"] = subscription(owned=owned)
    assert read_members(blobs) == one_by_one(blobs)
