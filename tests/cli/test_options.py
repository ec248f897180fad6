"""Every option of every command matters somewhere, and is refused where it does not.

`MATTERS` has a run for each option in which it changes what comes out; `IDLE` of the command has
when it changes nothing, and then it is refused. An option that is in neither fails here.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from assignors.cli.command import SUMMARIES, command
from assignors.cli.inputs.typed.idle_options import IDLE
from tests.cli.running import COMMAND, GROUP, ROOT

CONTEXT = click.Context(command)
COMMANDS = {name: found for name in SUMMARIES if (found := command.get_command(CONTEXT, name))}

CUT = "0001000000010001740000"
RECORD = "0001000473686f7000066f726465727300000004 0003000000000000002affffffff0000000001a1fb79299b"
JOINED = "00020001670002 -"
LINE = json.dumps(GROUP)
UNEVEN = json.dumps(
    {
        "topics": {"t": {"partitions": 4, "id": "AAAAAAAAAAAAAAAAAAAAAA"}},
        "members": [
            {"id": "a", "topics": ["t"], "owned": [["t", [0, 1, 2, 9]]], "generation": 1},
            {"id": "b", "topics": ["t"], "owned": [["t", [0, 3]]], "generation": 1},
        ],
    }
)
APART = json.dumps(
    {
        "topics": {"t": 2, "u": 2},
        "generation": 1,
        "members": [
            {"id": "a", "topics": ["t", "u"], "owned": {"t": [0, 1]}, "generation": 1},
            {"id": "b", "topics": ["t", "u"], "owned": {"u": [0, 1]}, "generation": 1},
        ],
    }
)
"""Balanced, and each member has all of a topic."""
ASSIGNED = json.dumps({**GROUP, "assignment": {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}})

DRAW = ("simulate", "--scenarios", "1", "--members", "3", "--topics", "2", "--partitions", "9")
DRAW_SMALL = (*DRAW, "--events", "4", "--assignor", "sticky")
CLOCK = ("simulate", "--scenario", "rolling-restart")
SAMPLE = ("replay", "--sample")
OWN = "tests.own_assignors.odd_ones:RAISES"
OF_OWN = {"name": "c", "topics": ["t"], "assignors": [OWN]}
OWN_ON_A_CLOCK = json.dumps(
    {"version": 1, "until_ms": 9000, "topics": {"t": 2}, "members": [OF_OWN]}
)

MATTERS: dict[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...], str]] = {
    ("decode", "mode"): (("decode", "subscription"), ("--mode", "strict"), CUT),
    ("decode", "with_members"): (
        ("decode", "offsets-record", "-o", "jsonl"),
        ("--members",),
        RECORD,
    ),
    ("assign", "assignor"): (("assign",), ("--assignor", "range"), LINE),
    ("assign", "compared"): (("assign",), ("--compare", "range,sticky"), LINE),
    ("assign", "reasons"): (
        ("assign", "--compare", "java/range,sticky", "-o", "table"),
        ("--reasons",),
        UNEVEN,
    ),
    ("assign", "with_group"): (("assign", "--assignor", "range"), ("--with-group",), LINE),
    ("assign", "prefer"): (
        ("assign", "--assignor", "sticky"),
        ("--prefer", "spread"),
        APART,
    ),
    ("check", "partition_counts"): (("check",), ("--topic", "t:9"), ASSIGNED),
    ("explain", "partition"): (("explain",), ("--partition", "t:0"), LINE),
    ("explain", "assignor"): (
        ("explain", "--partition", "t:3"),
        ("--assignor", "sticky"),
        LINE,
    ),
    ("simulate", "seed"): (DRAW_SMALL, ("--seed", "7"), ""),
    ("simulate", "scenarios"): (DRAW_SMALL, ("--scenarios", "3"), ""),
    ("simulate", "members"): (DRAW_SMALL, ("--members", "5"), ""),
    ("simulate", "topics"): (DRAW_SMALL, ("--topics", "3"), ""),
    ("simulate", "partitions"): (DRAW_SMALL, ("--partitions", "20"), ""),
    ("simulate", "subscription"): (DRAW_SMALL, ("--subscription", "random"), ""),
    ("simulate", "events"): (DRAW, ("--events", "1"), ""),
    ("simulate", "faults"): ((*DRAW, "--assignor", "sticky"), ("--no-faults",), ""),
    ("simulate", "wire"): ((*DRAW, "--assignor", "java/sticky"), ("--wire",), ""),
    ("simulate", "assignors"): ((*DRAW, "--events", "0"), ("--assignor", "java/range"), ""),
    ("simulate", "start"): (("simulate", "--event", "join:1"), ("--start", "-"), LINE),
    ("simulate", "asked"): (("simulate", "--start", "-"), ("--event", "join:1"), LINE),
    ("simulate", "partition_counts"): (("simulate", "-"), ("--topic", "t:9"), LINE),
    ("simulate", "shows"): (CLOCK, ("--show",), ""),
    ("simulate", "seeds"): (CLOCK, ("--seeds", "2"), ""),
    ("simulate", "protocols"): (CLOCK, ("--protocol", "consumer"), ""),
    ("simulate", "coordinators"): (CLOCK, ("--coordinator", "blocking"), ""),
    ("simulate", "clients"): (CLOCK, ("--client", "in_poll"), ""),
    ("simulate", "own_assignors"): (
        ("simulate", "--scenario", "-"),
        ("--own-assignor", OWN),
        OWN_ON_A_CLOCK,
    ),
    ("simulate", "intervals"): (CLOCK, ("--intervals",), ""),
    ("simulate", "history"): (CLOCK, ("--history",), ""),
    ("simulate", "history_of"): (CLOCK, ("--history-of", "c0"), ""),
    ("replay", "is_sample"): (("replay",), ("--sample",), ""),
    ("replay", "wanted"): (SAMPLE, ("--group", "cooperative"), ""),
    ("replay", "assignors"): (SAMPLE, ("--what-if", "range"), ""),
    ("replay", "redact"): (SAMPLE, ("--redact",), ""),
    ("replay", "shown"): (SAMPLE, ("--table", "members"), ""),
    ("replay", "min_severity"): (SAMPLE, ("--min-severity", "high"), ""),
    ("replay", "kinds"): (SAMPLE, ("--kind", "rebalance-storm"), ""),
}
"""(command, parameter) -> a run, what is added to it, standard input: the output is another one."""

ELSEWHERE = {
    **{
        (name, option): "tests/cli/test_given_groups.py, with output of the tool"
        for name in ("assign", "check", "explain", "simulate")
        for option in ("group", "assumed", "partition_counts", "is_sample")
    },
    **{
        (name, "weights"): "tests/weighted/test_weights_file.py, with a file"
        for name in ("assign", "check", "explain")
    },
    ("assign", "jdk"): "tests/server: the order of hash sets",
    ("assign", "limit"): "tests/cli/test_assign.py: a group that takes long",
    ("simulate", "scenario"): "tests/cli/test_simulate_timed.py",
    ("simulate", "settings"): "tests/cli/test_own_group.py",
    ("simulate", "lists"): "tests/cli/test_simulate_timed.py",
    ("assign", "on_failure"): "tests/cli/test_assign.py: a group on which Java fails",
    ("simulate", "engine"): "tests/spark",
    ("simulate", "processes"): "faster, and the same rows: tests/cli/test_processes.py",
    ("simulate", "report"): "a file: tests/cli/test_simulate_timed.py",
    ("simulate", "log"): "a file: tests/cli/test_simulate_timed.py",
    ("simulate", "shrink"): "a file: tests/cli/test_simulate_timed.py",
    ("simulate", "fuzz"): "tests/cli/test_simulate_fuzz.py",
    ("simulate", "sweep"): "tests/cli/test_simulate_sweep.py",
    ("simulate", "traffic"): "tests/cli/test_simulate_traffic.py",
    **{
        ("dump", option): "tests/interop and tests/cli/test_dump.py: a cluster"
        for option in ("bootstrap", "config", "wanted", "since_ms", "is_committed_only", "output")
    },
    **{
        ("replay", option): "a cluster"
        for option in ("partition_counts", "bootstrap", "config", "jars")
    },
    ("replay", "engine"): "tests/spark",
    ("replay", "is_all"): "tests/cli/test_replay.py: more groups than a summary has",
    ("replay", "log_ends"): "a file: tests/replay/test_uneven_load.py",
    ("replay", "out"): "files: tests/cli/test_replay.py",
    ("replay", "report"): "a file: tests/cli/test_replay.py",
    **{
        ("replay", option): "tests/cli/test_replay_findings.py"
        for option in ("since_ms", "until_ms", "changed", "thresholds_of_file")
    },
    **{
        ("conform", option): "tests/cli/test_conform.py, with a program"
        for option in (
            "sources",
            "command_line",
            "timeout_seconds",
            "exact",
            "in_order",
            "prefixes",
        )
    },
    **{(name, "form"): "tests/cli/test_tables.py" for name in SUMMARIES},
}
"""(command, parameter) -> where else it is seen to matter."""


def options_of(name: str) -> list[click.Option]:
    return [each for each in COMMANDS[name].params if isinstance(each, click.Option)]


def test_every_option_of_every_command_is_seen_to_matter_somewhere() -> None:
    found = {(name, option.name) for name in COMMANDS for option in options_of(name)}
    assert found <= MATTERS.keys() | ELSEWHERE.keys(), "add a row to MATTERS, and to IDLE"
    assert MATTERS.keys() <= found


@pytest.mark.parametrize(("name", "option"), MATTERS)
def test_an_option_changes_what_comes_out(name: str, option: str) -> None:
    base, added, given = MATTERS[name, option]
    without, with_it = (once(arguments, given) for arguments in (base, _joined(base, added)))
    assert option in {each.name for each in options_of(name)}
    assert (without.output, without.exit_code) != (with_it.output, with_it.exit_code)
    assert "no effect" not in with_it.stderr


def run(*arguments: str, given: str = "") -> Any:
    return CliRunner().invoke(command, arguments, input=given)


@cache
def once(arguments: tuple[str, ...], given: str) -> Any:
    """Return what a run gave, played once."""
    return run(*arguments, given=given)


def _joined(base: tuple[str, ...], added: tuple[str, ...]) -> tuple[str, ...]:
    """Return the arguments with an option that stands there replaced."""
    if added[0] in base:
        place = base.index(added[0])
        return (*base[:place], *added, *base[place + len(added) :])
    return (*base, *added)


VALUES = {
    "assignor": "sticky",
    "assignors": "sticky",
    "compared": "sticky,range",
    "jdk": "17",
    "on_failure": "repair",
    "mode": "strict",
    "subscription": "equal",
    "engine": "python",
    "asked": "join:1",
    "prefer": "spread",
    "partition_counts": "t:9",
    "group": "g",
    "assumed": "equal",
    "scenario": "rolling-restart",
    "settings": "away=1s",
    "protocols": "classic",
    "clients": "in_poll",
    "coordinators": "two-stage",
    "own_assignors": OWN,
    "report": "never.html",
    "log": "never.jsonl",
    "shrink": "never.json",
    "form": "json",
    "start": "pyproject.toml",
    "shown": "groups",
    "weights": "docs/recipes/weights.json",
}
"""Parameter -> a value of it; of others 1."""

MODES: dict[str, tuple[tuple[tuple[str, ...], int], ...]] = {
    "decode": ((("offsets-record",), 0),),
    "assign": (
        (("--assignor", "range"), 0),
        (("--assignor", "sticky"), 1),
        (("--compare", "range,server/range"), 2),
        (("--assignor", "sticky"), 3),
    ),
    "explain": ((("--partition", "t:0"), 0),),
    "simulate": (
        (("--sweep", "pyproject.toml"), 0),
        (("--traffic", "noisy"), 1),
        (("--list",), 2),
        (("--fuzz", "1"), 3),
        (("--scenario", "rolling-restart", "--show"), 4),
        (("--scenario", "rolling-restart"), 5),
        (("--scenario", "rolling-restart"), 6),
        (("--set", "away=1s"), 7),
        ((), 8),
        (("--scenario", "rolling-restart", "--history"), 9),
        (("--scenario", "rolling-restart", "--shrink", "never.json"), 10),
        (("--scenario", "rolling-restart", "--log", "never.jsonl"), 11),
        (("--start", "pyproject.toml"), 12),
        (("pyproject.toml",), 13),
        ((), 14),
        (("--engine", "spark"), 15),
    ),
    "replay": ((("--sample", "--table", "groups"), 0),),
}
"""Command -> for each row of `IDLE` the arguments with which it holds, and its place."""


def idle_cases() -> list[tuple[str, tuple[str, ...], str]]:
    cases = []
    for name, modes in MODES.items():
        assert [row for _, row in modes] == list(range(len(IDLE[name]))), name
        for arguments, row in modes:
            for option in options_of(name):
                typed = any(each in arguments for each in option.opts)
                if option.name in IDLE[name][row].options and not typed:
                    cases.append((name, arguments, option.name or ""))
    return cases


@pytest.mark.parametrize(("name", "arguments", "option"), idle_cases())
def test_an_option_without_effect_is_refused(
    name: str, arguments: tuple[str, ...], option: str
) -> None:
    (found,) = (each for each in options_of(name) if each.name == option)
    typed = [found.opts[0]]
    if not found.is_flag:
        typed.append(VALUES.get(option, "1"))
    done = run(name, *arguments, *typed)
    assert done.exit_code == 2
    assert f"Error: {found.opts[0]} " in done.stderr or "Error: --" in done.stderr
    assert "has no effect" in done.stderr or " is for " in done.stderr
    assert done.stdout == ""
    assert not list(ROOT.glob("never.*"))


@pytest.mark.parametrize("name", COMMANDS)
def test_an_option_that_is_typed_twice_is_refused_unless_both_count(name: str) -> None:
    for option in options_of(name):
        if option.multiple or (option.is_flag and not option.secondary_opts):
            continue
        value = [] if option.is_flag else [VALUES.get(option.name or "", "1")]
        done = run(name, option.opts[0], *value, option.opts[0], *value)
        assert done.exit_code == 2
        assert f"{option.opts[0]} is given 2 times" in done.stderr, option.name


def test_a_flag_and_its_opposite_are_refused() -> None:
    assert "given 2 times" in run("simulate", "--faults", "--no-faults").stderr


def piped(*arguments: str, given: bytes | Path) -> subprocess.CompletedProcess[str]:
    """Run the command with a pipe or a file for standard input."""
    if isinstance(given, Path):
        with given.open("rb") as stream:
            return subprocess.run(
                [*COMMAND, *arguments],
                stdin=stream,
                capture_output=True,
                text=True,
                timeout=100,
                check=False,
                cwd=ROOT,
                env={**os.environ},  # not what readline has set beside it: COLUMNS
            )
    done = subprocess.run(
        [*COMMAND, *arguments],
        input=given,
        capture_output=True,
        timeout=100,
        check=False,
        cwd=ROOT,
        env={**os.environ},
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def test_simulate_reads_what_is_piped_to_it(tmp_path: Path) -> None:
    """It ran its defaults, 100 histories that nobody had asked for."""
    file = tmp_path / "rows.jsonl"
    file.write_text('{"seed": 7, "members": 2, "topics": 1, "events": 0, "id": "mine"}\n')
    for given in (file, file.read_bytes()):
        asked = ("simulate", "--assignor", "range", "-o", "jsonl")
        (line,) = piped(*asked, given=given).stdout.splitlines()
        assert json.loads(line)["id"] == "mine"


def test_simulate_says_that_it_does_not_read_what_is_piped_beside_its_options() -> None:
    small = ("simulate", "--assignor", "range", "--scenarios", "1", "--events", "0", "-o", "jsonl")
    beside = piped(*small, given=b'{"seed": 7}\n')
    assert len(beside.stdout.splitlines()) == 1
    assert "note: standard input is not read beside --scenarios" in beside.stderr


def test_replay_reads_standard_input_packed_or_not() -> None:
    sample = ROOT / "assignors/replay/sample/incident.jsonl.gz"
    named = CliRunner().invoke(command, ["replay", str(sample), "--table", "groups"]).stdout
    assert named.count("\n") > 1
    for given in (sample, gzip.decompress(sample.read_bytes())):
        assert piped("replay", "-", "--table", "groups", given=given).stdout == named
