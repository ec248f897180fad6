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
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache, partial
from typing import Annotated, Any

from assignors import __version__
from assignors.documents.failures import NO_ERROR
from assignors.documents.keys import TEXT, keys_of
from assignors.documents.values import DocumentError, ErrorCode
from assignors.ownership.intervals import ownerships
from assignors.simulation.processes import Row, failed_row, in_processes, known, readable
from assignors.simulation.timed.costs.on_request import Blocked, Waits, state_figures
from assignors.simulation.timed.faults.live import OF_THE_COORDINATOR
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.possible import for_protocol, require_possible
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.results import FEATURES, OF_EVERY_RUN, Feature, TimedResult
from assignors.simulation.timed.scenario import MemberConfig, Scenario
from assignors.simulation.timed.scenario.execution import NO_MODEL, as_model
from assignors.simulation.timed.scenario.kinds import SEED, as_assignor, as_member_assignor
from assignors.simulation.timed.scenario_document import (
    require_allowed,
    scenario_from_document,
    scenario_hash,
)
from assignors.simulation.timed.simulation import Played, simulate

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


READABLE = {"seed": SEED, **dict.fromkeys(GIVEN[2:], TEXT)}
"""Columns that the row of an error repeats."""
IDENTITY = (*GIVEN, "scenario_hash", "package_version")
"""Columns by which every row names its run."""
RESULT_COLUMNS = (*IDENTITY, *OF_EVERY_RUN, *map(str, FEATURES), *NO_ERROR)
INTERVAL_COLUMNS = (*IDENTITY, *(each.name for each in fields(IntervalRow)), *NO_ERROR)

RUNS_A_CHUNK = 20
"""Runs that a process gets at a time, where the caller has no better number."""


