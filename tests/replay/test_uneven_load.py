"""A group on a real broker whose partitions are not equal: found, and tried by weight."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.replay import replay
from assignors.replay.sample import skewed, skewed_log_ends
from tests.cli.running import ROOT

FOLDER = ROOT / "assignors" / "replay" / "sample"
DUMP, ENDS = str(FOLDER / "skewed.jsonl.gz"), str(FOLDER / "skewed-log-ends.jsonl")


def rows(table: str, *arguments: str, source: str = DUMP) -> list[dict[str, Any]]:
    done = CliRunner().invoke(
        command, ["replay", source, "--table", table, "-o", "jsonl", *arguments]
    )
    assert done.exit_code in {0, 1}, done.stderr
    return [json.loads(line)["row"] for line in done.stdout.splitlines()]


def test_counts_are_equal_and_one_member_has_most_of_the_records() -> None:
    (found,) = rows("findings", "--kind", "uneven-load")
    assert (found["severity"], found["client_id"]) == ("low", "clicks-1")
    assert "one of 5 members had 49% of the records in generation 3" in found["evidence"]
    assert not rows("findings", "--kind", "imbalance")


def test_log_ends_show_what_a_member_that_lags_leaves_unread() -> None:
    """It can process 120 records a second and gets 190: by commits alone it looks less busy."""
    (blind,) = (row for row in rows("generations") if row["generation"] == 2)
    (seeing,) = (row for row in rows("generations", "--log-ends", ENDS) if row["generation"] == 2)
    assert blind["use_max"] == pytest.approx(120, rel=0.05)
    assert seeing["use_max"] == pytest.approx(190, rel=0.01)
    assert seeing["use_bound"] == pytest.approx(80, rel=0.01), "one partition alone has so many"
    later = {row["generation"]: row["lag"] for row in rows("generations", "--log-ends", ENDS)}
    assert later[4] > later[3] > 5000
    assert {row["lag"] for row in rows("generations")} == {None}


def test_the_threshold_says_from_when_on_it_is_a_finding() -> None:
    kind = ("--kind", "uneven-load", "--threshold", "uneven_load_percent=127")
    assert rows("findings", *kind) == []
    assert len(rows("findings", "--log-ends", ENDS, *kind)) == 1


def test_assignors_by_weight_lower_the_load_of_the_busiest_member_at_the_next_round() -> None:
    tried = rows(
        *("outcomes", "--log-ends", ENDS),
        *("--what-if", "cooperative-weighted", "--what-if", "cooperative-sticky"),
    )
    name = "weighted/cooperative-weighted"
    weighted = {row["generation"]: row for row in tried if row["assignor"] == name}
    assert weighted[2]["use_max"] == weighted[2]["actual_use_max"], "no rate was known yet"
    assert weighted[4]["use_max"] == pytest.approx(84, rel=0.02)
    assert weighted[4]["use_max"] < 1.06 * weighted[4]["use_bound"]
    assert weighted[4]["actual_use_max"] == pytest.approx(180, rel=0.02)
    assert weighted[4]["moved"] <= 4
    assert all(row["error"] is None for row in tried)
    bounds = {(row["generation"], row["use_bound"]) for row in tried if row["generation"]}
    assert len(bounds) == len({generation for generation, _ in bounds}), "one bound for all"


def test_the_last_round_is_not_known_before(tmp_path: Path) -> None:
    """What an assignor is tried on is the same without all that was written after its round."""
    lines = gzip.decompress(Path(DUMP).read_bytes()).splitlines(keepends=True)
    whole = {row["generation"]: row for row in rows("outcomes", "--what-if", "weighted")}
    end = whole[4]["at_ms"]
    path = tmp_path / "cut.jsonl"
    path.write_bytes(b"".join(one for one in lines if json.loads(one)["timestamp"] <= end + 1000))
    (cut,) = (
        row
        for row in rows("outcomes", "--what-if", "weighted", source=str(path))
        if row["generation"] == 4
    )
    assert (cut["moved"], cut["load_max"]) == (whole[4]["moved"], whole[4]["load_max"])


def test_python_takes_what_the_command_takes() -> None:
    found = replay(skewed(), log_ends=skewed_log_ends(), what_if="weighted")
    printed = rows("outcomes", "--log-ends", ENDS, "--what-if", "weighted")
    assert found.outcomes.to_arrow().to_pylist() == printed


def test_names_are_hidden_in_the_finding_too() -> None:
    done = CliRunner().invoke(
        command, ["replay", DUMP, "--redact", "--table", "findings", "-o", "jsonl"]
    )
    assert "clicks-1" not in done.stdout
    assert "uneven-load" in done.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "no line has log ends"),
        ("\n\n", "no line has log ends"),
        ('{"at_ms": 1, "log_ends": {}}\n{"at_ms"', "line 2: not JSON: Expecting ':' delimiter"),
        ('{"at_ms": 1, "log_ends": {"t": [true]}}', "line 1: expected a whole number, found true"),
        ('{"at_ms": NaN, "log_ends": {}}', "line 1: not JSON: NaN is no JSON number"),
        ("orders:0:120", "line 1: not JSON: Expecting value at byte 0"),
    ],
)
def test_a_file_that_cannot_be_read_is_a_usage_error(
    content: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "ends.jsonl"
    path.write_text(content)
    done = CliRunner().invoke(command, ["replay", DUMP, "--log-ends", str(path)])
    assert done.exit_code == 2
    assert f"--log-ends': {path}" in done.stderr
    assert words in done.stderr
