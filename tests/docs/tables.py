"""Writes docs/reference/tables.md: every table of `replay` and `simulate`, column by column.

    python -m tests.docs.tables

Names and types come from the Arrow schemas, meanings from the texts below the fields of the rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pyarrow as pa

from assignors.arrow.schemas import PARTITIONS, schema_of
from assignors.replay.tables.columns import ESTIMATED, NOT_RECORDED
from assignors.replay.tables.meanings import MEANINGS
from assignors.replay.tables.rows import TABLES
from assignors.simulation.arrow import INTERVALS, ROUNDS, TIMED
from assignors.simulation.rounds.outcome import Outcome
from assignors.simulation.timed.results import FEATURES, TimedResult
from assignors.simulation.timed.tables.rows import IntervalRow
from assignors.simulation.timed.tables.summary import SummaryRow
from tests.docs.source import DOCS, one_line, table, texts_of

PAGE = DOCS / "reference" / "tables.md"

HEAD = """# Tables of replay and simulate

Every column with its type in Arrow, which is also that in Parquet, pandas, Polars and Spark; in
JSON lines a column is a key ([formats](formats.md)). This page is written by
`python -m tests.docs.tables`, from the schemas in the code.

Units: `ms` is milliseconds, `epoch ms` a moment, in milliseconds since 1970-01-01 UTC, by the
clocks that wrote the records; times of `simulate` count from the begin of the run. `partition-ms`
is partitions times milliseconds: two partitions that are unassigned for three seconds are 6000.
Other numbers are counts, or numbers of something.

A column marked *null* may be null: what is not known is null, never 0.
"""
SIMULATED = {
    "id": "The `id` of the input line.",
    "protocol": "`classic`, `consumer` or `push`.",
    "scenario": "Name of the scenario.",
    "seed": "Seed of the run.",
    "coordinator_model": "Execution model of the coordinator; null: it has none.",
    "client_model": "How the clients of all members divide their work among threads.",
    "assignor": "Of all members in a classic group, null where it is not one; else the broker's.",
    "scenario_hash": "Hash of the whole scenario, seed and protocol included.",
    "package_version": "Version of this package: another one may play a scenario otherwise.",
    "error": "Why there is no result; all other figures are null then.",
}
"""Columns of the results of `simulate` that are no fields of a class."""

REMARKS = {"Null where": NOT_RECORDED, "Estimate:": ESTIMATED}
ESTIMATE = "Estimate, see `columns.ESTIMATED`."
MOMENTS = frozenset(("at_ms", "from_ms", "to_ms", "until_ms", "last_ms", "commit_ms", "expire_ms"))
"""Columns that are moments; other times are durations."""
PARTITION_TIMES = frozenset({"double_owned_ms"})
"""Times that are summed over partitions though their names do not say it."""
IN_FEATURE = {
    figure: f"{feature}.{figure}" for feature, figures in FEATURES.items() for figure in figures
}
"""Figure -> its column; that of a feature is a struct, null where a run does not have it."""
ALWAYS_OPTIONAL = {"id", "client_model", "coordinator_model", "error"}

SHOWN: tuple[tuple[str, str, type[Any], pa.Schema], ...] = (
    (
        "`simulate`",
        "A row for each history, event and assignor. In Python: `assignors.simulation.rounds`.",
        Outcome,
        ROUNDS.results,
    ),
    (
        "`simulate`",
        "A row for each run. In Python: `assignors.simulation.timed.tables`.",
        TimedResult,
        TIMED.results,
    ),
    (
        "`simulate --intervals`",
        "A row for each time in which a member really consumed a partition.",
        IntervalRow,
        INTERVALS.results,
    ),
    (
        "Summaries",
        "Of `assignors.simulation.timed.tables.summary`: a row for each figure of each variant.",
        SummaryRow,
        schema_of(SummaryRow),
    ),
)


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_replay(), *_simulate()])


def _replay() -> Iterator[str]:
    yield "## Tables of replay\n"
    links = [(f"[`{name}`](#{name})", _about(row)) for name, row in TABLES.items()]
    yield from table(("table", "a row is"), links)
    yield "`--table NAME` prints one, `--out FOLDER` writes all as Parquet.\n"
    for name, row in TABLES.items():
        yield f"### {name}\n"
        yield f"{_about(row)}\n"
        special = {
            column: f"{word} {text}."
            for word, texts in REMARKS.items()
            for (owner, column), text in texts.items()
            if owner == name
        }
        yield from _columns(row, schema_of(row), MEANINGS, special)


def _simulate() -> Iterator[str]:
    yield "## Tables of simulate\n"
    for title, text, row, schema in SHOWN:
        yield f"### {title}\n"
        yield f"{text}\n"
        yield from _columns(row, schema, SIMULATED, {})


def _columns(
    row: type[Any], schema: pa.Schema, common: Mapping[str, str], special: Mapping[str, str]
) -> Iterator[str]:
    own = texts_of(row)
    optional = _optional(row) | ALWAYS_OPTIONAL
    if "client_model" in schema.names:  # members of one run may list several
        optional = optional | {"assignor"}
    rows = []
    flat = [
        each
        for column in schema
        for each in (column.type if pa.types.is_struct(column.type) else [column])
    ]
    for column in flat:
        meaning = own.get(column.name) or common[column.name]
        meaning = meaning.replace(ESTIMATE, "").replace("`None`", "null")
        more = special.get(column.name, "")
        null = ", *null*" if column.name in optional else ""
        kind = f"`{_type(column.type)}`{null}"
        name = IN_FEATURE.get(column.name, column.name)
        rows.append((f"`{name}`", kind, _unit(column.name), f"{meaning} {more}".strip()))
    yield from table(("column", "type", "unit", "meaning"), rows)


def _unit(column: str) -> str:
    if column in MOMENTS:
        return "epoch ms"
    if "_ms" not in column:
        return ""
    return "partition-ms" if "partition_ms" in column or column in PARTITION_TIMES else "ms"


def _optional(row: type[Any]) -> set[str]:
    """Return the fields that may be null."""
    hints = get_type_hints(row)
    return {
        each.name
        for each in fields(row)
        if get_origin(hints[each.name]) in (Union, UnionType)
        and type(None) in get_args(hints[each.name])
    }


def _type(kind: pa.DataType) -> str:
    if kind == PARTITIONS:
        return "list<struct<topic: string, partitions: list<int32>>>"
    if pa.types.is_list(kind):
        return f"list<{_type(kind.value_type)}>"
    if pa.types.is_struct(kind):
        inner = ", ".join(f"{field.name}: {_type(field.type)}" for field in kind)
        return f"struct<{inner}>"
    return str(kind)


def _about(row: type[Any]) -> str:
    return one_line(inspect.getdoc(row) or "").replace("`None`", "null")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
