"""What is kept of the last run is consistent, and what contenders read and write is right."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.peers.contenders import BY_NAME, CONTENDERS, Contender
from tests.benchmarks.peers.floors import PEER, TIMES, states
from tests.benchmarks.peers.group_files import (
    COOPERATIVE,
    EAGER,
    GENERATION,
    member_id,
    name_of_any_length,
    read_group,
    topic_name,
    write_group,
    write_workload,
)
from tests.benchmarks.peers.measure import quality_rows
from tests.benchmarks.peers.results import FOLDER, Results, Row, load
from tests.benchmarks.peers.tables import summary
from tests.conformance.peers import GO
from tests.conftest import need
from tests.foreign.jars import missing_tools
from tests.optimal.groups import OWNERS, SHAPES, group, with_racks
from wire import TopicPartitions, decode_sticky_user_data, decode_subscription

ROOT = FOLDER.parent.parent.parent


def test_the_page_shows_the_kept_results() -> None:
    assert summary(load()) in (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("owners", OWNERS)
def test_a_group_is_read_as_it_was_written(shape: str, owners: str, tmp_path: Path) -> None:
    made = group(1, member_max=8, topic_max=5, size_max=9, shape=shape, owners=owners)
    # Members have racks; sets of replicas of different sizes are nothing a file can say.
    made = replace(with_racks(made, 1, rack_max=3), replica_set=None)
    numbers = [3 * number for number in range(made.member_count)]
    for protocol, named in product((COOPERATIVE, EAGER), (topic_name, name_of_any_length)):
        path = tmp_path / f"group.{protocol}"
        write_group(path, made, numbers, generation=GENERATION, named=named)
        read = read_group(path)
        assert read.member_ids == [member_id(number) for number in numbers]
        assert read.owner.tolist() == made.owner.tolist()
        assert list(read.topics.values()) == np.diff(made.first).tolist()
        for number, blob in enumerate(read.blobs):
            decoded = decode_subscription(blob)
            assert not decoded.notes
            assert decoded.value is not None
            takes = np.flatnonzero(made.takes[made.class_of[number]]).tolist()
            assert decoded.value.topics == tuple(map(named, takes))
            claims = decode_sticky_user_data(decoded.value.user_data).value
            assert claims is not None
            said = decoded.value.owned if protocol == COOPERATIVE else claims.owned
            assert partitions(said, read.topics) == np.flatnonzero(made.owner == number).tolist()


def partitions(said: TopicPartitions, topics: dict[str, int]) -> list[int]:
    """Return the numbers of partitions in the numbering of all."""
    first = dict(zip(topics, np.cumsum([0, *topics.values()]).tolist(), strict=False))
    return sorted(first[topic] + number for topic in said for number in said[topic])


@pytest.mark.foreign
@pytest.mark.parametrize("name", [each.name for each in CONTENDERS if "plan" in each.stages])
def test_every_contender_balances_equal_subscriptions(name: str, tmp_path: Path) -> None:
    pytest.importorskip("kafka")
    contender: Contender = BY_NAME[name]
    for tool in (*GO.missing_tools(), *missing_tools()):
        need(tool)
    workload = "U 30 x 300 / 3"
    events = ("leave", "fresh", "join", "replace", "grow")
    best = dict(write_workload(tmp_path, workload, events, eager=events))
    found = list(quality_rows(contender, tmp_path, workload, best))
    assert len(found) == len(events)
    assert {entry.balance_gap for entry in found} == {0}
    assert {entry.moves_above for entry in found} == {0}


@pytest.mark.parametrize(("ratio", "holds"), [(1.0, True), (0.99, False)])
def test_a_floor_holds_from_its_ratio_on(ratio: float, *, holds: bool) -> None:
    workload, times = next(iter(TIMES.items()))
    rows = [
        Row(workload=workload, event="leave", contender=name, stage="full", least_ms=spent)
        for name, spent in (("ours", 1.0), (PEER, ratio * times))
    ]
    results = Results(machine="", versions="", date="", limit_s=10, rows=tuple(rows))
    found = [state.is_met for state in states(results)]
    assert found[0] is holds
    assert set(found[1:]) == {None}
