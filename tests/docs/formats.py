"""Writes docs/reference/formats.md and the JSON Schemas in docs/schemas.

python -m tests.docs.formats
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from assignors.documents.schemas import Schema
from assignors.formats import FORMATS, Format
from assignors.formats.lines import ERROR, NOTE
from assignors.simulation.rounds.outcome import Outcome
from assignors.simulation.rounds.random_scenarios import Parameters
from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.measures import Measured
from assignors.simulation.timed.execution.policy import Settings
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.sweeps.rows import Derived
from assignors.simulation.timed.sweeps.sweep import Sweep, Version
from assignors.simulation.timed.tables.rows import IntervalRow
from assignors.simulation.traffic.results import TrafficResult
from assignors.simulation.traffic.scenario import (
    LeaderConfig,
    RateConfig,
    TrafficAction,
    TrafficMember,
    TrafficScenario,
)
from tests.docs.simulator_reference import choices_of, settings_of, values_of
from tests.docs.source import DOCS, table, texts_of

PAGE = DOCS / "reference" / "formats.md"
SCHEMAS = DOCS / "schemas"

HEAD = """# Formats

Every line that the command reads and writes, as JSON Schema (draft 2020-12): a file each, to
validate with or to make types from. [The command](../command.md) has examples. In Python they are
`assignors.formats.FORMATS`. The test suite validates what every command really writes, and that
a schema and the reader of its lines refuse the same documents. This page is written by
`python -m tests.docs.formats`, from the same schemas.

Validate with any library that knows JSON Schema, here with jsonschema in Python:

```python
>>> from jsonschema import Draft202012Validator
>>> from assignors.formats import FORMATS
>>> group = Draft202012Validator(FORMATS["group"].document())
>>> group.is_valid({"topics": {"t": 6}, "members": [{"id": "a", "topics": ["t"]}]})
True
>>> [error.message for error in group.iter_errors({"topics": {"t": "six"}, "members": []})]
["'six' is not valid under any of the given schemas"]

```

These formats are promises. Every line that is written has `"schema": 2`; a change that could break
a reader changes that number. More keys may come, and more codes: a reader should pass over what it
does not know.
"""
REFUSED = "A line that cannot be answered has the same keys, null, and an `error`:"
CODES = "What the codes mean is in [rules, notes and errors](codes.md)."
PROPERTIES = "properties"
TABLE = ("`table`", "code", "Which table: `groups`, `offsets`, and so on.")
TEXTS: dict[str, dict[str, str]] = {
    "history": texts_of(Parameters),
    "simulate": texts_of(Outcome),
    "timed": texts_of(TimedResult),
    "intervals": texts_of(IntervalRow),
    "sweep-point": {
        name: text
        for kind in (Load, Settings, Measured, Derived)
        for name, text in texts_of(kind).items()
    },
    "sweep": texts_of(Version) | texts_of(Sweep),
    "traffic-run": texts_of(TrafficResult),
}
"""Format -> meanings of the keys that are fields of a class."""
TRAFFIC = (
    ("", TrafficScenario),
    ("members[].", TrafficMember),
    ("plan[].", TrafficAction),
    ("rates.", RateConfig),
    ("leader.", LeaderConfig),
)
"""The classes of a traffic scenario, each with the place of its keys."""
MANY = {
    "`topics`": "12 topics of 20, `t00` to `t11`",
    "`members`": "12 members, `m00` to `m11`",
    "`rates`": "see below",
    "`leader`": "see below",
}
"""Keys of it whose defaults are too long for a table."""


def page() -> str:
    """Return the page."""
    lines = [HEAD, *_overview("Read", is_read=True), *_overview("Written", is_read=False)]
    lines += ["## Errors and notes\n", f"{REFUSED}\n"]
    lines += table(("key", "type", "meaning"), _rows(ERROR))
    lines += ["`notes[]` of `decode`:\n", *table(("key", "type", "meaning"), _rows(NOTE))]
    lines += [f"{CODES}\n"]
    for each in FORMATS.values():
        lines += _section(each)
    return "\n".join(lines)


def _overview(title: str, *, is_read: bool) -> Iterator[str]:
    rows = [
        (f"[{each.name}](#{each.name})", f"`{each.command}`", each.text, _link(each))
        for each in FORMATS.values()
        if each.is_read == is_read
    ]
    yield f"## {title}\n"
    yield from table(("format", "command", "a line is", "schema"), rows)


def _link(each: Format) -> str:
    return f"[schema](../schemas/{_file(each).name})"


def _section(each: Format) -> Iterator[str]:
    verb = "Read by" if each.is_read else "Written by"
    yield f"## {each.name}\n"
    yield f"{verb} `{each.command}`. {each.text} {_link(each)}\n"
    head = ("key", "type", "meaning")
    branches = [one for one in each.schema.get("oneOf", ()) if one.get("title") != "refused"]
    if each.name == "offsets-record":
        yield from table(head, [*_rows(each.schema), *_rows(_refused(each.schema))])
        yield "Keys and values by record type, with the names of Kafka's own message definitions:\n"
        for one in branches:
            whole = one["oneOf"][0]
            special = {key: whole[PROPERTIES][key] for key in ("key", "value")}
            yield f"### {one['title']}\n"
            yield f"Type {whole[PROPERTIES]['type']['const']}.\n"
            rows = _rows({PROPERTIES: special, "required": [*special]})
            yield from table(head[:2], (row[:2] for row in rows))
        return
    if each.name == "replay":
        shown = [row for row in _rows(branches[0]) if not row[0].startswith("`row.")]
        yield from table(head, [row if row[0] != "`table`" else TABLE for row in shown])
        yield "The rows, column by column, are in [tables](tables.md).\n"
        return
    if each.name == "scenario":
        yield "What each field means is in [the reference](../simulator-reference.md).\n"
        yield from table(head[:2], (row[:2] for row in _rows(each.schema)))
        return
    if each.name == "traffic":
        yield from _traffic(each.schema)
        return
    for number, one in enumerate(branches or [each.schema]):
        if number and one.get("title") == "failed":
            continue
        if one.get("title") not in {None, "answered", "outcome", "result"}:
            yield f"### {each.name}: {one['title']}\n"
        texts = TEXTS.get(each.name, {})
        yield from table(
            head,
            [
                (key, kind, text or texts.get(key.strip("`").rpartition(".")[2], ""))
                for key, kind, text in _rows(one)
            ],
        )


def _traffic(schema: Schema) -> Iterator[str]:
    """Yield the keys of a traffic scenario with their defaults, and what its words mean."""
    known = {
        f"`{place}{name.strip('`')}`": (MANY.get(f"{place}{name}", default), text)
        for place, kind in TRAFFIC
        for name, default, text in settings_of(kind, place.rstrip("."))
    }
    yield "What is left out, or null, has its default.\n"
    rows = [(*row, *known.get(row[0], ("", row[2]))) for row in _rows(schema)]
    shown = [(key, kind, default, text) for key, kind, _, default, text in rows]
    yield from table(("key", "type", "default", "meaning"), shown)
    for place, words in choices_of(TrafficScenario):
        yield f"Values of `{place}`:\n"
        yield from table(
            ("value", "meaning"), ((f"`{one}`", text) for one, text in values_of(words))
        )


def _refused(schema: Schema) -> Schema:
    return next(one for one in schema["oneOf"] if one.get("title") == "refused")


def _rows(schema: Schema, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield path, type and meaning of each key, those of inner objects after their own."""
    required = schema.get("required", ())
    for name, inner in schema.get(PROPERTIES, {}).items():
        place = f"{path}{name}"
        optional = "" if name in required else ", *optional*"
        yield f"`{place}`", f"{_type(inner)}{optional}", inner.get("description", "")
        for suffix, below in _below(inner):
            yield from _rows(below, f"{place}{suffix}.")


