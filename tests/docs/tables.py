"""Writes docs/reference/tables.md: every table of `replay` and `simulate`, column by column.

    python -m tests.docs.tables

Names and types come from the Arrow schemas, meanings from the texts below the fields of the rows.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
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
Other numbers are counts.

What is not known is null, never 0. `partitions` is `list<struct<topic: string, partitions:
list<int32>>>`.
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
    "error_kind": "The same as a code.",
}
"""Columns of the results of `simulate` that are no fields of a class."""

ACTUAL = "actual_"
"""Begins the columns of outcomes that have what happened."""
MOMENTS = frozenset(("at_ms", "from_ms", "to_ms", "until_ms", "last_ms", "commit_ms", "expire_ms"))
"""Columns that are moments; other times are durations."""
PARTITION_TIMES = frozenset({"double_owned_ms"})
"""Times that are summed over partitions though their names do not say it."""
IN_FEATURE = {
    figure: f"{feature}.{figure}" for feature, figures in FEATURES.items() for figure in figures
}
"""Figure -> its column; that of a feature is a struct, null where a run does not have it."""
ALWAYS_OPTIONAL = {"id", "client_model", "coordinator_model", "error", "error_kind"}

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Described:
    """A table of the page."""

    title: str
    about: str
    row: type[Any]
    schema: pa.Schema
    common: Mapping[str, str]
    """Texts of columns that have none of their own."""

    @property
    def columns(self) -> dict[str, pa.Field]:
        """The columns by name, those of structs with the others."""
        return {
            each.name: each
            for column in self.schema
            for each in (column.type if pa.types.is_struct(column.type) else [column])
        }

    def is_shared(self, column: str, others: Sequence[_Described]) -> bool:
        """Return whether another table has the column with the same meaning."""
        own = texts_of(self.row)
        return (
            column not in own
            and column in self.common
            and sum(column in each.columns and column not in texts_of(each.row) for each in others)
            > 1
        )


def _replay() -> Iterator[str]:
    yield "## Tables of replay\n"
    yield "`--table NAME` prints one, `--out FOLDER` writes all as Parquet.\n"
    yield from _tables(
        [
            _Described(
                title=name, about=_about(row), row=row, schema=schema_of(row), common=MEANINGS
            )
            for name, row in TABLES.items()
        ]
    )


def _simulate() -> Iterator[str]:
    yield "## Tables of simulate\n"
    yield from _tables(
        [
            _Described(title=title, about=about, row=row, schema=schema, common=SIMULATED)
            for title, about, row, schema in SHOWN
        ]
    )


def _tables(described: Sequence[_Described]) -> Iterator[str]:
    """Yield the columns that several tables have, and then each table with its own."""
    shared: dict[str, tuple[str, ...]] = {}
    for each in described:
        for name in each.columns:
            if name not in shared and each.is_shared(name, described):
                is_null = any(name in _optional(one.row) for one in described)
                shared[name] = _cells(each, name, remark="", is_null=is_null)
    yield "Columns that several tables have:\n"
    yield from table(("column", "type", "meaning"), shared.values())
    for each in described:
        yield f"### {each.title}\n"
        yield f"{each.about}\n"
        names = [name for name in each.columns if each.is_shared(name, described)]
        remarks = {name: _remark(each.title, name) for name in each.columns}
        if names:
            yield f"It has {', '.join(f'`{name}`' for name in names)}, as above, and:\n"
        actual = [name for name in each.columns if name.startswith(ACTUAL)]
        rows = [
            _cells(each, name, remark=remarks[name])
            for name in each.columns
            if (name not in names or remarks[name]) and name not in actual
        ]
        if actual:
            listed = ", ".join(f"`{name}`" for name in actual)
            rows.append((listed, "", "The same figures of what happened."))
        yield from table(("column", "type", "meaning"), rows)


def _remark(title: str, column: str) -> str:
    """Return why a column of a table is null, or by which model it is estimated."""
    if reason := NOT_RECORDED.get((title, column)):
        return f"Null: {reason}."
    model = ESTIMATED.get((title, column), "")
    return f"Estimate: {model}." if model else ""


def _cells(each: _Described, name: str, *, remark: str, is_null: bool = False) -> tuple[str, ...]:
    """Return the row of a column."""
    own = texts_of(each.row)
    meaning = (own.get(name) or each.common[name]).replace("`None`", "null")
    if meaning.startswith("Estimate") and remark:
        meaning = ""
    optional = _optional(each.row) | ALWAYS_OPTIONAL
    if "client_model" in each.schema.names:  # members of one run may list several
        optional = optional | {"assignor"}
    unit = _unit(name)
    kind = "".join((f"`{_type(each.columns[name].type)}`", f", {unit}" if unit else ""))
    null = ", or null" if is_null or name in optional else ""
    text = f"{meaning} {remark}".strip()
    return f"`{IN_FEATURE.get(name, name)}`", f"{kind}{null}", text[:1].upper() + text[1:]


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
        return "partitions"
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
