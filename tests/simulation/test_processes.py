"""Scenarios in several processes: rows are read as they are needed."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Generator, Iterator
from threading import Thread
from typing import Any

import pytest

from assignors.simulation import processes
from assignors.simulation.processes import CHUNKS_AHEAD, ENDED_EARLY, in_processes
from assignors.simulation.rounds.scenario_rows import CHUNK, simulate_rows

ROW_COUNT = 20 * CHUNK
READ_AHEAD = 2 * CHUNKS_AHEAD * CHUNK
"""Rows read when the first outcome has been taken from two processes."""


class Rows:
    """Rows that count how many of them were read."""

    def __init__(self) -> None:
        self.read = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for seed in range(ROW_COUNT):
            self.read += 1
            yield {"id": str(seed), "seed": seed, "members": 1, "topics": 1, "events": 0}


def started(rows: Rows) -> Generator[dict[str, Any], None, None]:
    """Outcomes of two processes of which the first has been taken, and all rows read ahead."""
    outcomes = simulate_rows(rows, assignors=["range"], processes=2)
    assert isinstance(outcomes, Generator)
    assert next(outcomes)["id"] == "0"
    until = time.monotonic() + 60
    while rows.read < READ_AHEAD and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.1)
    return outcomes


def test_rows_are_read_a_few_chunks_ahead_and_no_further() -> None:
    """All rows were read before the first outcome: memory grew with their number."""
    rows = Rows()
    outcomes = started(rows)
    assert rows.read == READ_AHEAD
    assert [row["id"] for row in outcomes] == [str(seed) for seed in range(1, ROW_COUNT)]


def test_outcomes_that_are_not_taken_keep_nobody_waiting() -> None:
    rows = Rows()
    thread = Thread(target=started(rows).close, daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert not thread.is_alive()
    assert rows.read == READ_AHEAD


def blocked(number: int) -> list[tuple[int, bool]]:
    """The number, and whether Ctrl-C does not reach this process."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return [(number, signal.SIGINT in mask)]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no such masks")
def test_an_interrupt_is_for_the_first_process_alone() -> None:
    """Each of the others ended with a traceback of its own."""
    assert list(in_processes([1, 2, 3], blocked, 2, 2)) == [(1, True), (2, True), (3, True)]
    assert blocked(0) == [(0, False)]


def ended_at_seven(number: int) -> list[int]:
    """The number; the process that gets 7 is killed, as by a machine without memory."""
    if number == 7:
        os.kill(os.getpid(), signal.SIGKILL)
    return [number]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
def test_a_process_that_is_killed_is_an_error_and_keeps_nobody_waiting() -> None:
    """Another one took its place, and its rows were waited for without end."""
    taken: list[int] = []
    errors: list[str] = []

    def take() -> None:
        try:
            taken.extend(in_processes(range(100), ended_at_seven, 2, 1))
        except ChildProcessError as error:
            errors.append(str(error))

    thread = Thread(target=take, daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert errors == [ENDED_EARLY]
    assert taken == list(range(len(taken)))
    assert len(taken) <= 7


def broken() -> Iterator[int]:
    """Three rows, and no fourth one."""
    yield from range(3)
    raise ValueError("no row")


def test_what_the_rows_raise_comes_after_the_outcomes_before() -> None:
    outcomes = in_processes(broken(), doubled, 2, 1)
    assert [next(outcomes) for _ in range(3)] == [0, 2, 4]
    with pytest.raises(ValueError, match="no row"):
        next(outcomes)


def doubled(number: int) -> list[int]:
    """The number twice over."""
    return [2 * number]


def whose(row: int) -> Iterator[tuple[int, int]]:
    """A row, and the process that plays it."""
    yield row, os.getpid()


def test_others_start_where_the_rows_take_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "usable_processors", lambda: 2)
    few = list(in_processes(range(20), whose, None, 4))
    assert {process for _, process in few} == {os.getpid()}
    monkeypatch.setattr(processes, "ALONE_SECONDS", -1.0)
    many = list(in_processes(range(20), whose, None, 4))
    assert [row for row, _ in many] == [row for row, _ in few] == list(range(20))
    assert many[0][1] == os.getpid()
    assert os.getpid() not in {process for _, process in many[1:]}
