"""The command as a process: pipes, exit codes, what is imported, how it ends."""

from __future__ import annotations

import json
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

import assignors
from assignors.cli import MISSING
from assignors.cli.command import SUMMARIES, command
from tests.cli.running import COMMAND, GROUP, ROOT, called, process

LINE = json.dumps(GROUP).encode() + b"\n"
BLOB = b"00000000000100017400000000\n"


def test_exit_codes_are_those_that_the_readme_promises() -> None:
    bad = json.dumps({**GROUP, "assignment": {}}).encode() + b"\n"
    assert called("decode", "subscription", given=BLOB).returncode == 0
    assert process("check", given=bad).returncode == 1
    assert called("check", given=bad + b"x\n").returncode == 2
    assert called("decode", "nonsense").returncode == 2
    assert process("nonsense").returncode == 2
    assert called("assign", "--assignor", "range", "no/such/file").returncode == 2


@pytest.mark.parametrize("given", [b"\x00\xff\n", b"{" * 9999 + b"\n", b"[1e400]\n", b"\n"])
def test_no_line_brings_a_traceback(given: bytes) -> None:
    for arguments in (["assign", "--assignor", "sticky"], ["check"], ["decode", "assignment"]):
        ended = called(*arguments, given=given)
        assert (ended.returncode, ended.stderr) == (2, b"")
        assert len(ended.stdout.splitlines()) == 1


BUFFERED = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}


def test_each_answer_is_there_before_the_next_line_is_asked() -> None:
    with subprocess.Popen(
        [*COMMAND, "assign", "--assignor", "cooperative-sticky", "-o", "jsonl", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=BUFFERED,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for line in (LINE, b"x\n", LINE):
            running.stdin.write(line)
            running.stdin.flush()
            assert select.select([running.stdout], [], [], 20)[0], "no answer to a whole line"
            document = json.loads(running.stdout.readline())
            assert (document["error"] is None) == (line == LINE)
        running.stdin.close()
        assert running.wait(30) == 2


def test_files_are_read_in_order_and_dash_is_standard_input(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_bytes(b"\xef\xbb\xbf" + BLOB + BLOB.strip() + b"\r\n" + BLOB.strip())
    second.write_bytes(b"zz\n")
    ended = called("decode", "subscription", str(second), "-", str(first), given=b"\n")
    kinds = [json.loads(line)["error_kind"] for line in ended.stdout.splitlines()]
    assert kinds == [
        "bad-hex",
        "truncated",
        None,
        None,
        None,
    ]


def test_a_reader_that_leaves_ends_the_command_quietly() -> None:
    with subprocess.Popen(
        [*COMMAND, "decode", "subscription", "-o", "jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(BLOB)
        running.stdin.flush()
        running.stdout.readline()
        running.stdout.close()
        running.stdin.write(BLOB * 10)
        running.stdin.close()
        assert running.wait(30) == 141
        assert running.stderr.read() == b""


@pytest.mark.parametrize(
    ("closed", "said"),
    [
        ("<&-", "Error: standard input is closed: name a file"),
        (">&-", "kafka-assignors: standard output is closed"),
        ("2>&-", None),
    ],
)
def test_a_closed_stream_is_a_sentence(closed: str, said: str | None) -> None:
    words = shlex.join([*COMMAND, "assign", "--assignor", "sticky"])
    ended = subprocess.run(
        ["/bin/sh", "-c", f"{words} {closed}"],
        input=b"{}\n",
        capture_output=True,
        check=False,
        cwd=ROOT,
    )
    assert ended.returncode == 2
    lines = ended.stderr.decode().splitlines()
    assert lines[-1:] == ([] if said is None else [said])
    assert bool(ended.stdout) == (said is None)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_a_table_is_written_in_any_encoding(encoding: str) -> None:
    group = {"topics": {"日本": 1}, "members": [{"id": "é", "topics": ["日本"]}]}
    given = json.dumps(group).encode()
    asked = ("assign", "--assignor", "sticky", "-o", "table")
    ended = process(*asked, given=given, PYTHONIOENCODING=encoding)
    assert (ended.returncode, ended.stderr) == (0, b"")
    lines = ended.stdout.decode(encoding).splitlines()
    (rule,) = (place for place, line in enumerate(lines) if set(line) == {"-"})
    assert lines[rule + 1].split()[2] == r"\u65e5\u672c(0)"


def test_ctrl_c_ends_the_command_quietly() -> None:
    with subprocess.Popen(
        [*COMMAND, "decode", "subscription", "-o", "jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
        # A shell's background jobs, and all they start, ignore it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdin.write(BLOB)
        running.stdin.flush()
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
        assert running.stderr.read().strip() == b""


@pytest.mark.parametrize("package", ["click", "rich"])
def test_without_its_packages_the_command_says_what_to_install(
    package: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nsys.modules[{package!r}] = None\n", encoding="utf-8"
    )
    ended = process("--version", PYTHONPATH=f"{tmp_path}{os.pathsep}{ROOT}")
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert ended.stderr.decode() == MISSING


def test_json_lines_do_not_pay_for_tables_or_engines() -> None:
    program = (
        "import sys\n"
        "from assignors.cli.command import run\n"
        "run(['decode', 'subscription', '-o', 'jsonl'])\n"
        "heavy = {'rich.table', 'rich.console', 'pyspark', 'pyarrow', 'pandas', 'hypothesis'}\n"
        "sys.exit(str(sorted(heavy & set(sys.modules))) if heavy & set(sys.modules) else 0)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], input=BLOB, capture_output=True, check=False, cwd=ROOT
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_many_small_groups_take_less_than_a_millisecond_each() -> None:
    count = 2000
    started = time.process_time(), os.times().children_user
    ended = process("assign", "--assignor", "cooperative-sticky", given=LINE * count)
    assert ended.returncode == 0
    assert len(ended.stdout.splitlines()) == count
    assert os.times().children_user - started[1] < 2.0 + count / 1000


def test_the_package_is_the_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "assignors", "--version"], capture_output=True, check=True, cwd=ROOT
    )
    assert assignors.__version__ in ended.stdout.decode()


def test_help_names_subcommands() -> None:
    shown = process("--help").stdout.decode()
    for name in ("decode", "assign", "check", "histories", "explain", "assignors"):
        assert name in shown
        assert called(name, "-h").returncode == 0


def test_help_shows_the_first_sentence_of_each_subcommand() -> None:
    context = click.Context(command)
    for name, summary in SUMMARIES.items():
        subcommand = command.get_command(context, name)
        assert subcommand is not None
        assert subcommand.name == name
        assert (subcommand.help or "").startswith(summary), name
    assert command.get_command(context, "nonsense") is None


def test_help_imports_no_subcommand() -> None:
    program = (
        "import sys\n"
        "from assignors.cli.command import run\n"
        "run(['--help'])\n"
        "parts = ('commands.', 'simulation', 'replay', 'conformance', 'checks')\n"
        "print(*(name for name in sys.modules if any(part in name for part in parts)\n"
        "        and name.startswith('assignors')), file=sys.stderr)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ended.stderr.strip() == b""
