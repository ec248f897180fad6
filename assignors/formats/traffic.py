"""Traffic of groups: what `simulate --traffic` reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, get_type_hints

from assignors.documents.schemas import (
    INTEGER,
    STRING,
    Key,
    Schema,
    array,
    constant,
    mapping,
    nullable,
    of_fields,
    one_of,
    record,
)
from assignors.formats.lines import ERROR, VERSION, answer
from assignors.formats.scenarios import closed
from assignors.simulation.timed.scenario.reading import Reader
from assignors.simulation.traffic import document
from assignors.simulation.traffic.results import TrafficResult
from assignors.simulation.traffic.scenario import (
    LeaderConfig,
    RateConfig,
    TrafficAction,
    TrafficMember,
    TrafficScenario,
)


def _number(read: document.Range) -> Schema:
    kind = "integer" if read.is_whole else "number"
    return {"type": kind, "minimum": read.low, "maximum": read.high}


def _keys(
    kind: type[Any],
    readers: Mapping[str, Reader],
    special: Mapping[str, Schema],
    required: frozenset[str] = frozenset(),
) -> list[Key]:
    """Return a key for each field: a number by its reader, else by its type or `special`."""
    hints = get_type_hints(kind)
    keys = []
    for each in fields(kind):
        read, hint = readers[each.name], hints[each.name]
        of: Schema = STRING
        if each.name in special:
            of = special[each.name]
        elif isinstance(read, document.Range):
            of = _number(read)
        elif isinstance(hint, type) and issubclass(hint, StrEnum):
            of = one_of(hint)
        is_given = each.name in required
        keys.append(Key(each.name, of if is_given else nullable(of), "", not is_given))
    return keys


def _traffic() -> Schema:
    count: Schema = {"type": "integer", "minimum": 1, "maximum": document.MEMBERS_MAX}
    partitions: Schema = {"type": "integer", "minimum": 0, "maximum": document.PARTITIONS_MAX}
    budget = {"budget": partitions}
    topics = {"topics": array(STRING)}
    member = _keys(TrafficMember, document.MEMBER, topics, frozenset({"name"}))
    text = "So many members, named with a number each."
    member.append(Key("count", nullable(count), text, is_optional=True))
    action = _keys(TrafficAction, document.ACTION, {}, frozenset({"at_s", "do"}))
    parts = {
        "topics": mapping(partitions),
        "members": array(closed(record(*member))),
        "plan": array(closed(record(*action))),
        "rates": closed(record(*_keys(RateConfig, document.RATES, {}))),
        "leader": closed(record(*_keys(LeaderConfig, document.LEADER, budget))),
    }
    return closed(
        record(
            Key("version", constant(document.VERSION), "Version of this format."),
            *_keys(TrafficScenario, document.READERS, parts),
        )
    )


TRAFFIC = _traffic()

_RUN = (
    Key("scenario", STRING, "Name of the scenario."),
    Key("seed", INTEGER, "Seed of the run."),
    Key("assignor", STRING, "Name of the assignor."),
)
_FIGURES = of_fields(TrafficResult)
SIMULATED: Schema = {
    "oneOf": [
        {"title": "simulated", **answer(*_RUN, *_FIGURES)},
        {
            "title": "failed",
            **record(
                VERSION, *(replace(key, is_optional=True) for key in _RUN), Key("error", ERROR)
            ),
        },
    ]
}
