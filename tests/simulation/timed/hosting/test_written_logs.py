"""The log of simulated groups as segments, JSON lines and Parquet: the command reads them.

Whatever the execution model, and however its log completes appends, `replay` finds the groups as
the coordinator has them at the end.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.replay.serving import raws_of
from assignors.replay.sources.writing import write_records
from assignors.server.spec import made_id
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.hosting.live_group import LiveGroup
from tests.simulation.timed.execution.histories import settings_of
from tests.simulation.timed.execution.world import ASYNC, FAILING, REORDERING, SYNC
from tests.simulation.timed.hosting.commanded import compare_all
from tests.simulation.timed.hosting.histories import moves_of, play
from tests.simulation.timed.hosting.world import TOPICS, World

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
            found += compare_all(place, of_partition(world, partition), names)
    assert found


def of_partition(world: World, partition: int) -> list[LiveGroup]:
    groups = world.host.groups
    return [live for n, live in groups.live.items() if n % groups.partitions == partition]


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
    result = CliRunner().invoke(command, ["decode", "offsets-record", "-o", "jsonl"], input=lines)
    assert result.exit_code == 0
    decoded = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(decoded) == len(entries) > 10
    assert all(each["error"] is None and not each["notes"] for each in decoded)
