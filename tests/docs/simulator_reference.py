"""Writes docs/simulator-reference.md: fields, faults, figures, monitors and scenarios by name.

    python -m tests.docs.simulator_reference

Everything comes from the code: a field's meaning is the string below it, what a named scenario
shows is its docstring. `test_docs` fails where the page is not what this writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from json import dumps
from typing import Any

from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.gallery import GALLERY
from assignors.simulation.timed.monitors.table import MONITORS
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Claims,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)
from tests.docs.source import DOCS, first_line, table, texts_of

PAGE = DOCS / "simulator-reference.md"

PARTS: tuple[tuple[str, str, type[Any]], ...] = (
    ("A scenario", "The whole document.", Scenario),
    (
        "`members[]`",
        "A member with a `count` stands for so many: `c0`, `c1`, ...; so do their instance ids.",
        MemberConfig,
    ),
    ("`plan[]`", "What is done at a time.", Action),
    ("`faults[]`", "What goes wrong for a time.", Fault),
    ("`broker`", "The coordinator's broker.", BrokerConfig),
    ("`network`", "Each message takes a time of its own.", NetworkConfig),
)
WORDS: tuple[tuple[str, type[Enum]], ...] = (
    ("`protocol`", GroupProtocol),
    ("`plan[].do`", Verb),
    ("`faults[].kind`", FaultKind),
    ("`members[].claims`", Claims),
)
HEAD = """# Scenarios on a clock: reference

Fields, figures and named scenarios of `kafka-assignors simulate --scenario`; what it is and how to
use it is in [simulator.md](simulator.md). This page is written by
`python -m tests.docs.simulator_reference`, from the code.

A field without a default has to be given. Times are milliseconds, or microseconds where the name
ends in `_us`. A field that does not exist, and a value that cannot be, are refused with their path.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_format(), *_figures(), *_monitors(), *_clients(), *_gallery()]) + "\n"


def _format() -> Iterator[str]:
    yield "## The document\n"
    nested = [each for _, _, kind in PARTS for each in _settings(kind)]
    known = {kind for _, _, kind in PARTS}
    more = [(f"`{name}`", "", kind) for name, kind in nested if kind not in known]
    for title, text, kind in (*PARTS, *more):
        yield f"### {title}\n"
        yield f"{text or first_line(kind)}\n"
        yield from table(("field", "default", "meaning"), _fields(kind))
    for title, words in WORDS:
        yield f"### Values of {title}\n"
        rows = [(f"`{each.value}`", meaning) for each, meaning in _values(words)]
        yield from table(("value", "meaning"), rows)


def _figures() -> Iterator[str]:
    yield "## The figures of a run\n"
    rows = [(name, meaning) for name, _, meaning in _fields(TimedResult)]
    yield from table(("figure", "meaning"), rows)


def _monitors() -> Iterator[str]:
    yield "## What every run is held against\n"
    yield "`violations` counts, and `first_violation` names the first with its event and seed.\n"
    rows = [
        (f"`{name}`", each.claim, ", ".join(sorted(each.protocols)), each.spec or "")
        for name, each in MONITORS.items()
    ]
    yield from table(("name", "claim", "protocols", "in the TLA+ spec of KIP-848"), rows)


def _clients() -> Iterator[str]:
    yield "## Clients whose bytes a member can write and read\n"
    yield ", ".join(f"`{name}`" for name in DIALECTS) + "\n"


def _gallery() -> Iterator[str]:
    yield "## Named scenarios\n"
    for name, story in GALLERY.items():
        yield f"### `{name}`\n"
        yield f"{story.text}\n"
        yield f"Protocols: {', '.join(story.expected)}.\n"


# What the code says


def _fields(kind: type[Any]) -> list[tuple[str, str, str]]:
    """Return name, default and meaning of each field."""
    texts = texts_of(kind)
    return [(f"`{each.name}`", _default(each), texts.get(each.name, "")) for each in fields(kind)]


def _settings(kind: type[Any]) -> Iterator[tuple[str, type[Any]]]:
    """Yield the fields of a class that are classes of settings themselves, and theirs."""
    for each in fields(kind):
        made = each.default_factory
        if made is not MISSING and is_dataclass(made):
            yield each.name, made
            yield from ((f"{each.name}.{name}", inner) for name, inner in _settings(made))


def _default(one: Any) -> str:
    if one.default is not MISSING:
        value = one.default.value if isinstance(one.default, Enum) else one.default
        return "null" if value is None else f"`{dumps(value)}`"
    return "" if one.default_factory is MISSING else "see below"


def _values(words: type[Enum]) -> list[tuple[Enum, str]]:
    texts = texts_of(words)
    return [(each, texts.get(each.name, "")) for each in words]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
