"""`simulate --scenario`: what is shown on request, histories, violations and further figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import answers, called


def test_a_violation_is_shown_in_words_and_made_small(tmp_path: Path) -> None:
    story = ("simulate", "--scenario", "generation-from-user-data", "--seed", "3")
    done = called(*story, "--history")
    history = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert history[-1].startswith("given-while-owned at event ")
    file = tmp_path / "small.json"
    rows, code = answers(*story, "--shrink", str(file))
    assert code == 1
    assert rows[0]["first_violation"].startswith("given-while-owned")
    assert len(file.read_text()) < 2000, "defaults are left out"
    again = called("simulate", "--scenario", str(file), "--seed", "3", "--history")
    assert again.stdout.decode().splitlines()[-1] == rows[0]["first_violation"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--history", "--seeds", "2"), "--history shows one run"),
        (("--history-of", "c0", "--seeds", "2"), "--history shows one run"),
        (("--history-of", "c99"), "no member or partition 'c99'; did you mean 'c9'?"),
        (("--history-of", "nobody"), "; known: orders:0, c0, c1, "),
        (("--history-of", "c0", "--history-of", "orders:100"), "orders has 100 at most"),
        (("--shrink", "small.json"), "no monitor finds anything"),
    ],
)
def test_violations_of_none_or_of_many_runs_are_refused(
    options: tuple[str, ...], words: str
) -> None:
    done = called("simulate", "--scenario", "crash", *options)
    assert done.returncode == 2
    assert words.encode() in done.stderr


def test_where_the_time_goes_is_in_the_report_and_not_on_a_terminal(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = ("simulate", "--scenario", "scale-out", "--protocol", "classic,consumer")
    shown = called(*asked, "--report", str(page), "-o", "table").stdout.decode()
    for words in ("waiting for JoinGroup", "waiting for SyncGroup", "locked meanwhile"):
        assert words in " ".join(page.read_text(encoding="utf-8").split())
        assert words not in shown
    assert "-o jsonl and --report also have: waiting, blocked, state" in shown


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        (
            ("--scenario", "rolling-restart", "--seeds", "2"),
            "10 members, 100 partitions in 1 topic, polls every ",
        ),
        (("--scenario", "scale-out", "--intervals"), "10 members, "),
        (
            ("--traffic", "noisy", "--assignor", "range"),
            "13 members, 240 partitions in 12 topics, ",
        ),
        (("--members", "3", "--scenarios", "4"), "3 members, 200 partitions in 10 topics, "),
    ],
)
def test_a_table_begins_with_what_is_assumed(asked: tuple[str, ...], line: str) -> None:
    assert called("simulate", *asked, "-o", "table").stdout.decode().startswith(line)
