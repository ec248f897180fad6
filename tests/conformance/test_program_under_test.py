"""Whatever a program does, it costs the vector it was asked, and never the run."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from assignors.conformance import program_under_test
from assignors.conformance.program_under_test import NoAnswer, ProgramUnderTest

SCRIPT = Path(__file__).with_name("misbehaving.py")
COMMAND = [sys.executable, str(SCRIPT)]
TIMEOUT_SECONDS = 4.0  # a busy machine needs seconds to start a Python

REASONS = {
    "crash": "was ended by SIGSEGV",
    "odd_signal": "was ended by signal ",
    "end": "ended with exit code 3: last words",
    "hang": "no answer in 4 s",
    "hang_with_child": "no answer in 4 s",
    "garbage": "no JSON: Exception in thread main",
    "half_a_line": "half a line, then it ended with exit code 0",
    "dribble": "no answer in 4 s",
    "another_id": "expected the answer to odd, found one to",
    "deep": "no JSON",
    "two_forms": "expected one of out, error, skip, found out, skip",
    "no_object": "expected an object, found a list of 2",
    "wrong_type": "out: found a list of 1",
    "close_output": "closed its output",
    "binary": "no JSON",
}


def good(program: ProgramUnderTest, name: str) -> None:
    assert program.ask({"id": name}) == {"id": name, "out": {"ud": "ffffffff"}}


@pytest.mark.parametrize("way", REASONS)
def test_a_program_that_misbehaves_loses_one_question(way: str) -> None:
    with ProgramUnderTest(COMMAND, timeout_seconds=TIMEOUT_SECONDS) as program:
        good(program, "before")
        answer = program.ask({"id": "odd", "do": way})
        assert isinstance(answer, NoAnswer)
        assert REASONS[way] in answer.reason
        good(program, "after")
        good(program, "and again")


def test_a_flood_on_standard_error_stops_nobody() -> None:
    with ProgramUnderTest(COMMAND, timeout_seconds=10) as program:
        for number in range(3):
            answer = program.ask({"id": f"{number}", "do": "flood_stderr"})
            assert not isinstance(answer, NoAnswer)


def test_a_flood_on_standard_output_costs_one_more_question_and_no_memory(tmp_path: Path) -> None:
    done = tmp_path / "done"
    with ProgramUnderTest(COMMAND, timeout_seconds=10) as program:
        answer = program.ask({"id": "a", "do": "flood_stdout", "file": str(done)})
        assert not isinstance(answer, NoAnswer)
        time.sleep(1)
        assert not done.exists(), "the flood was read, and is somewhere"
        assert isinstance(program.ask({"id": "b"}), NoAnswer)
        good(program, "c")


def test_a_program_that_never_reads_is_given_up() -> None:
    # The request is larger than any pipe: writing it must not block whoever asks.
    command = [sys.executable, "-c", "import time; time.sleep(600)"]
    with ProgramUnderTest(command, timeout_seconds=0.5) as program:
        answer = program.ask({"id": "a", "hex": "00" * 2_000_000})
        assert answer == NoAnswer("no answer in 0.5 s")


def test_a_line_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_under_test, "LINE_LIMIT", 1_000)
    with ProgramUnderTest(COMMAND) as program:
        assert program.ask({"id": "a", "do": "long_line"}) == NoAnswer(
            "a line of more than 1000 bytes"
        )
        good(program, "after")


def test_where_processes_have_no_groups_the_program_itself_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "killpg")
    with ProgramUnderTest(COMMAND, timeout_seconds=TIMEOUT_SECONDS) as program:
        assert isinstance(program.ask({"id": "a", "do": "hang"}), NoAnswer)
        good(program, "after")


def test_an_error_may_be_words_alone() -> None:
    with ProgramUnderTest(COMMAND) as program:
        answer = program.ask({"id": "a", "do": "plain_error"})
        assert answer == {"id": "a", "error": {"text": "no such thing"}}


def test_a_program_that_cannot_be_started_says_so() -> None:
    with (
        ProgramUnderTest(["no-such-program-anywhere"]) as program,
        pytest.raises(FileNotFoundError),
    ):
        program.ask({"id": "a"})


def test_a_program_that_ends_unasked_is_told_from_one_that_a_request_ends() -> None:
    ending = [sys.executable, "-c", "import sys; sys.exit('no settings')"]
    with ProgramUnderTest(ending) as program:
        answer = program.ask({"id": "a"})
        assert isinstance(answer, NoAnswer)
        assert answer.ended_in_seconds is not None
        with pytest.raises(ChildProcessError, match="exit code 1: no settings, and was asked not"):
            program.require_waiting(TIMEOUT_SECONDS)
    with ProgramUnderTest(COMMAND) as program:
        answer = program.ask({"id": "a", "do": "end"})
        assert isinstance(answer, NoAnswer)
        assert answer.ended_in_seconds is not None
        program.require_waiting(0.2)
        assert program.ask({"id": "a", "do": "answer"}) == {"id": "a", "out": {"ud": "ffffffff"}}


def test_nothing_is_left_behind() -> None:
    threads = threading.active_count()
    descriptors = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0  # noqa: PTH208  # names alone
    with ProgramUnderTest(COMMAND, timeout_seconds=0.5) as program:
        for way in ("hang_with_child", "end", "flood_stdout", "answer"):
            program.ask({"id": "a", "do": way})
    deadline = time.monotonic() + 60
    while threading.active_count() > threads and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() == threads
    if descriptors:
        assert len(os.listdir("/proc/self/fd")) == descriptors  # noqa: PTH208  # as above
