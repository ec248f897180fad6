"""A scenario on a clock: what `simulate --scenario` reads, and `--show` writes."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from enum import StrEnum
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from assignors.documents.schemas import (
    INT64,
    Key,
    Schema,
    array,
    constant,
    mapping,
    nullable,
    of_hint,
    one_of,
    record,
)
from assignors.simulation.timed.scenario import VERSION, Action, MemberConfig, Scenario
from assignors.simulation.timed.scenario.members import NUMBERING as NUMBERS
from assignors.simulation.timed.scenario.plan import GROUPS
from wire import TopicPartitions

NATURAL: Schema = {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}
PERCENT: Schema = {"type": "number", "minimum": 0, "maximum": 100}
PARTS_PER_MILLION: Schema = {"type": "integer", "minimum": -100_000, "maximum": 100_000}

SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
LINGER: Schema = {"type": "integer", "minimum": -1, "maximum": 2**31 - 1}

SPECIAL = {
    "seed": INT64,
    "clock_ppm": PARTS_PER_MILLION,
    "percent": PERCENT,
    "linger_ms": LINGER,
    "changes_share": SHARE,
    "checks_share": SHARE,
}
"""Fields that are numbers, and no natural ones."""


NUMBERING = tuple(Key(key, nullable(NATURAL), is_optional=True) for key in NUMBERS)
"""Keys of each of `members`, and not of the one that arrivals are like."""


def closed(schema: Schema) -> Schema:
    """Return an object's schema without other keys."""
    return {**schema, "additionalProperties": False}


def of_settings(kind: type[Any], *further: Key) -> Schema:
    """Return the schema of a class of settings, and of further keys; null stands for a default."""
    hints = get_type_hints(kind)
    keys = []
    for each in fields(kind):
        has_default = each.default is not MISSING or each.default_factory is not MISSING
        schema = SPECIAL.get(each.name) or _of_setting(hints[each.name])
        keys.append(Key(each.name, nullable(schema) if has_default else schema, "", has_default))
    return closed(record(*keys, *further))


def _of_setting(hint: Any) -> Schema:  # noqa: ANN401 - a type
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (kind for kind in get_args(hint) if kind is not type(None))
    if hint == TopicPartitions:
        return mapping(array(NATURAL))
    if get_origin(hint) is tuple:
        one = get_args(hint)[0]
        return array(_of_entry(one))
    if get_origin(hint) is dict:
        return mapping(_of_setting(get_args(hint)[1]))
    if is_dataclass(hint):
        assert isinstance(hint, type)
        return of_settings(hint)
    if hint is int:
        return NATURAL
    return one_of(hint) if isinstance(hint, type) and issubclass(hint, StrEnum) else of_hint(hint)


def _of_entry(kind: Any) -> Schema:  # noqa: ANN401 - a type
    """Return the schema of an entry of a list."""
    if kind is MemberConfig:
        return of_settings(kind, *NUMBERING)
    if kind is not Action:
        return _of_setting(kind)
    verbs = [
        closed(record(Key("at_ms", NATURAL), Key(name, of_settings(verb))))
        for name, (verb, _) in GROUPS.items()
    ]
    return {"anyOf": [of_settings(Action), *verbs]}


def _scenario() -> Schema:
    whole = of_settings(Scenario)
    version = {**constant(VERSION), "description": "Version of this format."}
    return {
        **whole,
        "properties": {"version": version, **whole["properties"]},
        "required": ["version", *whole["required"]],
    }


SCENARIO = _scenario()
