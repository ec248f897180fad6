"""A run written as `__consumer_offsets`: replay finds the owners that the ledger knows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest

from assignors.ownership.intervals import by_partition, ownerships
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.engines.python import replay_records
from assignors.replay.sources import open_source
from assignors.replay.sources.writing import write_records
from assignors.replay.tables.rows import Tables
from assignors.server.spec import made_id
from assignors.simulation.serving import raws_of
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.offsets_topic import log_entries
from assignors.simulation.timed.protocols.kafka.records import GroupTombstone, OffsetRecord
from assignors.simulation.timed.scenario import (
    Action,
    GroupProtocol,
    MemberConfig,
    ProcessingConfig,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate

START_MS = 1_700_000_000_000
Owners = dict[tuple[str, int], list[str]]
OVERTAKEN = {"blue-green", "commits-during-a-rebalance", "scale-in"}
"""Scenarios in which a round begins before members consume what the one before gave them."""


UUID_SIZE = 37
"""A hyphen and a UUID: what a member id has behind its client's name."""
FORMS = ("topic.jsonl", "topic.parquet", "topic")
"""JSON lines, Parquet, segment files."""


def replayed(played: Played, place: Path) -> Tables:
    batches = log_entries(played.records, group="g", starts_at_ms=START_MS)
    write_records(place, map(raws_of, batches))
    return replay_records(logged_records(open_source(place)))


def without_repetition(names: list[str]) -> list[str]:
    return [name for name, _ in groupby(names)]


def is_within(names: list[str], others: list[str]) -> bool:
    """Whether the names are among the others, in the same order."""
    left = iter(others)
    return all(name in left for name in names)


def owners_of_ledger(played: Played) -> Owners:
    """The clients that really consumed each partition, one after the other."""
    found = by_partition(ownerships(played.changes)).items()
    return {one: without_repetition([each.member_id for each in listed]) for one, listed in found}


def owners_of_replay(tables: Tables, names: dict[str, str]) -> Owners:
    """The clients to which the records give each partition, one after the other."""
    found: Owners = {}
    for row in sorted(tables.assignments, key=lambda row: row.from_ms):
        topic = names.get(row.topic, row.topic)
        found.setdefault((topic, row.partition), []).append(row.client_id)
    return {one: without_repetition(listed) for one, listed in found.items()}


WRITTEN = [
    (name, protocol)
    for name, story in GALLERY.items()
    for protocol, figures in story.expected.items()
    if protocol is not GroupProtocol.PUSH  # of which there are no records
    and figures.get("is_settled", True)
    and not {"violations", "double_partition_ms"} & figures.keys()
    and not story.scenario().faults
]


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        pytest.param(*each, marks=() if number % 3 == 0 else pytest.mark.deep)
        for number, each in enumerate(WRITTEN)
    ],
)
def test_replay_finds_the_owners_of_every_partition_in_order(
    name: str, protocol: GroupProtocol, tmp_path: Path
) -> None:
    # Clients that ignore a part of their assignment, or get it too late, do not consume it; and
    # zombies consume what the records give to others.
    scenario = replace(named(name, seed=3, protocol=protocol), count_from_ms=0)
    played = simulate(scenario, keeps_history=True)
    form = FORMS[list(GALLERY).index(name) % len(FORMS)]
    tables = replayed(played, tmp_path / form)
    created = [each.topic for each in scenario.plan if each.topic is not None]
    names = {made_id(topic): topic for topic in (*scenario.topics, *created)}
    recorded, real = owners_of_replay(tables, names), owners_of_ledger(played)
    if name in OVERTAKEN:
        assert recorded.keys() == real.keys()
        assert all(is_within(real[place], recorded[place]) for place in real)
    else:
        assert recorded == real
        assert sum(len(owners) - 1 for owners in recorded.values()) == played.result.moves
    assert not any(row.is_double for row in tables.assignments)


@pytest.mark.parametrize("protocol", [GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
def test_commits_stand_in_all_three_forms_and_replay_finds_them(
    protocol: GroupProtocol, tmp_path: Path
) -> None:
    scenario = named("crash", seed=1, protocol=protocol)
    members = tuple(replace(each, auto_commit_ms=5000) for each in scenario.members)
    records = ProcessingConfig(records_per_second=10)
    played = simulate(
        replace(scenario, members=members, processing=records, count_from_ms=0), keeps_history=True
    )
    one, *others = [replayed(played, tmp_path / form) for form in FORMS]
    assert all(tables == one for tables in others)
    written = [each for _, each in played.records if isinstance(each, OffsetRecord)]
    found = [(row.topic, row.partition, row.offset) for row in one.offsets]
    assert Counter(found) == Counter((each.topic, each.partition, each.offset) for each in written)
    # A commit names nobody; whom replay takes for its sender is the one that consumed then.
    owners = owners_of_ledger(played)
    names = {made_id(topic): topic for topic in scenario.topics}
    senders = [(row, row.holder_id) for row in one.offsets if row.holder_id is not None]
    assert len(senders) > 0.9 * len(written)
    for row, holder_id in senders:
        assert holder_id[:-UUID_SIZE] in owners[names.get(row.topic, row.topic), row.partition]


def test_offsets_that_expire_are_deleted(tmp_path: Path) -> None:
    scenario = named("crash")
    broker = replace(scenario.broker, offsets_retention_ms=60_000, offsets_check_ms=10_000)
    member = MemberConfig(name="m", topics=(), assign={"orders": (1,)}, auto_commit_ms=1000)
    stop = Action(at_ms=20_500, do=Verb.STOP, member="m")
    played = simulate(
        replace(
            scenario,
            members=(member,),
            plan=(stop,),
            until_ms=100_000,
            broker=broker,
            processing=ProcessingConfig(records_per_second=1),
        ),
        keeps_history=True,
    )
    *_, last, tombstone, group = played.records
    assert last[1] == OffsetRecord("orders", 1, 20, 1 + last[0] // 1000)
    assert tombstone == (90_000_000, OffsetRecord("orders", 1, None))
    assert group == (90_000_000, GroupTombstone())
    tables = replayed(played, tmp_path / "topic.parquet")
    assert [row.offset for row in tables.offsets][-2:] == [20, None]


def test_times_are_those_of_the_run(tmp_path: Path) -> None:
    without_commits = replace(named("crash"), processing=ProcessingConfig())
    played = simulate(without_commits, keeps_history=True)
    tables = replayed(played, tmp_path / "topic.jsonl")
    first, *_, last = tables.generations
    assert first.at_ms == START_MS + played.records[0][0] // 1000
    assert last.at_ms == START_MS + played.records[-1][0] // 1000
