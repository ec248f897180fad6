"""The command `replay`: tables, files, what-if, and how it ends."""

from __future__ import annotations

import gzip
import json
import sys
from base64 import b64encode
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from assignors.cli.command import command
from assignors.cli.outputs.replay_tables import show_replayed
from assignors.replay.tables.columns import as_dict
from assignors.replay.tables.rows import TABLES, OffsetRow
from tests.cli.running import AS_LINES, called, process
from tests.replay.histories import DATA

REAL = str(DATA / "real.jsonl.gz")
COMMIT: dict[str, Any] = {
    **dict.fromkeys(("topic_id", "offset", "leader_epoch", "metadata", "commit_ms", "expire_ms")),
    **dict.fromkeys(("record_partition", "record_offset", "holder_id")),
    "at_ms": 0,
}
QUIET = ("--group", "^shop.01-java44$")


def run(*arguments: str) -> Result:
    """One run in this process."""
    result = CliRunner(env=AS_LINES).invoke(command, ["replay", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def documents(*arguments: str) -> list[dict[str, Any]]:
    """What a run prints, as documents."""
    return [json.loads(line) for line in run(*arguments).stdout.splitlines()]


def test_a_topic_with_findings_ends_with_1_and_a_quiet_one_with_0() -> None:
    assert run(REAL).exit_code == 1
    assert run(REAL, *QUIET).exit_code == 0


def test_each_line_is_a_row_of_a_table() -> None:
    found = documents(REAL, "--group", "migrate")
    assert {document["table"] for document in found} == {"groups", "findings"}
    lives = [d["row"]["life"] for d in found if d["row"]["group"] == "shop.32-migrate"]
    assert max(lives) == 5
    assert all(document["error"] is None and document["schema"] == 2 for document in found)


@pytest.mark.parametrize("table", list(TABLES))
def test_any_table_can_be_asked_for(table: str) -> None:
    tried = ("--what-if", "sticky") if table == "outcomes" else ()
    found = documents(REAL, "--group", "migrate", "--table", table, *tried)
    assert {document["table"] for document in found} == {table}


def test_several_assignors_are_tried_and_summed_up() -> None:
    found = documents(REAL, *QUIET, "--what-if", "sticky", "--what-if", "server/uniform")
    sums = [d["row"] for d in found if d["table"] == "outcomes" and d["row"]["group"] == "*"]
    assert [row["assignor"] for row in sums] == ["optimal/sticky", "server/uniform"]
    assert all(row["actual_moved"] == 10 for row in sums)


def test_an_assignor_of_ones_own_is_tried(tmp_path: Path) -> None:
    own = tmp_path / "own_assignor.py"
    own.write_text(
        "from dataclasses import replace\n"
        "from assignors.registry import assignor_named\n"
        "MINE = replace(assignor_named('java/range'), family='my', name='range')\n"
    )
    arguments = ("replay", REAL, *QUIET, "--what-if", "own_assignor:MINE")
    done = process(*arguments, PYTHONPATH=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert b'"assignor": "my/range"' in done.stdout


def test_an_assignor_that_fails_is_named_below_its_figures(tmp_path: Path) -> None:
    """A table of 80 columns had zeros, as of an assignor that moves nothing."""
    (tmp_path / "fails.py").write_text(
        "from assignors import Assignor\n"
        "FAILS = Assignor(family='my', name='fails', assign=lambda group: 1 / 0)\n"
    )
    arguments = ("replay", REAL, *QUIET, "--what-if", "fails:FAILS", "-o", "table")
    done = process(*arguments, PYTHONPATH=str(tmp_path), COLUMNS="80")
    said = " ".join(done.stdout.decode().split())
    assert "generations: AssignorError: fails:FAILS raised ZeroDivisionError" in said
    assert "failed: " in said


@pytest.mark.parametrize("option", ["--partitions", "--log-ends", "--weights"])
def test_a_file_of_an_option_that_is_not_there_is_named_once(option: str, tmp_path: Path) -> None:
    path = str(tmp_path / "none.json")
    done = called("assign" if option == "--weights" else "replay", option, path, REAL)
    assert done.returncode == 2
    assert f"{path}: No such file or directory" in done.stderr.decode()
    assert done.stderr.decode().count(path) == 1


def test_known_partition_counts_are_used_and_inferred_ones_marked(tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    counts.write_text('{"orders": 60, "payments": 4, "clicks.v2": 3, "tiny": 1}')
    known = documents(REAL, *QUIET, "--partitions", str(counts), "--table", "generations")
    assert not any(document["row"]["counts_inferred"] for document in known)
    assert max(document["row"]["unassigned"] for document in known) >= 54
    inferred = documents(REAL, *QUIET, "--table", "generations")
    assert any(document["row"]["counts_inferred"] for document in inferred)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"orders": -1}', "-1 partitions at orders"),
        ('{"orders": 2147483647}', "more than 10000000 at orders"),
        ('{"orders": "6"}', "expected an integer"),
        ("[]", "expected an object"),
        ("{", "byte 1"),
    ],
)
def test_partition_counts_that_cannot_be_are_a_sentence(
    tmp_path: Path, text: str, words: str
) -> None:
    counts = tmp_path / "counts.json"
    counts.write_text(text)
    result = run(REAL, "--partitions", str(counts))
    assert result.exit_code == 2
    assert words in result.stderr


def test_tables_are_written_as_parquet(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(REAL, "--out", str(out), "--what-if", "sticky")
    assert sorted(path.stem for path in out.iterdir()) == sorted(TABLES)
    assert pq.read_table(out / "offsets.parquet").num_rows == 3414
    assert pq.read_table(out / "outcomes.parquet").num_rows > 250
    assert f"wrote {len(TABLES)} tables" in result.stderr


def test_hidden_names_are_nowhere(tmp_path: Path) -> None:
    out = tmp_path / "out"
    names = ("shop.", "w-java44", "127.0.0.1", "w-franz")
    result = run(REAL, "--redact", "--out", str(out), "--what-if", "sticky", "--group", "shop")
    assert result.exit_code == 1
    assert "group-1" in result.stdout
    # The source's own name is the user's; topics keep theirs.
    assert not [name for name in names if name in result.stdout]
    for path in out.iterdir():
        written = str(pq.read_table(path).to_pylist())
        assert not [name for name in names if name in written], path


def record(key: bytes, value: bytes | None) -> str:
    """A line of a dump."""
    encoded = None if value is None else b64encode(value).decode()
    return json.dumps({"key": b64encode(key).decode(), "value": encoded})


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.jsonl", b"", "no records: is it empty?"),
        (
            "wrong.jsonl",
            record(b"order-17", b"{}").encode(),
            "no record is one of __consumer_offsets: ",
        ),
        ("notes.txt", b"", "no .jsonl, .parquet or .log file"),
        ("broken.parquet", b"PAR1", "no Parquet file"),
    ],
)
def test_what_cannot_be_read_is_one_line_that_names_it(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    result = run(str(path))
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert name in line
    assert words in line


def test_a_missing_source_and_a_group_that_is_not_there() -> None:
    assert run("nowhere.jsonl").exit_code == 2
    result = run(REAL, "--group", "nobody")
    assert result.exit_code == 2
    assert "43 are there" in result.stderr
    assert run(REAL, "--group", "(").exit_code == 2


def test_a_line_that_cannot_be_read_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    good = gzip.decompress((DATA / "real.jsonl.gz").read_bytes())
    path.write_bytes(b"{\n" + good)
    found = documents(str(path))
    unreadable = [d["row"] for d in found if d["table"] == "findings" and d["row"]["group"] == ""]
    assert [row["kind"] for row in unreadable] == ["unreadable"]
    assert "line 1" in unreadable[0]["evidence"]
    assert sum(d["table"] == "groups" for d in found) == 65


def test_the_command_as_a_process_says_what_it_wrote(tmp_path: Path) -> None:
    done = process("replay", REAL, *QUIET, "--out", str(tmp_path / "out"))
    assert done.returncode == 0
    assert done.stderr.decode().startswith("wrote 7 tables")
    assert all(json.loads(line)["table"] == "groups" for line in done.stdout.splitlines())


def test_of_many_commits_the_table_says_how_many_it_leaves_out() -> None:
    def document(number: int) -> dict[str, Any]:
        row = as_dict(OffsetRow(group="g", topic="t", partition=number, **COMMIT))
        return {"table": "offsets", "row": row}

    rest = {"table": "offsets", "row": None, "left_out": 4_711}
    assert "and 4,711 more" in drawn([document(1), rest])
    assert "and 4,712 more" in drawn([*(document(number) for number in range(1001)), rest])
    assert "more" not in drawn([document(number) for number in range(1000)])


def drawn(documents: list[dict[str, Any]]) -> str:
    """What a table of these looks like."""
    with redirect_stdout(StringIO()) as out:
        show_replayed(documents)
    return out.getvalue()


@pytest.mark.parametrize(
    ("form", "columns", "lines"), [("jsonl", "", 3414), ("table", "", 3419), ("table", "200", 1006)]
)
def test_commits_are_all_there_and_only_a_narrow_table_stops_at_a_thousand(
    form: str, columns: str, lines: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    result = run(REAL, "--table", "offsets", "-o", form)
    assert ("and 2,414 more: use --all, --out" in result.stdout) == bool(columns)
    assert result.stdout.count("\n") == lines


def test_a_report_is_one_page_and_hides_what_is_hidden(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = run(REAL, "--group", "15-aio", "--report", str(page), "--redact")
    assert f"wrote {page}" in result.stderr
    text = page.read_text(encoding="utf-8")
    assert "group-1" in text
    assert not [name for name in ("shop.", "w-aio", "127.0.0.1", "real.jsonl") if name in text]


def test_no_work_is_done_for_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    place = tmp_path / "no" / "page.html"
    result = run("no-such-file.jsonl", "--report", str(place))
    assert result.exit_code == 2
    assert f"{place.parent}: no such folder" in " ".join(result.stderr.split())
    result = run("no-such-file.jsonl", "--report", "-")
    assert (result.exit_code, "standard output has the answers" in result.stderr) == (2, True)


@pytest.mark.parametrize("name", ["no-such.jsonl", "no-such.parquet", "no-such.log", "no-such"])
def test_a_source_that_is_not_there_is_said_before_a_package_is_missing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "assignors.replay.sources", None)
    result = run(name)
    assert result.exit_code == 2
    assert f"{name}: no such file or folder" in result.stderr


def test_a_report_without_jinja2_says_what_to_install_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("no-such-file.jsonl", "--report", str(tmp_path / "report.html"))
    assert result.exit_code == 2
    assert "--report needs jinja2: pip install 'kafka-assignors[replay]'" in result.stderr