def _below(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the objects in a value, each with the steps that lead there."""
    if PROPERTIES in schema:
        yield "", schema
    if "items" in schema:
        yield from ((f"[]{step}", below) for step, below in _below(schema["items"]))
    if isinstance(schema.get("additionalProperties"), dict):
        inner = _below(schema["additionalProperties"])
        yield from ((f".*{step}", below) for step, below in inner)
    for one in schema.get("anyOf", ()):
        yield from _below(one)


def _type(schema: Schema) -> str:
    """Return a type in short, as a reader of JSON would say it."""
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(_type, _alternatives(schema))))
    if "oneOf" in schema and PROPERTIES not in schema:
        return " or ".join(dict.fromkeys(_type(one) for one in schema["oneOf"]))
    if "enum" in schema:
        return (
            "code"
            if len(schema["enum"]) > 6
            else " or ".join(f"`{json.dumps(one)}`" for one in schema["enum"])
        )
    kinds = schema.get("type", "anything")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return " or ".join(_named(kind, schema) for kind in kinds)


def _alternatives(schema: Schema) -> Iterator[Schema]:
    for one in schema.get("anyOf", (schema,)):
        yield from [one] if one is schema else _alternatives(one)


def _grouped(schema: Schema) -> str:
    text = _type(schema)
    return f"({text})" if " or " in text else text


def _named(kind: str, schema: Schema) -> str:
    if kind == "array" and "items" in schema:
        return f"list of {_grouped(schema['items'])}"
    if kind == "array" and "prefixItems" in schema:
        return f"[{', '.join(_type(one) for one in schema['prefixItems'])}]"
    if (
        kind == "object"
        and isinstance(schema.get("additionalProperties"), dict)
        and PROPERTIES not in schema
    ):
        return f"map of {_grouped(schema['additionalProperties'])}"
    if kind == "string" and schema.get("contentEncoding") == "base64":
        return "base64"
    return kind


def _file(each: Format) -> Path:
    return SCHEMAS / f"{each.name}.schema.json"


def _text(each: Format) -> str:
    return json.dumps(each.document(), indent=1, ensure_ascii=False) + "\n"


FILES: dict[Path, Callable[[], str]] = {
    PAGE: page,
    **{_file(each): partial(_text, each) for each in FORMATS.values()},
}
"""File -> its text."""


def write(files: dict[Path, Any] = FILES) -> None:
    """Write the page and the schemas."""
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    write()
