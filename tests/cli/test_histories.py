from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from assignors.names.assignor_names import BEST
from assignors.simulation.rounds.scenario_rows import COLUMNS
from tests.cli.running import GROUP, ROOT, answers, called, process

SMALL = ("--members", "3", "--topics", "2", "--partitions", "7", "--events", "2")


def figures(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the documents without the one column that differs from run to run."""
    return [
        {key: value for key, value in document.items() if key != "cpu_ms"} for document in documents
    ]


def test_there_is_a_line_for_each_scenario_event_and_assignor() -> None:
    documents, code = answers("histories", "--seeds", "4", "--seed", "7", *SMALL)
    assert code == 0
    assert [list(document) for document in documents] == [["schema", *COLUMNS]] * len(documents)
    assert [(row["seed"], row["assignor"], row["event"]) for row in documents] == [
        (seed, name, event) for seed in range(7, 11) for name in BEST.values() for event in range(3)
    ]


def test_a_line_plays_what_the_options_play() -> None:
    drawn, _ = answers("histories", "--seeds", "1", "--seed", "5", *SMALL)
    row = {"seed": 5, "members": 3, "topics": 2, "partitions": 7, "events": 2}
    read, _ = answers("histories", "-", given=json.dumps(row))
    assert figures(read) == figures(drawn)


def test_processes_change_nothing() -> None:
    arguments = ("histories", "--seeds", "60", "--assignor", "sticky", *SMALL)
    one, _ = answers(*arguments)
    two = [json.loads(line) for line in process(*arguments, "--processes", "2").stdout.splitlines()]
    assert figures(two) == figures(one)


def test_a_group_is_a_scenario_and_bad_lines_stay_in_their_places() -> None:
    group = {**GROUP, "id": "mine", "seed": 1, "events": 1}
    lines = ["x", json.dumps(group), '{"seed": 1.5}', '{"members": 3}', '{"seed": 1, "events": 0}']
    documents, code = answers("histories", "-", "--assignor", "sticky", given="\n".join(lines))
    assert code == 2
    assert [(row["id"], row.get("event"), row["error_kind"]) for row in documents] == [
        (None, None, "bad-json"),
        ("mine", 0, None),
        ("mine", 1, None),
        (None, None, "wrong-type"),
        (None, None, "missing"),
        (None, 0, None),
    ]


@pytest.mark.parametrize(
    ("row", "path"),
    [
        ({"seed": True}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"seed": 1, "members": "3"}, "members"),
        ({"seed": 1, "members": 2**31}, "members"),
        ({"seed": 1, "members": -1}, "members"),
        ({"seed": 1, "members": 10_000_000}, "members"),
        ({"seed": 1, "members": 100_000, "topics": 1_000}, "members"),
        ({"seed": 1, "topics": 10_000_000}, "topics"),
        ({"seed": 1, "partitions": 1_000_000, "events": 100}, "events"),
        ({**GROUP, "topics": {"t": 1_000_001}, "seed": 1}, "partitions"),
        ({"seed": 1, "subscription": "zz"}, "subscription"),
        ({"seed": 1, "subscription": 5}, "subscription"),
        ({"seed": 1, "faults": 1}, "faults"),
        ({"seed": 1, "members": [{"id": 7}], "topics": {}}, "members[0].id"),
    ],
)
def test_what_is_wrong_in_a_row_is_named(row: dict[str, Any], path: str) -> None:
    (document,), code = answers("histories", "-", "--assignor", "range", given=json.dumps(row))
    assert code == 2
    assert path in document["error"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("--assignor", "nonsense"),
        ("--partitions", "5", "--topics", "0"),
        ("-", "--members", "3"),
        ("--members", "-1"),
        ("--seed", str(2**63 - 1)),
        ("--members", str(10**9)),
        ("--members", "10000000", "--topics", "1000"),
        ("--members", "100000", "--topics", "1000"),
        ("--topics", "10000000"),
    ],
)
def test_impossible_sizes_are_usage_errors(arguments: tuple[str, ...]) -> None:
    assert answers("histories", *arguments) == ([], 2)


def test_a_refused_size_names_its_bound() -> None:
    (document,), _ = answers("histories", "-", given='{"seed": 1, "members": 10000000}')
    assert document["error"] == "members: 10000000 is not within 0..100000"
    refused = called("histories", "--topics", "10000000")
    assert b"'--topics': 10000000 is not in the range 0<=x<=100000" in refused.stderr
    refused = called("histories", "--members", "100000", "--topics", "1000")
    assert b"have 100000000 subscriptions, more than 10000000" in refused.stderr


def test_a_scenario_that_does_not_fit_into_memory_is_an_error_and_the_next_line_is_answered() -> (
    None
):
    """It ended the command: MemoryError, traceback, the next line unanswered."""
    lines = ['{"seed": 1, "members": 100000, "topics": 1}', '{"seed": 2, "events": 0}']
    program = (
        "import resource, sys\n"
        "from assignors.cli.command import run\n"
        "run('histories --seeds 1 --events 0 --assignor range -o jsonl'.split())\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "limit = pages * resource.getpagesize() + 2 ** 24\n"
        "resource.setrlimit(resource.RLIMIT_AS, (limit, limit))\n"
        "sys.exit(run(['histories', '-', '--assignor', 'range', '-o', 'jsonl']))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        input="\n".join(lines).encode(),
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert (ended.returncode, ended.stderr) == (2, b"")
    _, first, second = map(json.loads, ended.stdout.splitlines())
    assert "memory" in first["error"]
    assert (second["seed"], second["error"]) == (2, None)
