"""Scenarios as rows of a table, and what their runs cost as rows.

A scenario row has the columns `GIVEN`. The scenario is JSON text, the object that such text has, or
a name of the gallery; seed, protocol, the execution model of the coordinator (`none`: without one),
the client model of all members and the assignor replace the scenario's own where they are given.
The assignor is that of all members in a classic group, and the broker's in others. A row that
cannot be run becomes a row with `error` set; the other rows are not affected.

Rows are data: of assignors outside the registry (`package.module:object`) those alone are imported
that the caller names in `own_assignors`, in each process where a row is run.

With several processes the rows are the same, in the same order. The calling program must guard its
start then (`if __name__ == "__main__"`), as `multiprocessing` asks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import attrgetter
from typing import Annotated, Any

from assignors import __version__
from assignors.documents.values import DocumentError, ErrorCode
from assignors.ownership.intervals import ownerships
from assignors.simulation.processes import in_processes
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.scenario.execution import NO_MODEL, as_model
from assignors.simulation.timed.scenario.members import READERS as MEMBER_READERS
from assignors.simulation.timed.scenario.possible import require_possible
from assignors.simulation.timed.scenario.protocols import GroupProtocol
from assignors.simulation.timed.scenario.reading import as_assignor, as_member_assignor
from assignors.simulation.timed.scenario.whole import READERS
from assignors.simulation.timed.scenario_document import (
    require_allowed,
    scenario_from_document,
    scenario_hash,
)
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.tables.all_figures import simulate_with_all_figures

Row = Mapping[str, Any]
"""Column -> value."""

GIVEN = ("scenario", "seed", "protocol", "coordinator_model", "client_model", "assignor")
"""Columns of a scenario row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalRow:
    """One member consumed one partition, by the ledger of the run."""

    topic: str
    """Name of the topic."""
    partition: Annotated[int, "int32"]
    """Partition number."""
    member: str
    """Id of the member."""
    start_ms: float
    """From the begin of the run."""
    end_ms: float | None
    """`None` while it lasts at the end of the run."""
    ended_by: str | None
    """Why it ended, as the member's effect had it."""


IDENTITY = (*GIVEN, "scenario_hash", "package_version")
"""Columns by which every row names its run."""
FIGURES = tuple(each.name for each in fields(TimedResult) if each.name not in IDENTITY)
RESULT_COLUMNS = (*IDENTITY, *FIGURES, "error")
INTERVAL_FIELDS = tuple(each.name for each in fields(IntervalRow))
INTERVAL_COLUMNS = (*IDENTITY, *INTERVAL_FIELDS, "error")
_figures = attrgetter(*FIGURES)
_interval = attrgetter(*INTERVAL_FIELDS)

RUNS_A_CHUNK = 20
"""Runs that a process gets at a time, where the caller has no better number."""


def result_rows(
    rows: Iterable[Row],
    *,
    processes: int = 1,
    chunk: int = RUNS_A_CHUNK,
    own_assignors: Collection[str] = (),
    all_figures: bool = False,
) -> Iterator[dict[str, Any]]:
    """Yield one result row (`RESULT_COLUMNS`) for each scenario row, in their order.

    With `all_figures` those too that are measured on request (`tables.all_figures`). Cost: that of
    the runs. Memory: one run with one process; with several, the rows of `CHUNKS_AHEAD` chunks for
    each.

    >>> [row["error"] for row in result_rows([{"scenario": "crash"}, {"scenario": "{}"}])]
    [None, 'bad-row: scenario.version: is missing']
    """
    own = tuple(own_assignors)
    play = partial(_result_rows, own_assignors=own, all_figures=all_figures)
    return _in_processes(rows, play, processes, chunk)


