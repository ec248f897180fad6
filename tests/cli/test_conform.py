"""`conform` as a process: whatever the program under test does, the run goes on and says so."""

from __future__ import annotations

import gzip
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.conformance.published_vectors import PUBLISHED
from assignors.conformance.vectors import read_vectors
from tests.cli.running import ROOT, answers, called

PROGRAM = f"{sys.executable} {ROOT / 'tests' / 'conformance' / 'misbehaving.py'}"
OURSELVES = f"{sys.executable} -m assignors.conformance"
VECTORS = ROOT / "tests" / "vectors"
PEERS = VECTORS / "peers.jsonl"
FILES = {name: VECTORS / file for name, file in PUBLISHED.items()}

Line = dict[str, Any]


def vector(name: str, **given: Any) -> Line:
    """A question that the misbehaving program answers correctly unless `do` says otherwise."""
    return {"id": name, "in": {"algo": "codec-coopud", **given}, "out": {"ud": "ffffffff"}}


def file_of(folder: Path, *lines: Line, name: str = "vectors.jsonl") -> str:
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


def conformed(path: str, *more: str, program: str = PROGRAM) -> tuple[list[Line], int]:
    """Return the documents and the exit code of one run."""
    return answers("conform", "--vectors", path, "--command", program, "-o", "jsonl", *more)


def test_all_that_can_go_wrong_goes_wrong_in_one_run(tmp_path: Path) -> None:
    ways = {
        "crash": "was ended by SIGSEGV",
        "hang": "no answer in 4 s",
        "garbage": "no JSON: Exception in thread main",
        "half_a_line": "half a line, then it ended with exit code 0",
        "end": "ended with exit code 3: last words",
        "flood_stdout": "",
        "binary": "no JSON",
        "deep": "no JSON",
    }
    lines = []
    for way in ways:
        lines += [vector(f"before-{way}"), vector(f"odd-{way}", do=way)]
        # What floods standard output is asked right, and spoils the question after it.
        lines += [vector("odd-after_flood")] if way == "flood_stdout" else []
    documents, code = conformed(file_of(tmp_path, *lines, vector("last")), "--timeout", "4")
    assert code == 1
    *failures, before, odd, last = documents
    said = {document["id"].removeprefix("odd-"): document["wrong"][0] for document in failures}
    assert set(said) == {*ways, "after_flood"} - {"flood_stdout"}
    assert all(words in said.get(way, "") for way, words in ways.items())
    assert all(document["answer"] is None for document in failures)
    assert [one["category"] for one in (before, odd, last)] == ["before", "odd", ""]
    assert (before["passed"], before["failed"]) == (len(ways), 0)
    assert (odd["passed"], odd["failed"]) == (1, len(ways))
    assert (last["passed"], last["failed"]) == (1, 0)


def test_a_flood_on_standard_error_is_no_failure(tmp_path: Path) -> None:
    path = file_of(tmp_path, *(vector(f"v-{n}", do="flood_stderr") for n in range(3)))
    (summary,), code = conformed(path)
    assert (summary["passed"], code) == (3, 0)