def result_rows(
    rows: Iterable[Row],
    *,
    processes: int | None = 1,
    chunk: int = RUNS_A_CHUNK,
    own_assignors: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield one result row (`RESULT_COLUMNS`) for each scenario row, in their order.

    A feature that a run does not have is no key of its row. A row of a run that failed has the
    columns of `IDENTITY` that are known, and `error`. Cost: that of the runs. Memory: one run with
    one process; with several, the rows of `CHUNKS_AHEAD` chunks for each.

    >>> [row["error"] for row in result_rows([{"scenario": "crash"}, {"scenario": "{}"}])]
    [None, "'version' is missing at scenario"]
    """
    play = partial(result, own_assignors=tuple(own_assignors))
    return in_processes(rows, play, processes, chunk)


def interval_rows(
    rows: Iterable[Row],
    *,
    processes: int | None = 1,
    chunk: int = RUNS_A_CHUNK,
    own_assignors: Collection[str] = (),
) -> Iterator[dict[str, Any]]:
    """Yield who consumed what, when: rows (`INTERVAL_COLUMNS`) of one run after another.

    A row that cannot be run gives one row with `error` set. Memory: the intervals of one run with
    one process; with several, those of `CHUNKS_AHEAD` chunks for each.
    """
    play = partial(intervals_of, own_assignors=tuple(own_assignors))
    return in_processes(rows, play, processes, chunk)


def result(row: Row, *, own_assignors: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return the result of a scenario row, as one row."""
    return _played(row, own_assignors, lambda scenario: [result_row(scenario)])


def intervals_of(row: Row, *, own_assignors: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """Return who consumed what, when, in the run of a scenario row."""
    return _played(row, own_assignors, _intervals_of_run)


def result_row(scenario: Scenario) -> dict[str, Any]:
    """Return the result row of a scenario."""
    return row_of(scenario, simulate_with_all_figures(scenario).result)


def row_of(scenario: Scenario, found: TimedResult) -> dict[str, Any]:
    """Return the row of a run, its figures nested by feature."""
    lacks = {
        Feature.PROCESSING: not scenario.processing.is_on,
        Feature.FAILOVER: all(each.kind not in OF_THE_COORDINATOR for each in scenario.faults),
        Feature.EXECUTION: scenario.execution_model is None,
        Feature.PUSH: scenario.protocol is not GroupProtocol.PUSH,
    }
    return {
        **identity(scenario),
        **{name: getattr(found, name) for name in OF_EVERY_RUN},
        **{
            feature.value: {name: getattr(found, name) for name in listed}
            for feature, listed in FEATURES.items()
            if not lacks.get(feature)
        },
        **NO_ERROR,
    }


def simulate_with_all_figures(scenario: Scenario) -> Played:
    """Run a scenario, and measure what `simulate` leaves `None`: waits, blocked calls, state.

    Raises what `simulate` raises. Cost: a third more than `simulate`; memory: that of its history.

    >>> from assignors.simulation.timed.gallery import named
    >>> found = simulate_with_all_figures(named("rolling-restart")).result
    >>> found.join_wait_ms > found.sync_wait_ms > 0 < found.locked_partition_ms
    True
    """
    count_from = scenario.count_from_ms * MILLISECOND
    waits, blocked = Waits(count_from=count_from), Blocked(count_from=count_from)

    def observe(seen: Seen) -> None:
        waits.see(seen)
        blocked.see(seen)

    played = simulate(scenario, keeps_history=True, observe=observe)
    is_whole = played.result.stopped_by is None
    for each in (waits, blocked):
        each.close(scenario.until_ms * MILLISECOND if is_whole else each.last)
    has_tokens = scenario.protocol is GroupProtocol.PUSH
    figures: dict[str, Any] = {
        **waits.figures(played.changes),
        **blocked.figures(),
        **state_figures(
            played.records,
            played.changes if has_tokens else (),
            count_from_ms=scenario.count_from_ms,
        ),
    }
    return replace(played, result=replace(played.result, **figures))


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
        "coordinator_model": scenario.execution_model,
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
    given, own = row.get("scenario"), tuple(own_assignors)
    protocols, models = (
        (each,) if isinstance(each := row.get(name), str) else ()
        for name in ("protocol", "coordinator_model")
    )
    read = _from_text if isinstance(given, str) else _from_document
    return overridden(read(given, own, protocols, models), row, own)


@lru_cache(maxsize=4)
def _from_text(
    text: str,
    own_assignors: Collection[str],
    protocols: Collection[str],
    models: Collection[str],
) -> Scenario:
    """Return the scenario of a text, which many rows share."""
    place = ("scenario",)
    if not text.lstrip().startswith("{"):
        try:
            return named(text)
        except ValueError as error:
            raise DocumentError(ErrorCode.UNKNOWN, str(error), place) from None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DocumentError(ErrorCode.BAD_JSON, str(error), place) from None
    return _from_document(document, own_assignors, protocols, models)


def _from_document(
    document: object,
    own_assignors: Collection[str],
    protocols: Collection[str],
    models: Collection[str],
) -> Scenario:
    try:
        return scenario_from_document(
            document, own_assignors=own_assignors, protocols=protocols, models=models
        )
    except DocumentError as error:
        raise error.below("scenario") from None


def overridden(scenario: Scenario, row: Row, own_assignors: Collection[str]) -> Scenario:
    """Return the scenario with the row's own seed, protocol, models and assignor.

    Raises `DocumentError` for what cannot be played.
    """
    changes = {
        name: keys_of(Scenario)[name].kind.read(row[name], (name,))
        for name in ("seed", "protocol")
        if row.get(name) is not None
    }
    protocol = changes.get("protocol", scenario.protocol)
    scenario = for_protocol(scenario, protocol)
    of_broker: dict[str, Any] = {}
    of_members: dict[str, Any] = {}
    coordinator = row.get("coordinator_model")
    if coordinator is not None:
        model = None if coordinator == NO_MODEL else as_model(coordinator, ("coordinator_model",))
        of_broker["execution"] = replace(scenario.broker.execution, model=model)
    if row.get("client_model") is not None:
        read = keys_of(MemberConfig)["client_model"].kind.read
        of_members["client_model"] = read(row["client_model"], ("client_model",))
    if row.get("assignor") is not None:
        place = ("assignor",)
        if protocol is GroupProtocol.CLASSIC:
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


def _played(
    row: Row,
    own_assignors: tuple[str, ...],
    play: Callable[[Scenario], list[dict[str, Any]]],
) -> list[dict[str, Any]]:
    try:
        scenario = scenario_of(row, own_assignors)
    except DocumentError as error:
        return [failed_row(readable(row, READABLE), error)]
    try:
        return play(scenario)
    except Exception as error:  # noqa: BLE001 - the assignor may be anybody's
        return [failed_row(known(identity(scenario)), error)]


def _intervals_of_run(scenario: Scenario) -> list[dict[str, Any]]:
    run = identity(scenario)
    found = intervals(simulate(scenario, keeps_history=True))
    return [{**run, **asdict(each), **NO_ERROR} for each in found]
