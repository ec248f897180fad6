"""A leader writes the answers of Kafka's copies from arrays, as it writes mappings."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Assignor, Cluster, Group, JavaFailure, Rebalance, lead
from assignors.group_bytes.assignments import Assigned
from assignors.leader import REPAIR, _assignments
from assignors.registry import ASSIGNORS
from tests.foreign.convert import NAMES, group_of
from tests.group_bytes.blobs import CLUSTERS, groups_of_bytes

COPIES = [assignor for assignor in ASSIGNORS.values() if assignor.keeps_lists]
TESTS = Path(__file__).parents[1]


def with_mappings(assignor: Assignor) -> Assignor:
    """The same assignor, whose answers are plain mappings."""
    assign = assignor.configured(REPAIR).assign

    def plain(group: Group) -> Rebalance:
        answer = assign(group)
        return replace(answer, assignment=dict(answer.assignment))

    return replace(assignor, assign=plain, configure=None)


@given(blobs=groups_of_bytes(), cluster=CLUSTERS, assignor=st.sampled_from(COPIES))
def test_bytes_of_arrays_are_those_of_mappings(
    blobs: dict[str, bytes], cluster: Cluster, assignor: Assignor
) -> None:
    led = lead(assignor, cluster, blobs)
    plain = lead(with_mappings(assignor), cluster, blobs)
    assert led.assignments == plain.assignments
    assert list(led.rebalance.assignment) == list(plain.rebalance.assignment)
    assert led.rebalance.assignment == plain.rebalance.assignment
    # Each of these shows what everybody gets.
    assert repr(dict(plain.rebalance.assignment)) in repr(led.rebalance.assignment)


def vectors() -> Iterator[dict[str, Any]]:
    """The groups of all vectors: with partitions given twice, beyond the topic, not asked for."""
    with gzip.open(TESTS / "vectors" / "kafka-4.4.0.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
    yield from map(json.loads, (TESTS / "java" / "found.jsonl").read_text().splitlines())


@pytest.mark.parametrize("algorithm", sorted(NAMES))
def test_answers_to_the_vectors_are_written_alike(algorithm: str) -> None:
    written, on_arrays = 0, 0
    for case in vectors():
        if case.get("in", {}).get("algo") != algorithm:
            continue
        group = group_of(case["in"])
        with suppress(JavaFailure):
            answer = ASSIGNORS[NAMES[algorithm]].assign(group)
            blobs = _assignments(group.members, answer.assignment)
            expected = _assignments(group.members, dict(answer.assignment))
            assert blobs == expected
            written += 1
            on_arrays += isinstance(answer.assignment, Assigned)
    assert written > 20
    assert on_arrays > written / 2 or algorithm == "srv-simple"
