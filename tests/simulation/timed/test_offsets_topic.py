"""A run written as `__consumer_offsets`: replay finds the owners that the ledger knows."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from assignors.ownership.intervals import by_partition, ownerships
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.engines.python import replay
from assignors.replay.sources.jsonlines import FileSplit, read_split
from assignors.replay.sources.raw import rows
from assignors.replay.tables.rows import Tables
from assignors.server.spec import made_id
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.offsets_topic import json_lines
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import Played, simulate

START_MS = 1_700_000_000_000
Owners = dict[tuple[str, int], list[str]]
OVERTAKEN = {"blue-green"}
"""Scenarios in which a round begins before members consume what the one before gave them."""


def replayed(played: Played, folder: Path) -> Tables:
    file = folder / "topic.jsonl"
    file.write_text("".join(json_lines(played.records, group="g", starts_at_ms=START_MS)))
    return replay(logged_records(rows(read_split(FileSplit(file=file)))))


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


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        (name, protocol)
        for name, story in GALLERY.items()
        for protocol, figures in story.expected.items()
        if figures.get("is_settled", True) and "violations" not in figures
    ],
)
def test_replay_finds_the_owners_of_every_partition_in_order(
    name: str, protocol: GroupProtocol, tmp_path: Path
) -> None:
    # Clients that ignore a part of their assignment, or get it too late, do not consume it.
    scenario = named(name, seed=3, protocol=protocol)
    played = simulate(scenario, keeps_history=True)
    tables = replayed(played, tmp_path)
    names = {made_id(topic): topic for topic in scenario.topics}
    recorded, real = owners_of_replay(tables, names), owners_of_ledger(played)
    if name in OVERTAKEN:
        assert recorded.keys() == real.keys()
        assert all(is_within(real[place], recorded[place]) for place in real)
    else:
        assert recorded == real
    assert not any(row.is_double for row in tables.assignments)


def test_times_are_those_of_the_run(tmp_path: Path) -> None:
    played = simulate(named("crash"), keeps_history=True)
    tables = replayed(played, tmp_path)
    first, *_, last = tables.generations
    assert first.at_ms == START_MS + played.records[0][0] // 1000
    assert last.at_ms == START_MS + played.records[-1][0] // 1000
