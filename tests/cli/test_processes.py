"""`simulate` uses the machine where that pays, and says the same however many processes play."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import pytest

from assignors.cli.commands.simulating import rounds
from assignors.cli.commands.simulating.timed import results
from assignors.simulation.processes import Row
from assignors.simulation.rounds.scenario_rows import simulate_rows
from assignors.simulation.timed.tables.rows import interval_rows, result_rows
from tests.cli.running import answers

SMALL = ("--members", "2", "--topics", "1", "--partitions", "4", "--events", "1")
ASKED = ("simulate", *SMALL, "--assignor", "range")
CLOCK = ("simulate", "--scenario", "crash", "--protocol", "consumer", "--seeds")


def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return the processes and rows at a time that are asked for from now on, as they are."""
    found: list[tuple[int, int]] = []

    def noted(
        rows: Iterable[Row], *, assignors: Sequence[str], processes: int, chunk: int
    ) -> Iterator[dict[str, Any]]:
        found.append((processes, chunk))
        return simulate_rows(rows, assignors=assignors, processes=1, chunk=chunk)

    monkeypatch.setattr(rounds, "simulate_rows", noted)
    monkeypatch.setattr(rounds, "usable_processors", lambda: 8)
    return found


def test_many_histories_use_every_processor_and_few_use_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = started(monkeypatch)
    answers(*ASKED, "--scenarios", "3")
    answers(*ASKED, "--scenarios", "3", "--processes", "5")
    monkeypatch.setattr(rounds, "SMALL_WORK", 100)
    answers(*ASKED, "--scenarios", "70")
    answers(*ASKED, "--scenarios", "12")
    # As many chunks as keep all busy: 70 histories are two of the usual size.
    assert found == [(1, 1), (5, 1), (8, 2), (8, 1)]


def test_a_file_is_answered_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    found = started(monkeypatch)
    monkeypatch.setattr(rounds, "SMALL_WORK", 0)
    answers("simulate", "-", given='{"seed": 1, "members": 2}\n')
    assert [processes for processes, _ in found] == [1]


def test_processes_of_the_default_give_the_same_outcomes(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = outcomes("--processes", "1")
    monkeypatch.setattr(rounds, "SMALL_WORK", 0)
    monkeypatch.setattr(rounds, "usable_processors", lambda: 2)
    assert outcomes() == alone


def outcomes(*options: str) -> list[dict[str, Any]]:
    """Return the outcomes of four histories, without the time they took."""
    rows, _ = answers(*ASKED, "--scenarios", "4", *options)
    return [{key: value for key, value in row.items() if key != "cpu_ms"} for row in rows]


@pytest.mark.parametrize("asked", [(), ("--intervals",)])
def test_runs_on_a_clock_are_the_same_with_every_processor(
    asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[int, int]] = []
    name, rows_of = ("interval_rows", interval_rows) if asked else ("result_rows", result_rows)

    def noted(
        rows: Iterable[Row],
        *,
        processes: int,
        chunk: int,
        own_assignors: Collection[str],
    ) -> Iterator[dict[str, Any]]:
        assert own_assignors == ()
        found.append((processes, chunk))
        return rows_of(rows, processes=min(processes, 1 if asked else 2), chunk=chunk)

    monkeypatch.setattr(results, name, noted)
    monkeypatch.setattr(results, "usable_processors", lambda: 8)
    alone = answers(*CLOCK, "20", *asked)
    monkeypatch.setattr(results, "SMALL_WORK", 10_000)
    assert answers(*CLOCK, "20", *asked) == alone
    assert answers(*CLOCK, "20", *asked, "--processes", "1") == alone
    assert found == [(1, 5), (8, 1), (1, 5)]


@pytest.mark.parametrize(
    ("asked", "processes"),
    [
        (("join-storm", "--seeds", "1"), 1),
        (("join-storm", "--protocol", "classic,consumer", "--seeds", "4"), 8),
        (("crash", "--seeds", "10"), 1),
        (("crash", "--coordinator", "blocking", "--seeds", "10"), 8),
    ],
)
def test_the_work_is_that_of_the_runs_that_are_asked_for(
    asked: tuple[str, ...], processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model of the coordinator adds many events."""
    found: list[int] = []

    def noted(rows: Iterable[Row], *, processes: int, **_: object) -> Iterator[dict[str, Any]]:
        found.append(processes)
        return iter(())

    monkeypatch.setattr(results, "result_rows", noted)
    monkeypatch.setattr(results, "usable_processors", lambda: 8)
    monkeypatch.setattr(results, "SMALL_WORK", 25_000)
    answers("simulate", "--scenario", *asked)
    assert found == [processes]