def test_a_childs_children_end_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    path = file_of(tmp_path, vector("v-1", do="hang_with_child", file=str(pid_file)))
    (failure, _), code = conformed(path, "--timeout", "4")
    assert (failure["wrong"], code) == (["no answer in 4 s"], 1)
    deadline = time.monotonic() + 60
    while is_running(int(pid_file.read_text())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(int(pid_file.read_text()))


def is_running(process_id: int) -> bool:
    """Whether a process is there and no zombie that nobody has buried yet."""
    status = Path(f"/proc/{process_id}/stat")
    if not Path("/proc/self/stat").exists():
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return False
        return True
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_failure_says_what_was_expected_what_came_and_why_it_matters(tmp_path: Path) -> None:
    wrong = {**vector("coopud-7"), "out": {"ud": "00000007"}, "note": "generation 7"}
    (failure, summary), code = conformed(file_of(tmp_path, wrong))
    assert code == 1
    assert failure == {
        "schema": 2,
        "id": "coopud-7",
        "category": "coopud",
        "judge": "equal",
        "wrong": ["ud: byte 0: expected 00000007, got ffffffff"],
        "expected": {"ud": "00000007"},
        "answer": {"id": "coopud-7", "out": {"ud": "ffffffff"}},
        "note": "generation 7",
        "error": None,
        "error_kind": None,
    }
    assert summary == {
        "schema": 2,
        "category": "coopud",
        "passed": 0,
        "failed": 1,
        "skipped": 0,
        "reasons": {},
        "error": None,
        "error_kind": None,
    }


def test_what_a_program_does_not_do_is_no_failure_and_is_counted(tmp_path: Path) -> None:
    lines = [{"id": f"rec-{n}", "op": "decode", "in": {"algo": "rec-new"}} for n in range(3)]
    path = file_of(tmp_path, *({**line, "judge": "equal"} for line in lines))
    (summary,), code = conformed(path, program=OURSELVES)
    assert (summary["skipped"], summary["passed"], code) == (3, 0, 0)
    assert summary["reasons"] == {"rec-new is not supported": 3}


def test_files_may_be_packed_and_several_and_have_a_header(tmp_path: Path) -> None:
    first = file_of(tmp_path, {"format": 1, "title": "ours"}, vector("a-1"), vector("b-1"))
    second = tmp_path / "second"
    second.write_bytes(gzip.compress(json.dumps(vector("a-2")).encode()))
    documents, code = conformed(first, "--vectors", str(second))
    assert [(one["category"], one["passed"]) for one in documents] == [("a", 2), ("b", 1)]
    assert code == 0
    documents, _ = conformed(first, "--vectors", str(second), "--only", "a-2", "--only", "b")
    assert [(one["category"], one["passed"]) for one in documents] == [("b", 1), ("a", 1)]


TRADED: Line = {
    "id": "sticky-1",
    "in": {
        "algo": "sticky",
        "topics": {"t": [[], []]},
        "members": [{"id": "a", "topics": ["t"]}, {"id": "b", "topics": ["t"]}],
    },
    "out": {"assignment": {"a": [["t", 1]], "b": [["t", 0]]}, "order": ["a", "b"]},
}


def test_exact_asks_for_the_answer_of_the_reference(tmp_path: Path) -> None:
    traded = file_of(tmp_path, TRADED)
    assert conformed(traded, program=OURSELVES)[1] == 0
    documents, code = conformed(traded, "--exact", program=OURSELVES)
    assert (documents[0]["wrong"][0], code) == ("a: without t-1", 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--command", "no-such-program-anywhere"], "does not start"),
        (["--command", "/"], "does not start"),
        (["--command", f"{sys.executable} -m no_such_module"], "No module named no_such_module"),
        (["--command", ""], "no program"),
        (["--command", "'open"], "No closing quotation"),
        (["--command", PROGRAM, "--only", "zzz"], "no vector's id begins with 'zzz'; known: a"),
        (["--command", PROGRAM, "--only", "a", "--only", "zzz"], "begins with 'zzz'"),
        (["--command", PROGRAM, "--timeout", "0"], "--timeout"),
        (["--command", PROGRAM, "--timeout", "soon"], "--timeout"),
        (["--command", PROGRAM, "--vectors", "no/such/file"], "does not exist"),
        (["--command", PROGRAM, "--vectors", "/"], "directory"),
        (["--command", PROGRAM, "--vectors", __file__], "line 1"),
        ([], "--command"),
    ],
)
def test_what_cannot_be_run_is_a_sentence_and_exit_code_2(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    path = file_of(tmp_path, vector("a-1"))
    result = CliRunner().invoke(command, ["conform", "--vectors", path, *arguments])
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""


def test_a_file_that_is_none_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "vectors.jsonl"
    path.write_bytes(b'{"format": 1}\n{"id": 5, "in": {}}\n')
    ended = called("conform", "--vectors", str(path), "--command", PROGRAM)
    assert ended.returncode == 2
    assert b"line 2: expected a string, found 5 at id\n" in ended.stderr
    assert b"Traceback" not in ended.stderr


def test_every_form_of_output_says_the_same(tmp_path: Path) -> None:
    path = file_of(tmp_path, vector("a-1"), {**vector("a-2", do="crash"), "note": "it hurts"})
    arguments = ("conform", "--vectors", path, "--command", PROGRAM, "-o")
    lines, table = (called(*arguments, form) for form in ("jsonl", "table"))
    assert [ended.returncode for ended in (lines, table)] == [1, 1]
    shown = table.stdout.decode()
    assert "a-2  (it hurts)" in shown
    assert "was ended by SIGSEGV" in shown
    assert "CATEGORY" in shown
    (row,) = [line for line in shown.splitlines() if line.split()[:1] == ["a"]]
    assert row.split() == ["a", "1", "1", "0", "-"]


def test_a_name_that_a_terminal_would_obey_is_shown_and_not_sent(tmp_path: Path) -> None:
    evil = {**vector("a-\x1b[2J", do="crash"), "note": "\x1b]0;title\x07[red]"}
    path = file_of(tmp_path, evil)
    ended = called("conform", "--vectors", path, "--command", PROGRAM, "-o", "table")
    assert ended.returncode == 1
    assert b"\x1b" not in ended.stdout
    assert b"\x07" not in ended.stdout
    assert b"[red]" in ended.stdout


@pytest.mark.parametrize("name", ["kafka-4.4.0", "records-4.4.0", "peers", None])
def test_vectors_that_come_with_the_package_have_a_name(name: str | None) -> None:
    named = () if name is None else ("--vectors", name)
    first = next(read_vectors(FILES[name or "kafka-4.4.0"])).vector_id
    documents, code = answers("conform", *named, "--only", first, "--command", OURSELVES)
    assert [each["passed"] + each["skipped"] for each in documents] == [1]
    assert code == 0


def test_an_unknown_name_lists_those_there_are() -> None:
    result = CliRunner().invoke(command, ["conform", "--vectors", "kafka", "--command", PROGRAM])
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "does not exist. With this package come: kafka-4.4.0, records-4.4.0, peers." in said


def test_cases_of_peers_run_from_the_command_line() -> None:
    documents, code = conformed(str(PEERS), program=OURSELVES)
    assert code == 0
    assert sum(document["passed"] for document in documents) > 10
