"""Read scenario rows from lines, and turn rows of results into documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import click

from assignors.cli.inputs.given_groups import (
    NO_OPTIONS,
    GivenGroup,
    GroupOptions,
    given_document,
    given_group,
)
from assignors.cli.inputs.json_text import parse_json
from assignors.cli.inputs.lines import Line, placed
from assignors.cli.inputs.run_options import INT64_MAX
from assignors.documents.described import AssumptionCode, DescribedGroup, assumption
from assignors.documents.groups import bytes_from_document, require_known
from assignors.documents.notes import unused_keys
from assignors.documents.values import (
    SCHEMA,
    Document,
    DocumentError,
    ErrorCode,
    as_integer,
    as_list,
    as_object,
    as_strings,
    described,
    required,
)
from assignors.model import Member
from assignors.simulation.processes import Row
from assignors.simulation.rounds.explicit_events import scenario_of_group
from assignors.simulation.rounds.scenario import GroupEventKind
from assignors.simulation.rounds.scenario_rows import KINDS, simulate_rows
from wire import Subscription, encode_subscription


def outcome_documents(
    entries: Iterable[Line | DescribedGroup],
    row_of: Callable[[Line | DescribedGroup], Row],
    assignors: Sequence[str],
) -> Iterator[Document]:
    """Yield the outcomes of each line or described group under each assignor, or its error."""
    for entry in entries:
        line = entry if isinstance(entry, Line) else None
        try:
            row = row_of(entry)
        except DocumentError as error:
            name = None if isinstance(entry, Line) else entry.name
            yield {"schema": SCHEMA, "id": name, **placed(error.document(), line)}
            continue
        for found in row_documents(simulate_rows([row], assignors=assignors)):
            yield {**placed(found, line), "id": row.get("id")}


def row_documents(rows: Iterable[Row]) -> Iterator[Document]:
    """Yield the rows of a simulation as documents."""
    return ({"schema": SCHEMA, **row} for row in rows)


def drawn_row(document: object, about: GroupOptions = NO_OPTIONS) -> Row:
    """Return the row of a history: a seed and sizes, or a seed and a group with its members' bytes.

    Keys of a group that have no effect are noted on standard error. Raises `DocumentError` with the
    place of the first value that is wrong.
    """
    given = as_object(document, ())
    own = given.get("events")
    if isinstance(own, list):
        words = "how many events are drawn; kafka-assignors what-if plays a list of them"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, ("events",))
    is_group = isinstance(given.get("members"), list)
    if not is_group:
        require_known(given, ("id", "seed", *KINDS))
        required(given, "seed", ())
    row: dict[str, Any] = {"id": given.get("id"), "seed": _seed(given.get("seed"))}
    for name, kind in KINDS.items() if not is_group else (("events", KINDS["events"]),):
        if given.get(name) is not None:
            row[name] = kind.read(given[name], (name,))
    if not is_group:
        return row
    found = given_document(document, about)
    _print_notes(given, found)
    group = found.group
    topics = {name: topic.partition_count for name, topic in group.cluster.topics.items()}
    members = [
        {
            "id": member.member_id,
            "instance": member.instance_id,
            "subscription": subscription_bytes(member, entry),
        }
        for member, entry in zip(group.members, as_list(given["members"], ()), strict=True)
    ]
    return {**row, "topics": topics, "members": members}


def _print_notes(given: Mapping[str, object], found: GivenGroup) -> None:
    for note in [*unused_keys(given, ("seed", "events")), *found.notes]:
        whose = "" if note["member"] is None else f"{note['member']}: "
        click.echo(f"note: {whose}{note['text']}", err=True)


def asked_row(entry: Line | DescribedGroup, about: GroupOptions, events: Sequence[str]) -> Row:
    """Return the row of a group as it is, and of the events that are asked for.

    A line may have them too, as "events". Raises `DocumentError` for an event that cannot be read
    or cannot happen.
    """
    if isinstance(entry, DescribedGroup):
        return _asked_row(given_group(entry, about), entry.name, events)
    document = as_object(parse_json(entry.text), ())
    if not isinstance(document.get("members"), list):
        words = "a group, with a list of its members; kafka-assignors histories draws histories"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, ("members",))
    if document.get("events") is not None:
        if events:
            raise DocumentError(ErrorCode.REPEATED, "events are given twice", ("events",))
        events = as_strings(document["events"], ("events",))
    return _asked_row(given_document(document, about), document.get("id"), events)


def _asked_row(given: GivenGroup, own_id: object, events: Sequence[str]) -> Row:
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


def _seed(value: object) -> int | None:
    if value is None:
        return None
    seed = as_integer(value, ("seed",))
    if abs(seed) > INT64_MAX:
        words = f"{described(seed)} is not within {-INT64_MAX}..{INT64_MAX}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("seed",))
    return seed


def subscription_bytes(member: Member, entry: object) -> bytes:
    """Return a member's Subscription bytes; those of one given field by field are encoded."""
    given = as_object(entry, ()).get("subscription")
    if given is not None:
        return bytes_from_document(given, ("subscription",)).blob
    return encode_subscription(
        Subscription(
            topics=member.topics,
            owned=member.owned,
            generation=member.generation,
            rack_id=member.rack_id,
            user_data=member.user_data,
        )
    )
