"""Scenarios as rows of a table, and their outcomes as rows.

A row is a scenario to draw (`seed` and the sizes of `Parameters`), an explicit group (`topics`,
and `members` as a list with the Subscription bytes of each), or, for engines on this machine, a
`scenario` as an object with the texts of its events (`asked`). A row that cannot be simulated
becomes an outcome row with `error` set; the other rows are not affected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from operator import attrgetter
from typing import Any

from assignors.assignor import Assignor
from assignors.documents.failures import NO_ERROR
from assignors.documents.keys import NATURAL, Kind, keys_of, mapping
from assignors.documents.schemas import INTEGER
from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    Place,
    as_integer,
    as_object,
    as_string,
    optional_string,
)
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.model import Assignment
from assignors.registry import assignor_of
from assignors.simulation.processes import (
    Row,
    failed_row,
    in_processes,
    known,
    require_names,
)
from assignors.simulation.rounds.outcome import Outcome, play, play_events
from assignors.simulation.rounds.random_scenarios import Parameters, draw_events, generate
from assignors.simulation.rounds.scenario import MemberSpec, Scenario

CHUNK = 50
"""Rows that a process gets at a time."""
SIZES = tuple(field.name for field in fields(Parameters))
KINDS = {name: key.kind for name, key in keys_of(Parameters).items()}
SEED = Kind(as_integer, lambda: INTEGER)
COUNTS = mapping(NATURAL)
GIVEN = ("id", "seed", *SIZES)
"""Columns of a scenario row that is a table's; `members` and `topics` are sizes or the group."""
FIGURES = tuple(field.name for field in fields(Outcome))
COLUMNS = ("id", *FIGURES, *NO_ERROR)
"""Columns of an outcome row: the `id` of its scenario row, the fields of `Outcome`, an error."""
_figures = attrgetter(*FIGURES)


def simulate_rows(
    rows: Iterable[Row],
    *,
    assignors: Sequence[str | Assignor],
    processes: int | None = 1,
    chunk: int = CHUNK,
) -> Iterator[dict[str, Any]]:
    """Yield the outcomes of all scenario rows, in their order; both as in `outcomes`.

    With more than one process the calling program must guard its start
    (`if __name__ == "__main__"`), as `multiprocessing` asks; each gets `chunk` rows at a time.
    Raises `ValueError` for an unknown assignor, before anything is simulated. Cost: linear in the
    rows. Memory: as `processes.in_processes`.

    >>> rows = simulate_rows([{"seed": 3, "members": 2, "events": 0}], assignors=["range"])
    >>> [row["kind"] for row in rows]
    ['start']
    """
    require_names(assignors, processes)
    for each in assignors:
        assignor_of(each)
    play_row = partial(outcomes, assignors=tuple(assignors))
    return in_processes(rows, play_row, processes, chunk)


def outcomes(row: Row, *, assignors: Sequence[str | Assignor]) -> Iterator[dict[str, Any]]:
    """Yield an outcome row (`COLUMNS`) for each assignor and event of a scenario row.

    A scenario under which an assignor raises gives one row for that assignor; a row that is no
    scenario gives one row without an assignor. Such a row has `id`, `seed` and `assignor`, as far
    as they are known, and `error`. Cost: that of `play`.
    """
    named = known(_identity(row))
    try:
        scenario = scenario_of(row)
    except (ValueError, MemoryError) as error:
        yield failed_row(named, error)
        return
    for assignor in map(assignor_of, assignors):
        try:
            yield from list(_played(row, scenario, assignor))
        except Exception as error:  # noqa: BLE001 - our mistake, too, stays in its row
            yield failed_row({**named, "assignor": assignor.full_name}, error)


def _played(row: Row, scenario: Scenario, assignor: Assignor) -> Iterator[dict[str, Any]]:
    asked = row.get("asked")
    if asked is not None:
        yield from _asked_rows(row, scenario, assignor, asked)
        return
    row_id = _identity(row)["id"]
    for outcome in play(scenario, assignor):
        yield {"id": row_id, **dict(zip(FIGURES, _figures(outcome), strict=True)), **NO_ERROR}


