"""Read scenario rows from lines, and turn their outcomes into documents.

An engine returns many outcomes for a row, in the order of the rows, but knows nothing of lines
that are no scenario. So each row has the number of its line for an id, and the errors of unreadable
lines are put between the outcomes by that number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import click

from assignors.cli.inputs.given_groups import (
    NOTHING_BESIDE,
    GivenGroup,
    GroupOptions,
    given_document,
    given_group,
    group_entries,
)
from assignors.cli.inputs.json_text import parse_json
from assignors.cli.inputs.lines import Line, placed
from assignors.documents.described import AssumptionCode, DescribedGroup, assumption
from assignors.documents.group_keys import require_known, unused_keys
from assignors.documents.pasted.members import optional_given_bytes
from assignors.documents.values import (
    INT32_MAX,
    SCHEMA,
    Document,
    DocumentError,
    ErrorCode,
    Place,
    as_integer,
    as_list,
    as_object,
    as_string,
    as_strings,
    described,
    required,
)
from assignors.model import Member
from assignors.simulation.processes import Row
from assignors.simulation.rounds.explicit_events import scenario_of_group
from assignors.simulation.rounds.random_scenarios import Parameters
from assignors.simulation.rounds.scenario import GroupEventKind
from wire import Subscription, encode_subscription

INT64_MAX = 2**63 - 1
ROW_KEYS = {"id", "seed", *(field.name for field in fields(Parameters))}
"""Keys of a history that is drawn; with a list of members it is a group's document."""

Engine = Callable[[Iterator[Row]], Iterable[Mapping[str, Any]]]
"""Scenario rows to outcome rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRow:
    """A row, or why there is none, and where it comes from."""

    row: Row | DocumentError
    line: Line | None = None
    """`None` for a history that is drawn, and for a described group."""
    name: str | None = None
    """Of a described group."""


def outcome_documents(given: Iterable[GivenRow], engine: Engine) -> Iterator[Document]:
    """Yield the engine's rows as documents, the errors of unreadable lines at their places."""
    unreadable: dict[int, Document] = {}
    own_id: dict[int, object] = {}
    line_of: dict[int, Line] = {}

    def rows() -> Iterator[Row]:
        for number, one in enumerate(given):
            row, line = one.row, one.line
            if isinstance(row, DocumentError):
                error = placed(row.document(), line)
                unreadable[number] = {"schema": SCHEMA, "id": one.name, "error": error}
                continue
            if line is not None:
                line_of[number] = replace(line, text=b"")
            if row.get("id") is not None:
                own_id[number] = row["id"]
            yield {**row, "id": str(number)}

    for outcome in engine(rows()):
        number = int(outcome["id"])
        yield from _errors(unreadable, until=number)
        while line_of and (done := next(iter(line_of))) < number:
            del line_of[done]
        reason = None
        if outcome["error"] is not None:
            reason = placed(error_document(outcome["error"]), line_of.get(number))
        yield {"schema": SCHEMA, **outcome, "id": own_id.get(number), "error": reason}
    yield from _errors(unreadable)


def row_documents(rows: Iterable[Row]) -> Iterator[Document]:
    """Yield the rows of a simulation as documents."""
    for row in rows:
        reason = None if row["error"] is None else error_document(row["error"])
        yield {"schema": SCHEMA, **row, "error": reason}


def error_document(text: str) -> Document:
    """Return the text of an engine's error as an error document.

    What follows the first line is `trace`, where an assignor of the user's own raised it.

    >>> error_document("bad-row: seed: None is no whole number")
    {'kind': 'bad-row', 'text': 'None is no whole number', 'path': 'seed'}
    """
    kind, _, words = text.partition(": ")
    if kind != "bad-row":
        sentence, _, trace = text.partition("\n")
        traced: Document = {"trace": trace} if trace else {}
        return {"kind": "failed", "text": sentence, "path": "$", **traced}
    path, _, rest = words.partition(": ")
    return {"kind": kind, "text": rest or words, "path": path if rest else "$"}


def read_rows(
    files: Sequence[str], beside: GroupOptions, events: Sequence[str] | None = None
) -> Iterator[GivenRow]:
    """Yield the row of each document or described group, or why it has none, with its line.

    `events` happen to every group, and nothing else does; `None`: those that the lines have. What
    has no effect in a group whose events are drawn is noted on standard error.
    """
    for entry in group_entries(files, beside):
        line = entry if isinstance(entry, Line) else None
        name = entry.name if isinstance(entry, DescribedGroup) else None
        row: Row | DocumentError
        try:
            if isinstance(entry, DescribedGroup):
                row = explicit_row(given_group(entry, beside), name, events or ())
            else:
                row = row_from_document(parse_json(entry.text), beside, events)
        except DocumentError as error:
            row = error
        yield GivenRow(row=row, line=line, name=name)


