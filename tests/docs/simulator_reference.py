"""Writes docs/simulator-reference.md: fields, faults, figures and monitors.

    python -m tests.docs.simulator_reference

Everything comes from the code: a field's meaning is the string below it. `test_docs` fails
where the page is not what this writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, asdict, fields, is_dataclass
from enum import Enum, StrEnum
from itertools import groupby
from json import dumps
from typing import Any, get_args, get_type_hints

from assignors.documents.keys import keys_of
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.group_protocols import ReadBy
from assignors.simulation.timed.monitors.table import MONITORS
from assignors.simulation.timed.scenario import VERSION, Scenario
from assignors.simulation.timed.scenario.defaults import defaults
from tests.docs.source import DOCS, first_line, table, texts_of

PAGE = DOCS / "simulator-reference.md"

WHOLE = "A scenario"
"""The heading of the whole document; a part of it has its path."""

VERSION_ROW = ("`version`", "", f"Version of this format: {VERSION}.")

HEAD = """# Scenarios on a clock: reference

Every field of a scenario, the faults, and the monitors. [Groups on a clock](simulator.md) says how
to use them, [tables](reference/tables.md#tables-of-simulate) has the figures of a run.

A field without a default is required. Null stands for the default, except for `starts_at_ms`. Times
are milliseconds, or microseconds (`_us`). Unknown fields, impossible values and fields that no
protocol of the run reads are rejected with their path.
"""


def page() -> str:
    """Return the page."""
    parts = (_format(), _defaults(), _monitors(), _clients())
    return "\n".join([HEAD, *(line for part in parts for line in part)]) + "\n"


def _format() -> Iterator[str]:
    yield "## The document\n"
    for path, parts in groupby(parts_of(Scenario), lambda part: part[0]):
        yield f"### {f'`{path}`' if path else WHOLE}\n"
        for _, kind in parts:
            yield f"{first_line(kind)}\n"
            rows = settings_of(kind, path)
            yield from table(("field", "default", "meaning"), [VERSION_ROW][bool(path) :] + rows)
    for path, words in choices_of(Scenario):
        yield f"### Values of `{path}`\n"
        values = [(f"`{each.value}`", meaning) for each, meaning in values_of(words)]
        yield from table(("value", "meaning"), values)


def _defaults() -> Iterator[str]:
    yield "## Where the defaults come from\n"
    yield (
        "A recording is one of [real members](../tests/lab/calibrate/RESULTS.md). Replace what "
        "is assumed by figures of your own clients and brokers.\n"
    )
    by_source: dict[str, list[str]] = {}
    for each in defaults():
        client = f" ({each.client})" if each.client else ""
        by_source.setdefault(each.source, []).append(
            f"`{each.field}`{client}: `{dumps(each.value)}`"
        )
    rows = [(", ".join(values), source) for source, values in by_source.items()]
    yield from table(("field and default", "source"), rows)


def _monitors() -> Iterator[str]:
    yield "## What every run is held against\n"
    yield (
        "`violations` counts, and `first_violation` names the first with its event and seed. The"
        " whole group is looked at when a rebalance begins or ends, with `--history` and `--shrink`"
        " after every event; the end is judged once the group has settled, or has had the time.\n"
    )
    rows = [(f"`{name}`", each.claim, each.spec or "") for name, each in MONITORS.items()]
    yield from table(("name", "claim", "in the TLA+ spec of KIP-848"), rows)


def _clients() -> Iterator[str]:
    yield "## Clients whose bytes a member can write and read\n"
    yield ", ".join(f"`{name}`" for name in DIALECTS) + "\n"


# What the code says


def settings_of(kind: type[Any], path: str) -> list[tuple[str, str, str]]:
    """Return name, default and meaning of each field."""
    texts = texts_of(kind)
    return [
        (
            f"`{each.name}`",
            _default(each, f"{path}.{each.name}".lstrip(".")),
            texts[each.name] + _readers(kind, each.name),
        )
        for each in fields(kind)
    ]


def _readers(kind: type[Any], name: str) -> str:
    """Return which protocols alone read a field."""
    marks = [one for one in keys_of(kind)[name].marks if isinstance(one, ReadBy)]
    names = [" and ".join(f"`{each}`" for each in sorted(one.protocols)) for one in marks]
    return f" Only {names[0]}." if names else ""


def parts_of(whole: type[Any]) -> list[tuple[str, type[Any]]]:
    """Return the classes of settings that a document is made of, each where it first stands."""
    first = {whole: ""}
    waiting = [whole]
    while waiting:
        kind = waiting.pop(0)
        for name, key in keys_of(kind).items():
            for suffix, part in key.kind.parts:
                if part not in first:
                    first[part] = f"{first[kind]}.{name}{suffix}".removeprefix(".")
                    waiting.append(part)
    return [(path, kind) for kind, path in first.items()]


def choices_of(whole: type[Any]) -> list[tuple[str, type[Enum]]]:
    """Return the enumerations of a document, each where it first stands."""
    first: dict[type[Enum], str] = {}
    for path, kind in _everything(whole):
        if _is_choice(kind):
            first.setdefault(kind, path)
    return [(path, kind) for kind, path in first.items()]


def _everything(kind: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a type and all that it contains, with their paths in the document."""
    yield path, kind
    if is_dataclass(kind):
        for name, hint in get_type_hints(kind).items():
            yield from _everything(hint, f"{path}.{name}".removeprefix("."))
        return
    several = "[]" if getattr(kind, "__origin__", None) is tuple else ""
    for inner in get_args(kind):
        yield from _everything(inner, f"{path}{several}")


def _is_choice(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def _default(one: Any, path: str) -> str:
    if one.default is not MISSING:
        value = one.default.value if isinstance(one.default, Enum) else one.default
        return "null" if value is None else f"`{dumps(value, default=asdict)}`"
    made = one.default_factory
    if made is MISSING:
        return ""
    return f"see `{path}`" if is_dataclass(made) else f"`{dumps(made())}`"


def values_of(words: type[Enum]) -> list[tuple[Enum, str]]:
    """Return each word of an enumeration with its meaning."""
    texts = texts_of(words)
    return [(each, texts[each.name]) for each in words]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
