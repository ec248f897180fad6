"""What `replay` calls a finding, and how it ends: severity, kinds, times, thresholds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from assignors.cli.command import command
from assignors.replay.findings import FINDINGS

REAL = str(Path(__file__).parent.parent / "replay" / "data" / "real.jsonl.gz")


def run(*arguments: str) -> Result:
    """The command's answer."""
    return CliRunner().invoke(command, ["replay", *arguments])


def found(*arguments: str) -> list[dict[str, Any]]:
    """The findings, as rows."""
    lines = run(REAL, "--table", "findings", "-o", "jsonl", *arguments).stdout.splitlines()
    return [json.loads(line)["row"] for line in lines]


EVERY = found("--min-severity", "note")


def test_a_group_of_librdkafka_or_franz_go_members_is_healthy() -> None:
    """Replay ended with 1 wherever such a client was, for the layout that it always writes."""
    healthy = run(REAL, "--group", "shop.07-franz")
    assert healthy.exit_code == 0
    assert "client-layout" not in healthy.stdout
    asked = run(REAL, "--group", "shop.07-franz", "--min-severity", "note")
    assert asked.exit_code == 1
    assert "client-layout" in asked.stdout
    assert run(REAL, "--group", "shop.07-franz", "--kind", "client-layout").exit_code == 1


def test_a_terminal_says_that_there_are_no_findings() -> None:
    assert "no findings of severity low or worse" in run(
        REAL, "--group", "shop.07-franz", "-o", "table"
    ).stdout.replace("\n", " ")
    assert "no findings of kind classic-only, imbalance of severity note or worse" in run(
        *(REAL, "--group", "shop.07-franz", "--kind", "imbalance", "--kind", "classic-only"),
        *("-o", "table"),
    ).stdout.replace("\n", " ")
    assert "no findings" not in run(REAL, "-o", "table").stdout
    assert "no findings" not in run(REAL, "--group", "shop.07-franz", "-o", "jsonl").stdout


@pytest.mark.parametrize("arguments", [(), ("--table", "findings")])
def test_whether_groups_can_leave_the_classic_protocol_is_answered(
    arguments: tuple[str, ...],
) -> None:
    asked = (REAL, "--kind", "classic-only", *arguments)
    words = "11 of 11 classic groups can be converted to the consumer protocol (KIP-848)"
    assert run(*asked, "-o", "table").stdout.startswith(words)
    result = run(*asked, "-o", "jsonl")
    assert words in result.stderr
    assert words not in result.stdout
    earlier = run(*asked, "-o", "table", "--until", "2026-11-21T00:20:00Z")
    assert "can be converted" not in earlier.stdout, "of the end, or not at all"


def test_the_exit_code_is_about_what_is_asked_for() -> None:
    assert run(REAL).exit_code == 1
    assert run(REAL, "--min-severity", "high").exit_code == 1
    assert run(REAL, "--min-severity", "critical").exit_code == 0
    assert run(REAL, "--group", "shop.15-aio-rg", "--min-severity", "medium").exit_code == 0


@pytest.mark.parametrize("kind", FINDINGS)
def test_of_a_kind_are_those_of_it(kind: str) -> None:
    assert found("--kind", kind) == [row for row in EVERY if row["kind"] == kind]


def test_a_row_has_its_severity_and_what_to_do() -> None:
    assert {row["severity"] for row in EVERY} == {"high", "medium", "low", "note"}
    for row in EVERY:
        advice = FINDINGS[row["kind"]].what_to_do
        if row["leader_id"] is not None and "the leader's client" in advice:
            guess = "" if row["leader_guess"] is None else ", "
            named = f"the leader's client ({row['leader_client_id']} at {row['leader_host']}{guess}"
            assert named in row["what_to_do"]
            advice, _, _ = advice.partition("the leader's client")
        assert row["what_to_do"].startswith(advice)


def test_a_group_counts_the_findings_that_are_wanted_and_has_the_worst_severity() -> None:
    lines = run(REAL, "-o", "jsonl", "--min-severity", "medium").stdout.splitlines()
    documents = [json.loads(line) for line in lines]
    groups = [document["row"] for document in documents if document["table"] == "groups"]
    rows = [document["row"] for document in documents if document["table"] == "findings"]
    counted = Counter((row["group"], row["life"]) for row in rows)
    assert rows
    assert [row["finding_count"] for row in groups] == [
        counted[row["group"], row["life"]] for row in groups
    ]
    assert {row["severity"] for row in groups} == {None, "high", "medium"}


def test_the_worst_findings_of_all_groups_come_first() -> None:
    ranks = [["critical", "high", "medium", "low", "note"].index(row["severity"]) for row in EVERY]
    assert ranks == sorted(ranks)


def test_a_time_in_any_form_keeps_what_lasted_into_it() -> None:
    storms = found("--kind", "rebalance-storm")
    ends = sorted(row["until_ms"] for row in storms)
    later = found("--kind", "rebalance-storm", "--since", str(ends[2]))
    assert sorted(row["until_ms"] for row in later) == ends[2:]
    begins = sorted(row["at_ms"] for row in storms)
    before = found("--kind", "rebalance-storm", "--until", str(begins[2]))
    assert sorted(row["at_ms"] for row in before) == begins[:2]
    assert found("--since", "2026-11-21T00:00", "--until", "2026-11-23T00:00+01:00")
    assert found("--since", "2027-01-01", "--kind", "rebalance-storm") == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--since", "yesterday"), "'yesterday': not 2026-11-21T03:00 (UTC)"),
        (("--since", "2026-11-22", "--until", "2026-11-21"), "--since must be before --until"),
        (("--kind", "starved"), "'starved' is not one of"),
        (("--min-severity", "bad"), "'bad' is not one of"),
        (
            ("--kind", "odd-bytes", "--min-severity", "high"),
            "--min-severity high leaves out every --kind: odd-bytes is low",
        ),
        (("--threshold", "loop_generations"), "not NAME=NUMBER"),
        (("--threshold", "loop_generation=3"), "did you mean 'loop_generations'?"),
        (("--threshold", "storm_window_ms=-1"), "-1 is less than 0 at storm_window_ms"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], words: str) -> None:
    refused = run(REAL, *arguments)
    assert refused.exit_code == 2
    assert words in " ".join(refused.stderr.split())


def test_thresholds_change_what_is_found() -> None:
    kinds = Counter(row["kind"] for row in EVERY)
    changed = ("--threshold", "storm_generations=11", "--threshold", "needless_moves=1000")
    fewer = Counter(row["kind"] for row in found(*changed))
    assert kinds["needless-moves"] > fewer["needless-moves"] == 0
    assert kinds["rebalance-storm"] > fewer["rebalance-storm"] > 0


def test_what_if_names_the_groups_it_leaves_out() -> None:
    workers = str(Path(REAL).parent / "field" / "connect_moving.jsonl.gz")
    assert "--what-if leaves out 1 group" in run(workers, "--what-if", "sticky").stderr
    assert "leaves out" not in run("--sample", "--what-if", "sticky").stderr