def interval_rows(
    rows: Iterable[Row],
    *,
    processes: int = 1,
    chunk: int = RUNS_A_CHUNK,
    own_assignors: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield who consumed what, when: rows (`INTERVAL_COLUMNS`) of one run after another.

    A row that cannot be run gives one row with `error` set. Memory: the intervals of one run with
    one process; with several, those of `CHUNKS_AHEAD` chunks for each.
    """
    play = partial(_interval_rows, own_assignors=tuple(own_assignors))
    return _in_processes(rows, play, processes, chunk)


def _in_processes(
    rows: Iterable[Row],
    play: Callable[[Iterable[Row]], Iterator[dict[str, Any]]],
    processes: int,
    chunk: int,
) -> Iterator[dict[str, Any]]:
    # One process takes all rows at once, so that a text which they share is read once.
    return play(rows) if processes <= 1 else in_processes(rows, play, processes, chunk)


def _result_rows(
    rows: Iterable[Row], *, own_assignors: Collection[str], all_figures: bool
) -> Iterator[dict[str, Any]]:
    empty, play = dict.fromkeys(RESULT_COLUMNS), partial(result_row, all_figures=all_figures)
    for row, scenario in scenarios_of(rows, own_assignors):
        yield _attempt(row, scenario, play, empty)


def _interval_rows(
    rows: Iterable[Row], *, own_assignors: Collection[str]
) -> Iterator[dict[str, Any]]:
    empty = dict.fromkeys(INTERVAL_COLUMNS)
    for row, scenario in scenarios_of(rows, own_assignors):
        made = _attempt(row, scenario, _intervals_of_run, empty)
        yield from [made] if isinstance(made, dict) else made


def result_row(scenario: Scenario, *, all_figures: bool = False) -> dict[str, Any]:
    """Return the result row of a scenario."""
    played = simulate_with_all_figures(scenario) if all_figures else simulate(scenario)
    figures = zip(FIGURES, _figures(played.result), strict=True)
    return {**identity(scenario), **dict(figures), "error": None}


def intervals(played: Played) -> list[IntervalRow]:
    """Return the ownership intervals of a run that kept its history, in the order of their begin.

    Cost: O(partitions in all changes).
    """
    return [
        IntervalRow(
            topic=one.topic,
            partition=one.partition,
            member=one.member_id,
            start_ms=one.start / MILLISECOND,
            end_ms=None if one.end is None else one.end / MILLISECOND,
            ended_by=one.ended_by,
        )
        for one in ownerships(played.changes)
    ]


def identity(scenario: Scenario) -> dict[str, Any]:
    """Return the columns by which rows name a run."""
    return {
        "scenario": scenario.name,
        "seed": scenario.seed,
        "protocol": scenario.protocol.value,
        "coordinator_model": scenario.broker.execution.model,
        "client_model": _client_model(scenario),
        "assignor": _assignor(scenario),
        "scenario_hash": scenario_hash(scenario),
        "package_version": __version__,
    }


def _client_model(scenario: Scenario) -> str | None:
    """Return the client model of all members; `None` where there is none, or not one of all."""
    models = {each.client_model for each in scenario.members}
    model = models.pop() if len(models) == 1 else None
    return None if model is None else model.value


def _assignor(scenario: Scenario) -> str | None:
    """Return the assignor of the group; `None` where its members list several, or not the same."""
    if scenario.protocol is not GroupProtocol.CLASSIC:
        return scenario.broker.assignor
    members = [*scenario.members, *(each.member for each in scenario.arrivals)]
    listed = {name for each in members for name in each.assignors}
    return listed.pop() if len(listed) == 1 else None


def scenario_of(row: Row, own_assignors: Collection[str] = ()) -> Scenario:
    """Return the scenario of a row. Raises `DocumentError` with the path of what is wrong.

    >>> scenario_of({"scenario": "crash", "seed": 3, "protocol": "consumer"}).seed
    3
    """
    scenario = _parsed(row.get("scenario"), own_assignors)
    return overridden(scenario, row, own_assignors)


def scenarios_of(
    rows: Iterable[Row], own_assignors: Collection[str] = ()
) -> Iterator[tuple[Row, Scenario | DocumentError]]:
    """Yield each row with its scenario; one text that many rows share is read once."""
    last_text: object = None
    last: Scenario | None = None
    for row in rows:
        text = row.get("scenario")
        try:
            if last is None or not isinstance(text, str) or text != last_text:
                last, last_text = None, text
                last = _parsed(text, own_assignors)
            scenario = overridden(last, row, own_assignors)
        except DocumentError as error:
            yield row, error
        else:
            yield row, scenario


def _parsed(given: object, own_assignors: Collection[str]) -> Scenario:
    place = ("scenario",)
    if isinstance(given, str) and not given.lstrip().startswith("{"):
        try:
            return named(given)
        except ValueError as error:
            raise DocumentError(ErrorCode.UNKNOWN, str(error), place) from None
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise DocumentError(ErrorCode.BAD_JSON, str(error), place) from None
    try:
        return scenario_from_document(given, own_assignors=own_assignors)
    except DocumentError as error:
        raise error.below("scenario") from None


def overridden(scenario: Scenario, row: Row, own_assignors: Collection[str]) -> Scenario:
    """Return the scenario with the row's own seed, protocol, models and assignor.

    Raises `DocumentError` for what cannot be played.
    """
    changes = {
        name: READERS[name](row[name], (name,))
        for name in ("seed", "protocol")
        if row.get(name) is not None
    }
    of_broker: dict[str, Any] = {}
    of_members: dict[str, Any] = {}
    coordinator = row.get("coordinator_model")
    if coordinator is not None:
        model = None if coordinator == NO_MODEL else as_model(coordinator, ("coordinator_model",))
        of_broker["execution"] = replace(scenario.broker.execution, model=model)
    if row.get("client_model") is not None:
        read = MEMBER_READERS["client_model"]
        of_members["client_model"] = read(row["client_model"], ("client_model",))
    if row.get("assignor") is not None:
        place = ("assignor",)
        if changes.get("protocol", scenario.protocol) is GroupProtocol.CLASSIC:
            assignor = as_member_assignor(row["assignor"], place)
            require_allowed(assignor, own_assignors, place)
            of_members["assignors"] = (assignor,)
        else:
            of_broker["assignor"] = as_assignor(row["assignor"], place)
    if of_broker:
        changes["broker"] = replace(scenario.broker, **of_broker)
    if of_members:
        changes["members"] = tuple(replace(each, **of_members) for each in scenario.members)
        changes["arrivals"] = tuple(
            replace(each, member=replace(each.member, **of_members)) for each in scenario.arrivals
        )
    if not changes:
        return scenario
    changed = replace(scenario, **changes)
    try:
        require_possible(changed)
    except DocumentError as error:
        raise error.below("scenario") from None
    return changed


def _attempt(
    row: Row,
    scenario: Scenario | DocumentError,
    play: Callable[[Scenario], Any],
    empty: dict[str, Any],
) -> Any:  # noqa: ANN401 - what `play` returns, or a row with an error
    if isinstance(scenario, DocumentError):
        error = f"bad-row: {scenario.after_path()}"
        return {**empty, **_given_identity(row), "error": error}
    try:
        return play(scenario)
    except MemoryError:
        error = "MemoryError: the run does not fit into the memory of this process"
    except Exception as failure:  # noqa: BLE001 - the assignor may be anybody's
        error = f"{type(failure).__name__}: {failure}"
    return {**empty, **identity(scenario), "error": error}


def _intervals_of_run(scenario: Scenario) -> Iterator[dict[str, Any]]:
    run = identity(scenario)
    found = intervals(simulate(scenario, keeps_history=True))
    return (
        {**run, **dict(zip(INTERVAL_FIELDS, _interval(each), strict=True)), "error": None}
        for each in found
    )


def _given_identity(row: Row) -> dict[str, Any]:
    """Return what a bad row gives beside its scenario, where it has the type of the column."""
    seed = row.get("seed")
    is_seed = type(seed) is int and abs(seed) < 2**63
    names = {name: row.get(name) for name in GIVEN[2:]}
    return {
        "seed": seed if is_seed else None,
        **{name: given if isinstance(given, str) else None for name, given in names.items()},
    }
