"""The log of simulated groups as segments, JSON lines and Parquet: the command reads them.

Whatever the execution model, and however its log completes appends, `replay` finds the groups as
the coordinator has them at the end.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.replay.serving import raws_of
from assignors.replay.sources.writing import write_records
from assignors.server.spec import made_id
from assignors.simulation.timed.coordinator.policy import POLICIES
from assignors.simulation.timed.hosting.live_group import LiveGroup
from tests.simulation.timed.coordinator.histories import settings_of
from tests.simulation.timed.coordinator.world import ASYNC, FAILING, REORDERING, SYNC
from tests.simulation.timed.hosting.histories import moves_of, play
from tests.simulation.timed.hosting.world import TOPICS, World
from wire import decode_assignment

APPENDS = {"sync": SYNC, "async": ASYNC, "failing": FAILING, "reordering": REORDERING}
FORMS = ("topic.jsonl", "topic.parquet", "topic")
"""JSON lines, Parquet, segment files."""
CASES = [
    (model, kind, FORMS[number % 3])
    for number, (model, kind) in enumerate(
        (model, kind) for at, model in enumerate(POLICIES) for kind in list(APPENDS)[at % 2 :: 2]
    )
]
"""Every model over two of the logs; every log and every form with several models."""


def run(*arguments: str) -> list[dict[str, Any]]:
    result = CliRunner().invoke(command, [*arguments, "-o", "jsonl"])
    assert result.exit_code in {0, 1}, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(("model", "kind", "form"), CASES)
def test_the_command_finds_the_groups_as_the_coordinator_has_them(
    model: str, kind: str, form: str, tmp_path: Path
) -> None:
    random, policy = Random(len(model)), POLICIES[model]
    settings = settings_of(random, policy)
    world = play(policy, APPENDS[kind], settings, moves_of(random, fails_over=True, length=400))
    names = {made_id(topic): topic for topic in TOPICS}
    found = 0
    for partition, batches in enumerate(world.batches):
        if batches:
            place = tmp_path / str(partition) / form
            place.parent.mkdir()
            write_records(place, (raws_of(batch, partition) for batch in batches))
            tables = ("groups", "generations", "assignments", "offsets")
            rows = run("replay", str(place), *chain.from_iterable(("--table", t) for t in tables))
            for live in of_partition(world, partition):
                of_group = [each for each in rows if each["row"]["group"] == live.name]
                found += compare(live, of_group, names)
    assert found


def of_partition(world: World, partition: int) -> list[LiveGroup]:
    groups = world.host.groups
    return [live for n, live in groups.live.items() if n % groups.partitions == partition]


def compare(live: LiveGroup, rows: list[dict[str, Any]], names: dict[str, str]) -> bool:
    """Compare a group with what the command says of its last life; whether there was one."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for each in rows:
        tables.setdefault(each["table"], []).append(each["row"])
    offsets = {}
    for row in tables.get("offsets", ()):
        offsets[row["topic"], row["partition"]] = row["offset"]
    known = {place: each.offset for place, each in live.offsets.table.committed.items()}
    assert {place: offset for place, offset in offsets.items() if offset is not None} == known
    consumer, classic = live.mixed.consumer, live.mixed.classic
    if not consumer.exists and classic.group.state.value != "Stable":
        return False
    kind = "consumer" if consumer.exists else "classic"
    generation = consumer.group.epoch if consumer.exists else classic.group.generation
    last = tables["groups"][-1]
    assert (last["kind"], tables["generations"][-1]["generation"]) == (kind, generation)
    held = {
        (names.get(row["topic"], row["topic"]), row["partition"], row["member_id"])
        for row in tables.get("assignments", ())
        if row["to_ms"] is None and row["life"] == last["life"]
    }
    assert held == owners(live)
    return True


def owners(live: LiveGroup) -> set[tuple[str, int, str]]:
    """Who has what; also what a member has to give up and has not yet."""
    if live.mixed.consumer.exists:
        members = live.mixed.consumer.group.members.values()
        return {(*place, each.member_id) for each in members for place in each.held()}
    found = set()
    for member in live.mixed.classic.group.members.values():
        value = decode_assignment(member.assignment).value
        for topic, numbers in ({} if value is None else value.partitions).items():
            found |= {(topic, number, member.member_id) for number in numbers}
    return found


def test_the_records_of_a_log_are_decoded_one_by_one() -> None:
    random = Random(5)
    policy = POLICIES["pipelined"]
    world = play(policy, FAILING, settings_of(random, policy), moves_of(random, fails_over=True))
    entries = [each for batches in world.batches for batch in batches for each in batch]
    lines = "".join(
        f"{each.key.hex()} {'-' if each.value is None else each.value.hex()}\n"
        for each in entries
        if each.key is not None
    )
    result = CliRunner().invoke(command, ["decode", "offsets-record"], input=lines)
    assert result.exit_code == 0
    decoded = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(decoded) == len(entries) > 10
    assert all(each["error"] is None and not each["notes"] for each in decoded)
