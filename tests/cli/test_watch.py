"""`watch` on recorded sources: what it takes, what it refuses, how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from assignors.cli.command import command
from assignors.replay.sample import incident
from assignors.watch import watch
from assignors.watch.events import as_document


def called(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["watch", *arguments])


def test_the_command_prints_what_the_function_yields() -> None:
    shown = called("--sample", "-o", "jsonl")
    assert shown.exit_code == 1
    alerts = [json.loads(line)["alert"] for line in shown.stdout.splitlines()]
    assert alerts == json.loads(json.dumps([as_document(one) for one in watch(incident())]))


def test_a_speed_changes_the_pace_alone() -> None:
    at_once = called("--sample", "-o", "jsonl")
    assert called("--sample", "-o", "jsonl", "--speed", "600x").stdout == at_once.stdout


def test_without_alerts_it_ends_well() -> None:
    shown = called("--sample", "--group", "shop", "-o", "jsonl")
    assert (shown.exit_code, shown.stdout) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "name a cluster with --bootstrap, a SOURCE"),
        (("--sample", "x.jsonl"), "--sample is a source: name no SOURCE"),
        (("--sample", "--bootstrap", "localhost:1"), "name a SOURCE or a cluster, not both"),
        (("--sample", "--group", "nobody"), "no group matches 'nobody'"),
        (("--sample", "--speed", "0x"), "'0x': not 60x, nor max"),
        (("--sample", "--checkpoint", "state"), "--checkpoint is for a cluster"),
        (("--sample", "--threshold", "keep=1"), "no threshold 'keep'; did you mean 'keep_ms'?"),
        (("--sample", "--since", "later"), "'later': not"),
        (("none.jsonl",), "none.jsonl: no such file or folder"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(arguments: tuple[str, ...], words: str) -> None:
    refused = called(*arguments)
    assert refused.exit_code == 2
    assert words in " ".join(refused.stderr.split())


def test_a_source_without_records_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    refused = called(str(empty))
    assert refused.exit_code == 2
    assert "no records: is it empty?" in refused.stderr