def _asked_rows(
    row: Row, scenario: Scenario, assignor: Assignor, asked: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield an outcome row for the start and for each event that was asked for.

    It has `COLUMNS`, the text of the event (`asked`, null at the start) and the partition counts of
    all members before and after it; the start has the row's `notes`. Nothing was drawn,
    so `seed` is null.
    """
    for text, event in zip((None, *asked), play_events(scenario, assignor), strict=True):
        figures = dict(zip(FIGURES, _figures(event.outcome), strict=True))
        yield {
            "id": row.get("id"),
            **figures,
            "seed": None,
            **NO_ERROR,
            "asked": text,
            "notes": list(row.get("notes", ())) if text is None else [],
            "loads_before": _loads(event.before),
            "loads_after": _loads(event.after),
        }


def _loads(assignment: Assignment) -> dict[str, int]:
    return {member_id: sum(map(len, owned.values())) for member_id, owned in assignment.items()}


def scenario_of(row: Row) -> Scenario:
    """Return the scenario that a row describes. Raises `ValueError` for what is none.

    >>> scenario_of({"seed": 1, "members": 2, "events": 0}).members[1].name
    'm00001'
    """
    scenario = row.get("scenario")
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(row.get("members"), list | tuple):
        return _explicit(row)
    sizes = {
        name: kind.read(row[name], (name,))
        for name, kind in KINDS.items()
        if row.get(name) is not None
    }
    return generate(SEED.read(row.get("seed"), ("seed",)), Parameters(**sizes))


def _explicit(row: Row) -> Scenario:
    """Return the scenario of a group given member by member, events drawn from the seed."""
    given = row.get("topics")
    if isinstance(given, list | tuple):  # a map of Arrow, or structs
        given = dict(_pair(entry, i) for i, entry in enumerate(given))
    topics: dict[str, int] = COUNTS.read(given, ("topics",))
    members = tuple(_member(value, ("members", i)) for i, value in enumerate(row["members"]))
    seen: set[str] = set()
    for number, member in enumerate(members):
        if member.name in seen:
            words = f"{member.name!r} is given twice"
            raise DocumentError(ErrorCode.REPEATED, words, ("members", number))
        seen.add(member.name)
    seed, events = row.get("seed"), row.get("events")
    sizes = Parameters(
        members=len(members),
        topics=len(topics),
        partitions=sum(topics.values()),
        events=0 if events is None else KINDS["events"].read(events, ("events",)),
    )
    number = 0 if seed is None else SEED.read(seed, ("seed",))
    drawn = draw_events(number, topics, members, sizes)
    return Scenario(seed=number, topics=topics, members=members, events=drawn)


def _pair(entry: object, position: int) -> tuple[Any, Any]:
    if isinstance(entry, Mapping):
        return entry.get("name"), entry.get("partitions")
    if isinstance(entry, tuple | list) and len(entry) == 2:
        return entry[0], entry[1]
    words = "no name and partition count"
    raise DocumentError(ErrorCode.WRONG_TYPE, words, ("topics", position))


def _member(value: object, place: Place) -> MemberSpec:
    """Return a member whose first Subscription is the bytes in the row."""
    given = as_object(value, place)
    name, blob = as_string(given.get("id"), (*place, "id")), given.get("subscription")
    if not isinstance(blob, bytes | bytearray):
        raise DocumentError(ErrorCode.WRONG_TYPE, "no bytes", (*place, "subscription"))
    read = member_from_bytes(name, bytes(blob))
    return MemberSpec(
        name=name,
        topics=read.topics,
        version=min(max(read.version or 0, 0), 3),
        instance_id=optional_string(given, "instance", place),
        rack_id=read.rack_id,
        blob=bytes(blob),
    )


def _identity(row: Row) -> dict[str, Any]:
    """Return the id and the seed of the row, where they have the types of those columns."""
    seed, row_id = row.get("seed"), row.get("id")
    is_seed = isinstance(seed, int) and not isinstance(seed, bool)
    return {"id": None if row_id is None else str(row_id), "seed": seed if is_seed else None}
