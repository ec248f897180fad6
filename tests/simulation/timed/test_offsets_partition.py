"""The partition of a group's records: Java's own answers, and the rule said in another way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.offsets_partition import offsets_partition

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "vectors" / "offsets_partition.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda each: ascii(each["group"]))
def test_a_group_has_the_partition_that_kafkas_own_classes_give_it(
    vector: dict[str, object],
) -> None:
    group, partitions = vector["group"], vector["partitions"]
    assert isinstance(group, str)
    assert isinstance(partitions, dict)
    found = {count: offsets_partition(group, int(count)) for count in partitions}
    assert found == partitions


@given(st.text(max_size=20), st.integers(1, 1000))
def test_the_hash_is_that_of_the_units_one_by_one(group: str, count: int) -> None:
    number = 0
    for character in group:
        for unit in memoryview(character.encode("utf-16-le")).cast("H"):
            number = (number * 31 + unit) % 2**32
    signed = number if number < 2**31 else number - 2**32
    expected = 0 if signed == -(2**31) else abs(signed)
    assert offsets_partition(group, count) == expected % count


def test_a_topic_without_partitions_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one partition, not 0"):
        offsets_partition("g", 0)
