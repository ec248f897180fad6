"""Logs of simulated runs and of real clusters, whole, in part and cleaned, read by a coordinator.

The other reader of the same records is `replay`, which has its own code for all of it: what the
command finds in the first n rows is what the coordinator has after reading them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from assignors.model import Cluster
from assignors.ownership.intervals import ownerships
from assignors.replay.sources import Raw, open_source
from assignors.replay.sources.writing import write_records
from assignors.simulation.serving import served
from assignors.simulation.timed.broker import Broker, BrokerSettings
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.execution.port import Entry
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.offsets_topic import LogEntry, TopicNames, log_entries, read_log
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    OffsetCommit,
    OffsetCommitResponse,
)
from assignors.simulation.timed.protocols.kafka.restore import summary
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.scenario_document import document_from_scenario
from assignors.simulation.timed.simulation import simulate
from tests.replay.histories import DATA, state
from tests.simulation.timed.broker.commanded import compare_all, owners, run
from tests.simulation.timed.broker.facts import agrees, log_of
from tests.simulation.timed.broker.test_real_logs import ABORTED, COUNTS
from tests.simulation.timed.execution.log import Log
from tests.test_house import ROOT

SHARED = ROOT.parent / "shared" / "data"
RUNS = [
    (name, protocol)
    for name in ("crash", "rolling-restart", "scale-out", "migration-and-back")
    for protocol in (GroupProtocol.CLASSIC, GroupProtocol.CONSUMER)
    if protocol in GALLERY[name].expected
]


@pytest.mark.parametrize(("name", "protocol"), RUNS)
def test_the_group_of_a_simulated_run_goes_on(name: str, protocol: GroupProtocol) -> None:
    scenario = replace(named(name, seed=2, protocol=protocol), count_from_ms=0)
    played = simulate(scenario, keeps_history=True)
    log = [each for batch in log_entries(played.records, group="g") for each in batch]
    settings = BrokerSettings(cluster=Cluster.of(scenario.topics), seed=9)
    broker = Broker.of(settings)
    assert broker.load(0, log) == []
    live = broker.groups["g"]
    # Who consumed at the end of the run owns it here: the ledger of the run knows no records.
    last = [each for each in ownerships(played.changes) if each.end is None]
    consumed = {(each.topic, each.partition, each.member_id) for each in last}
    group = live.group
    assert group is not None
    clients = {each.member_id: each.client_id for each in group.members.values()}
    assert {(topic, n, clients[who]) for topic, n, who in owners(live)} == consumed
    if isinstance(group, ConsumerGroup):
        for each in list(group.members.values()):
            beat = ConsumerHeartbeat(each.member_id, each.epoch, client_id=each.client_id)
            expected = ConsumerHeartbeatResponse(ErrorCode.NONE, each.member_id, each.epoch)
            assert broker.ask("g", beat) == expected
    else:
        generation = group.generation
        for member_id in list(group.members):
            beaten = broker.ask("g", Heartbeat(member_id, None, generation))
            assert beaten == HeartbeatResponse(ErrorCode.NONE)
            commit = OffsetCommit(member_id, generation, (("orders", 0, 1),))
            assert broker.ask("g", commit) == OffsetCommitResponse(ErrorCode.NONE)


@pytest.mark.parametrize(("at", "model"), list(enumerate(POLICIES)))
def test_the_log_of_a_run_under_each_model_is_read_by_both(
    at: int, model: str, tmp_path: Path
) -> None:
    path = tmp_path / ("run.jsonl", "run.parquet", "run")[at % 3]
    protocol = ("classic", "consumer")[at % 2]
    file = tmp_path / "crash.json"
    document = document_from_scenario(named("crash"))
    file.write_text(json.dumps({**document, "broker": {"execution": {"model": model}}}))
    (result,) = run("simulate", str(file), "--protocol", protocol, "--log", str(path))
    assert (result["coordinator_model"], result["error"]) == (model, None)
    settings = BrokerSettings(cluster=Cluster.of(named("crash").topics))
    broker, odd, _ = served(open_source(path), settings)
    assert not odd
    assert compare_all(path, broker) == 1


def rows_of(name: str) -> list[Raw]:
    """The records of a real cluster, without commits that are known to be aborted."""
    path = DATA / "real.jsonl.gz" if name == "real" else SHARED / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    aborted = ABORTED if "real" in name else set()
    return [row for row in open_source(path) if (row.partition, row.offset) not in aborted]


def parts(name: str, count: int) -> list[int]:
    """Numbers of rows, the last one that of all; never between rows of one moment."""
    rows = rows_of(name)
    ends = [
        end
        for end, (one, other) in enumerate(pairwise(rows), start=1)
        if (one.partition, one.timestamp_ms) != (other.partition, other.timestamp_ms)
    ]
    return [*ends[len(ends) // count :: len(ends) // count], len(rows)]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("real", 3),
        pytest.param("real", 15, marks=pytest.mark.deep),
        pytest.param("consumer-offsets-real.parquet", 3, marks=pytest.mark.deep),
        pytest.param("consumer-offsets-chaos.parquet", 8, marks=pytest.mark.deep),
    ],
)
def test_the_command_finds_in_the_first_n_rows_what_the_coordinator_has_then(
    name: str, count: int, tmp_path: Path
) -> None:
    rows, found = rows_of(name), 0
    for end in parts(name, count):
        broker = served(rows[:end], BrokerSettings(cluster=Cluster.of(COUNTS))).broker
        path = tmp_path / f"{end}.jsonl"
        write_records(path, [rows[:end]])
        found += compare_all(path, broker)
    assert found >= count


@pytest.mark.parametrize(
    "name",
    ["real", pytest.param("consumer-offsets-chaos.jsonl.gz", marks=pytest.mark.deep)],
)
def test_a_real_log_that_is_cleaned_makes_the_same_groups(name: str) -> None:
    rows = rows_of(name)
    topics = served(rows, BrokerSettings(cluster=Cluster.of(COUNTS))).broker.topics
    for partition in sorted({row.partition or 0 for row in rows}):
        log = [
            LogEntry(row.offset or 0, 0, row.key, row.value)
            for row in rows
            if row.partition == partition
        ]
        read = read_log(log, topics)
        whole = {group: summary(found) for group, found in read.groups.items()}
        entries = Log(entries=readable(log, topics))
        for until in (entries.end // 3, entries.end):
            for dropped in (0, until):
                left = read_log(log_of(entries.compacted(until, dropped)), topics)
                assert not left.odd
                made = {group: summary(found) for group, found in left.groups.items()}
                gone = whole.keys() - made.keys()
                assert all(whole[each]["kind"] is None for each in gone)
                assert made == {each: found for each, found in whole.items() if each not in gone}


def readable(log: Sequence[LogEntry], topics: TopicNames) -> list[Entry]:
    """The entries of a log without those of which no group can be made."""
    odd = {each.offset for each in read_log(log, topics).odd}
    return [Entry(each.key, each.value) for each in log if each.offset not in odd]


def test_every_group_of_a_real_log_is_what_its_records_make() -> None:
    broker = served(rows_of("real"), BrokerSettings(cluster=Cluster.of(COUNTS))).broker
    # Of the group of a streams application, which is not played, there were commits.
    assert broker.groups.keys() - state().keys() == {"shop.36-ks-streams"}
    for partition, batches in enumerate(broker.logs):
        log = [each for batch in batches for each in batch]
        entries = readable(log, broker.topics)
        assert entries
        for name, place in broker.places.items():
            if place == partition:
                assert agrees(broker, name, entries), name
