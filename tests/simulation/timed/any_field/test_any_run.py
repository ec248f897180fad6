"""The run of any scenario: its log, its monitors and its rows say the same as its ledger."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from assignors.server.spec import made_id
from assignors.simulation import arrow
from assignors.simulation.timed.explore.random_scenarios import Document
from assignors.simulation.timed.faults.live import OF_THE_COORDINATOR
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.monitors.table import MONITORS
from assignors.simulation.timed.monitors.watch import KEPT
from assignors.simulation.timed.plan import with_arrivals
from assignors.simulation.timed.protocols.kafka.records import is_transactional
from assignors.simulation.timed.protocols.kafka.restore import restored, summary
from assignors.simulation.timed.scenario import FaultKind, GroupProtocol, Scenario, Verb
from assignors.simulation.timed.scenario_document import brief_document, scenario_from_document
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.tables.rows import interval_rows, result_rows
from tests.conftest import cases
from tests.simulation.timed.compaction import compacted, some_cleanings
from tests.simulation.timed.drawn import documents
from tests.simulation.timed.test_mutants import gives_before_release
from tests.simulation.timed.test_offsets_topic import (
    is_within,
    owners_of_ledger,
    owners_of_replay,
    replayed,
    without_repetition,
)

EVENTS_MAX = 20_000
"""Runs that need more are left out."""
TWO_MEMBERS: Document = {
    "version": 1,
    "until_ms": 22_000,
    "topics": {"t": 3},
    "protocol": "consumer",
    "members": [{"name": "c0", "topics": ["t"]}, {"name": "c1", "topics": ["t"]}],
}
BOTH_BY_THEMSELVES: Document = {
    "version": 1,
    "until_ms": 22_000,
    "topics": {"t": 3},
    "protocol": "classic",
    "members": [{"name": name, "topics": [], "assign": {"t": [0]}} for name in ("c0", "c1")],
}
OF_ONE_INSTANCE: Document = {
    "version": 1,
    "until_ms": 22_000,
    "topics": {"t": 3},
    "protocol": "classic",
    "members": [{"name": name, "topics": ["t"], "instance_id": "i0"} for name in ("c0", "c1")],
}
FAILOVER = {"kind": "coordinator_crash", "from_ms": 10_002, "until_ms": 10_003}
BEGINS_ANEW = {*OF_THE_COORDINATOR, FaultKind.APPEND_FAILURE}
EACH_EVENT = {name for name, each in MONITORS.items() if not each.is_of_whole_group}


def limited(document: Document) -> Scenario:
    return replace(scenario_from_document(document), event_limit=EVENTS_MAX)


def kept(document: Document) -> tuple[Scenario, Played]:
    """A scenario and its run, to its end, of a protocol that writes records."""
    scenario = limited(document)
    assume(scenario.protocol is not GroupProtocol.PUSH)
    played = simulate(scenario, keeps_history=True)
    assume(played.result.stopped_by is None)
    return scenario, played


@cases(10)
@given(document=documents())
@example(document=OF_ONE_INSTANCE)  # c1 consumes under the client id of c0, which it replaced
def test_whoever_consumed_a_partition_is_among_the_owners_that_replay_finds(
    document: Document,
) -> None:
    # Not all of these come to consume it, and zombies do so when it has others. Records give no
    # partition to two members: what the ledger knows of zombies does not stand in the log.
    scenario, played = kept(document)
    assume(played.records)
    with TemporaryDirectory() as place:
        tables = replayed(played, Path(place) / "topic.jsonl")
    created = (each.topic for each in scenario.plan if each.topic is not None)
    names = {made_id(topic): topic for topic in (*scenario.topics, *created)}
    recorded, real = owners_of_replay(tables, names), owners_of_ledger(played)
    members = with_arrivals(scenario).members
    by_themselves = {each.name for each in members if each.assign}
    # A static member of a classic group is recorded with the client id of the one it replaced.
    recorded_as = {each.name: each.instance_id or each.name for each in members}
    for partition, consumers in real.items():
        owners = [recorded_as[name] for name in consumers if name not in by_themselves]
        owners = without_repetition(owners)
        given_to = without_repetition([recorded_as[name] for name in recorded.get(partition, [])])
        assert {*owners} <= {*given_to}, partition
        assert played.zombies or is_within(owners, given_to), partition
    assert not any(row.is_double for row in tables.assignments)
    # A topic that comes again has no owners before.
    if not scenario.count_from_ms and all(each.do is not Verb.DELETE for each in scenario.plan):
        assert played.result.moves == sum(len(consumers) - 1 for consumers in real.values())
    # Two consume one partition only where one of them does so whatever the coordinator says.
    monitors = {each.monitor for each in played.violations}
    if played.result.double_partition_ms and not by_themselves and not played.zombies:
        assert "double-consumption" in monitors


@cases(10)
@given(documents())
def test_what_compaction_leaves_of_a_log_says_the_same(document: Document) -> None:
    _, played = kept(document)
    lasting = [each for each in played.records if not is_transactional(each[1])]
    batches = [[record for _, record in each] for _, each in groupby(lasting, itemgetter(0))]
    whole = summary(restored(record for batch in batches for record in batch))
    for until, dropped in some_cleanings(Random(0), 5, len(batches)):
        left = compacted(batches, clean_until=until, drop_tombstones_until=dropped)
        assert summary(restored(left)) == whole, (until, dropped)


@cases(8)
@given(document=documents(), is_wrong=st.booleans())
@example(document=TWO_MEMBERS, is_wrong=True)  # who consumed it before its commit was overlooked
@example(document=BOTH_BY_THEMSELVES, is_wrong=False)  # which all monitors find in the end too
@example(document={**BOTH_BY_THEMSELVES, "faults": [FAILOVER]}, is_wrong=False)  # and once more
def test_looking_at_the_whole_group_at_every_event_finds_what_a_usual_run_does(
    *, document: Document, is_wrong: bool
) -> None:
    scenario = limited(document)
    with pytest.MonkeyPatch.context() as patch:
        if is_wrong:  # as the steps are, hardly anything is found
            gives_before_release(patch)
        usual = simulate(scenario)
        full = simulate(scenario, monitoring=Monitoring.FULL)
    assume(usual.result.stopped_by is None and full.result.stopped_by is None)
    assume(len(full.violations) < KEPT)
    # At every event all is judged anew that the next coordinator finds, else what changes then.
    begins_anew = any(each.kind in BEGINS_ANEW for each in scenario.faults)
    found = [without_events(each, only_first=begins_anew) for each in (usual, full)]
    assert found[0] == found[1]
    names = [{each.monitor for each in played.violations} for played in (usual, full)]
    assert names[0] <= names[1]
    same: dict[str, Any] = {
        "events": 0,
        "events_hash": "",
        "violations": 0,
        "first_violation": None,
    }
    assert replace(full.result, **same) == replace(usual.result, **same)


def without_events(played: Played, *, only_first: bool) -> set[tuple[int, str, str]]:
    """What is found by monitors that look at every event; `only_first`: at its first time."""
    found = [
        (each.at_us, each.monitor, each.text)
        for each in played.violations
        if each.monitor in EACH_EVENT
    ]
    if only_first:
        return {*{each[1:]: each for each in sorted(found, reverse=True)}.values()}
    return {*found}


@cases(5)
@given(documents())
def test_rows_of_arrow_are_those_of_python(document: Document) -> None:
    scenario = limited(document)
    rows = [{"scenario": json.dumps(brief_document(scenario)), "seed": scenario.seed}]
    batch = pa.RecordBatch.from_pylist(rows)
    for kind, play, plain in (
        (arrow.TIMED, arrow.timed_result(), result_rows),
        (arrow.INTERVALS, arrow.timed_intervals(), interval_rows),
    ):
        found = pa.Table.from_batches(kind.played([batch], play), schema=kind.results)
        made = found.to_pylist(maps_as_pydicts="strict")
        assert [kind.row(each) for each in made] == [*plain(rows)]
