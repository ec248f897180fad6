"""The log of groups at a broker as segments, JSON lines and Parquet: the command reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.replay.sources.writing import write_records
from assignors.simulation.serving import written
from tests.simulation.timed.broker.commanded import compare_all
from tests.simulation.timed.broker.histories import History

FORMS = ("topic.jsonl", "topic.parquet", "topic")
"""JSON lines, Parquet, segment files."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_command_finds_the_groups_as_the_broker_has_them(
    seed: int, form: str, tmp_path: Path
) -> None:
    broker, found = History(seed).play(400).broker, 0
    for partition in (0, 1):
        place = tmp_path / str(partition) / form
        place.parent.mkdir()
        write_records(place, written(broker, partition))
        found += compare_all(place, broker, partition)
    assert found


def test_the_records_of_a_log_are_decoded_one_by_one() -> None:
    history = History(5).play(200)
    entries = [each for batches in history.broker.logs for batch in batches for each in batch]
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
