"""Writes docs/reference/formats.md and the JSON Schemas in docs/schemas.

python -m tests.docs.formats
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from assignors.documents.groups import group_schema
from assignors.documents.keys import keys_of
from assignors.documents.notes import USED_BY
from assignors.documents.schemas import Schema, record
from assignors.documents.weightings import WeightKeys
from assignors.formats import ERROR, FORMATS, NO_ERROR, NOTE, RUN, VERSION, Format
from assignors.simulation.timed.results import FEATURES, OF_EVERY_RUN
from assignors.simulation.timed.sweeps.sweep import FIELDS
from tests.docs.source import DOCS, table

PAGE = DOCS / "reference" / "formats.md"
SCHEMAS = DOCS / "schemas"

HEAD = """# Formats

The keys of every line that the command reads and writes. Each line also has a JSON Schema (draft
2020-12), to validate it or to make types from; in Python they are `assignors.formats.FORMATS`.
[The command](../command.md) has examples, [codes](codes.md) what codes mean.
`python -m tests.docs.formats` writes this page.

```python
>>> from jsonschema import Draft202012Validator
>>> from assignors.formats import FORMATS
>>> group = Draft202012Validator(FORMATS["group"].document())
>>> group.is_valid({"topics": {"t": 6}, "members": [{"id": "a", "topics": ["t"]}]})
True
>>> [error.message for error in group.iter_errors({"topics": {"t": "six"}, "members": []})]
["'six' is not valid under any of the given schemas"]

```

These formats are promises. A change that could break a reader changes the number in `schema`. More
keys may come, and more codes: a reader should pass over what it does not know. In what is read,
null stands for the default, keys that begin with `_` are yours, and any other unknown key is an
error. The type *bytes* is text in any form that `decode` reads, a list of numbers or Node's Buffer;
*partitions* are `[["t", [0, 1]]]`, or `{"t": [0, 1]}` where they are read.

## Every line that is written
"""
REFUSED = """`error` and `error_kind` are null where there is an answer. Where there is none, the
keys of the answer are null. The columns of rows in Python, in Arrow and on Spark have the same two
names. `notes[]` of `decode`, and those of a group with `member`, which is null for the group:
"""
PROPERTIES = "properties"
COMMON = {key.name for key in (VERSION, *ERROR, *NO_ERROR)} | {"notes"}
"""Keys that are said once."""
FAILED = {"refused", "failed"}
"""Branches of a schema for lines with an error; `conform` has vectors that failed."""
HEADING = ("key", "type", "meaning")
ELSEWHERE = {
    "replay": "`table` is the name of a table, `row` one of its rows: [tables](tables.md).",
    "scenario": "[The reference](../simulator-reference.md) has its keys, defaults and meanings.",
    "offsets-record": (
        "`type` and `name` are those of Kafka's record types, keys and values those of its message"
        " definitions, with bytes as base64. A tombstone's `value` is null."
    ),
    "timed": (
        "Keys of the run, and its figures, nested by feature:"
        " [tables](tables.md#tables-of-simulate) has what they mean."
    ),
    "intervals": "Keys of the run as in [timed](#timed), and:",
    "sweep-point": "`model`, the keys of a load as in [sweep](#sweep), and:",
    "assign": "With `--with-group` also the keys of [group](#group).",
    "assignment": "`frame` as in [subscription](#subscription), and:",
    "weights": "`weights`, `move_costs`, `budget`, `tolerance`, `trigger` of [group](#group), and:",
    "check-request": "Keys of [group](#group), and:",
    "group-with-events": "Keys of [group](#group), and:",
}
"""Format -> where other keys of it are."""
OTHERS: Mapping[str, Callable[[], Iterable[str]]] = {
    "replay": lambda: ("table", "row", "left_out"),
    "scenario": lambda: FORMATS["scenario"].schema[PROPERTIES],
    "timed": lambda: (*OF_EVERY_RUN, *FEATURES),
    "intervals": lambda: (key.name for key in RUN),
    "sweep-point": lambda: ("model", *FIELDS),
    "assign": lambda: {*FORMATS["group"].schema[PROPERTIES]} - {"assignment", "stats"},
    "assignment": lambda: ("frame",),
    "weights": lambda: [*keys_of(WeightKeys)],
    "check-request": lambda: group_schema()[PROPERTIES].keys() - {*USED_BY},
    "group-with-events": lambda: group_schema()[PROPERTIES].keys() - {"events"},
}
"""Format -> its keys that are said elsewhere."""


def page() -> str:
    """Return the page."""
    lines = [HEAD, *table(HEADING, _rows(record(VERSION, *ERROR))), REFUSED]
    lines += table(HEADING, _rows(NOTE))
    for each in FORMATS.values():
        lines += _section(each)
    return "\n".join(lines)


def _section(each: Format) -> Iterator[str]:
    verb = "Read by" if each.is_read else "Written by"
    yield f"## {each.name}\n"
    yield f"{verb} `{each.command}`. {each.text} [Schema](../schemas/{_file(each).name}).\n"
    if each.name in ELSEWHERE:
        yield f"{ELSEWHERE[each.name]}\n"
    hidden = {*COMMON, *OTHERS.get(each.name, tuple)()}
    said: set[tuple[str, ...]] = set()
    branches = [
        one
        for one in each.schema.get("oneOf", [each.schema])
        if one.get("title") != "refused"
        and (each.name == "conform" or one.get("title") != "failed")
    ]
    for one in branches if each.name not in {"replay", "offsets-record"} else ():
        own = {
            name: kind
            for name, kind in one.get(PROPERTIES, {}).items()
            if name not in hidden and kind
        }
        rows = [row for row in _rows({**one, PROPERTIES: own}) if row not in said]
        said |= {*rows}
        if rows and len(branches) > 1:
            yield f"A line of kind *{one['title']}*:\n"
        if rows:
            yield from table(HEADING, rows)


def _rows(schema: Schema, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield path, type and meaning of each key, those of inner objects after their own."""
    required = schema.get("required", ())
    for name, inner in schema.get(PROPERTIES, {}).items():
        if path and name in COMMON:
            continue
        place = f"{path}{name}"
        optional = "" if name in required else ", *optional*"
        text = inner.get("description", "")
        if "default" in inner:
            text += f" Default: `{json.dumps(inner['default'])}`."
        kind = _type(inner)
        if optional and schema.get("additionalProperties") is False:
            kind = kind.removesuffix(" or null")
        yield f"`{place}`", f"{kind}{optional}", text.strip()
        for suffix, below in _below(inner) if not text.startswith("As ") else ():
            yield from _rows(below, f"{place}{suffix}.")


def _below(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield the objects in a value, each with the steps that lead there."""
    if PROPERTIES in schema:
        yield "", schema
        return
    if "title" in schema:
        return
    if "items" in schema:
        yield from ((f"[]{step}", below) for step, below in _below(schema["items"]))
    if isinstance(schema.get("additionalProperties"), dict):
        inner = _below(schema["additionalProperties"])
        yield from ((f".*{step}", below) for step, below in inner)
    for one in schema.get("anyOf", ()):
        yield from _below(one)


def _type(schema: Schema) -> str:
    """Return a type in short, as a reader of JSON would say it."""
    if "title" in schema:
        is_null = {"type": "null"} in schema.get("anyOf", ()) or "null" in schema.get("type", "")
        return f"{schema['title']} or null" if is_null else schema["title"]
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "anyOf" in schema and PROPERTIES not in schema:
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