def row_from_document(
    document: object, beside: GroupOptions = NOTHING_BESIDE, events: Sequence[str] | None = None
) -> Row:
    """Return a scenario row: seed and sizes, or a group with its members' Subscription bytes.

    With `events`, or a list of them in the document, it is a group as it is and those events.
    Raises `DocumentError` with the place of the first value that is wrong.
    """
    fields_given = as_object(document, ())
    is_group = isinstance(fields_given.get("members"), list)
    own = fields_given.get("events")
    if events is not None and not is_group:
        words = "--start and --event need a group, with a list of its members"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, ("members",))
    if isinstance(own, list):
        if events:
            raise DocumentError(ErrorCode.REPEATED, "events by --event too", ("events",))
        events = as_strings(own, ("events",))
    if events is not None:
        return explicit_row(given_document(document, beside), fields_given.get("id"), events)
    row: dict[str, Any] = {
        "id": fields_given.get("id"),
        "seed": _integer(fields_given.get("seed"), ("seed",), INT64_MAX),
    }
    if not is_group:
        require_known(fields_given, ROW_KEYS, ())
        required(fields_given, "seed", ())
        for each in fields(Parameters):
            row[each.name] = _size_of(fields_given.get(each.name), each.default, (each.name,))
        return row
    row["events"] = _size_of(own, 0, ("events",))
    found = given_document(document, beside)
    _print_notes(fields_given, found)
    group = found.group
    topics = {name: topic.partition_count for name, topic in group.cluster.topics.items()}
    members = [
        {
            "id": member.member_id,
            "instance": member.instance_id,
            "subscription": subscription_bytes(member, entry),
        }
        for member, entry in zip(group.members, as_list(fields_given["members"], ()), strict=True)
    ]
    return {**row, "topics": topics, "members": members}


def _print_notes(fields_given: Mapping[str, object], found: GivenGroup) -> None:
    """Print what has no effect in a group on standard error: outcomes have no notes."""
    for note in [*unused_keys(fields_given, ("seed", "events")), *found.notes]:
        whose = "" if note["member"] is None else f"{note['member']}: "
        click.echo(f"note: {whose}{note['text']}", err=True)


def explicit_row(given: GivenGroup, own_id: object, events: Sequence[str]) -> Row:
    """Return the row of a group as it is, and of the events that are asked for.

    Raises `DocumentError` for an event that cannot be read or cannot happen.
    """
    try:
        scenario = scenario_of_group(given.group, events)
    except ValueError as error:
        raise DocumentError(ErrorCode.UNKNOWN, str(error), ("events",)) from None
    notes = [*given.notes]
    if any(event.kind is GroupEventKind.JOIN for event in scenario.events):
        notes.append(MADE_UP_IDS)
    if any(topic.racks for topic in given.group.cluster.topics.values()):
        notes.append(RACKS_UNUSED)
    return {"id": own_id, "scenario": scenario, "asked": tuple(events), "notes": notes}


MADE_UP_IDS = assumption(
    AssumptionCode.MEMBER_IDS_ASSUMED,
    "new members are called new-1, new-2, ...: assignors that go by the order of ids, as range "
    "does, may move other partitions under real ids",
)
RACKS_UNUSED = assumption(
    AssumptionCode.RACKS_UNUSED, "the simulation in rounds does not use the racks of partitions"
)


def _size_of(value: object, default: object, place: Place) -> object:
    """Return an optional size, of the type of its default."""
    if value is None or isinstance(default, str):
        return None if value is None else as_string(value, place)
    if isinstance(default, bool) and not isinstance(value, bool):
        words = f"expected true or false, found {described(value)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    return value if isinstance(default, bool) else _integer(value, place, INT32_MAX)


def _integer(value: object, place: Place, largest: int) -> int | None:
    if value is None:
        return None
    number = as_integer(value, place)
    if abs(number) > largest:
        words = f"{described(number)} is not within {-largest}..{largest}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
    return number


def subscription_bytes(member: Member, entry: object) -> bytes:
    """Return a member's Subscription bytes; those of one given field by field are encoded."""
    given, _ = optional_given_bytes(as_object(entry, ()), "subscription", ())
    if given is not None:
        return given
    return encode_subscription(
        Subscription(
            topics=member.topics,
            owned=member.owned,
            generation=member.generation,
            rack_id=member.rack_id,
            user_data=member.user_data,
        )
    )


def _errors(unreadable: dict[int, Document], until: int | None = None) -> Iterator[Document]:
    """Yield documents for the unreadable lines before line `until`, and remove those lines."""
    for number in [number for number in unreadable if until is None or number < until]:
        yield unreadable.pop(number)
