"""Every kind of simulation on Arrow batches: scenario rows in, rows of figures out.

A kind is a `RowKind`: the columns that it reads, and the columns of its results. Spark, and tables
that become Arrow, pandas or Polars, use these as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from assignors.arrow.schemas import schema_of
from assignors.documents.failures import NO_ERROR
from assignors.extras import imported_from
from assignors.registry import assignor_named
from assignors.simulation.processes import Row, known
from assignors.simulation.rounds import scenario_rows as rounds
from assignors.simulation.rounds.outcome import Outcome
from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.measures import Measured
from assignors.simulation.timed.execution.policy import Settings
from assignors.simulation.timed.results import FEATURES, TimedResult
from assignors.simulation.timed.sweeps import rows as sweeps
from assignors.simulation.timed.sweeps.sweep import FIELDS, Sweep
from assignors.simulation.timed.tables import rows as timed
from assignors.simulation.timed.tables.summary import SummaryRow, summary_rows
from assignors.simulation.traffic import rows as traffic
from assignors.simulation.traffic.results import TrafficResult

with imported_from("replay"):
    import pyarrow as pa

Play = Callable[[Row], Iterable[Row]]
"""A scenario row to the rows of its results."""

ROWS_A_BATCH = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class RowKind:
    """The columns of one kind of simulation."""

    given: tuple[str, ...]
    """Columns of a scenario row. All others come back with each row of its results."""
    results: pa.Schema
    """Columns of the results."""
    optional: Collection[str] = ()
    """Those that a plain row leaves out where they are null."""

    def schema(self, scenarios: pa.Schema) -> pa.Schema:
        """Return the schema of the results of such scenario rows: their other columns come first.

        Raises `ValueError` for another column that has the name of a result.
        """
        others = [field for field in scenarios if field.name not in self.given]
        for field in others:
            if field.name in self.results.names:
                words = "is one of the results; call it something else"
                raise ValueError(f"column {field.name!r} {words}")
        return pa.schema([*others, *self.results])

    def played(self, batches: Iterable[pa.RecordBatch], play: Play) -> Iterator[pa.RecordBatch]:
        """Yield the results of scenario rows (`schema`), in their order.

        Memory: one input batch, the results of one row, and `ROWS_A_BATCH` results.
        """
        for batch in batches:
            made: list[Row] = []
            places: list[int] = []
            for place in range(batch.num_rows):
                row = {
                    name: batch.column(name)[place].as_py()
                    for name in self.given
                    if name in batch.schema.names
                }
                for result in play(row):
                    made.append(result)
                    places.append(place)
                    if len(made) == ROWS_A_BATCH:
                        yield self._batch(batch, places, made)
                        made, places = [], []
            if made:
                yield self._batch(batch, places, made)

    def table(self, rows: Sequence[Row]) -> pa.Table:
        """Return rows of results as a table. Arrow takes a map as a list of keys and values."""
        maps = [field.name for field in self.results if pa.types.is_map(field.type)]
        if maps:
            rows = [
                {**row, **{name: [*row[name].items()] for name in maps if name in row}}
                for row in rows
            ]
        return pa.Table.from_pylist(rows, schema=self.results)

    def row(self, columns: Row) -> dict[str, Any]:
        """Return a row of the results, read from a table, as plain Python has it."""
        if columns["error"] is not None:
            return known(columns)
        return {
            name: value
            for name, value in columns.items()
            if value is not None or name not in self.optional
        }

    def _batch(
        self, batch: pa.RecordBatch, places: Sequence[int], made: Sequence[Row]
    ) -> pa.RecordBatch:
        schema = self.schema(batch.schema)
        others = [name for name in batch.schema.names if name not in self.given]
        columns = [batch.column(name).take(pa.array(places, pa.int32())) for name in others]
        columns += self.table(made).to_batches()[0].columns
        return pa.RecordBatch.from_arrays(columns, schema=schema)


def _strings(*names: str) -> list[pa.Field]:
    return [pa.field(name, pa.string()) for name in names]


def _timed_columns(names: Iterable[str], row: type[Any]) -> pa.Schema:
    """Return the columns of a timed table: figures of `row`, features, and names of the run."""
    types = {field.name: field.type for field in schema_of(row)}
    types["seed"] = pa.int64()
    for feature, figures in FEATURES.items():
        if row is TimedResult:
            types[feature] = pa.struct([(name, types[name]) for name in figures])
    return pa.schema([(name, types.get(name, pa.string())) for name in names])


ROUNDS = RowKind(
    given=rounds.GIVEN,
    results=pa.schema([*_strings("id"), *schema_of(Outcome), *_strings(*NO_ERROR)]),
)
"""A row a scenario, event and assignor."""
_LOADS = pa.map_(pa.string(), pa.int64())
ASKED = RowKind(
    given=(),
    results=pa.schema(
        [
            *ROUNDS.results,
            *_strings("asked"),
            pa.field("loads_before", _LOADS),
            pa.field("loads_after", _LOADS),
        ]
    ),
)
"""The same for events that were asked for."""
TIMED = RowKind(
    given=timed.GIVEN,
    results=_timed_columns(timed.RESULT_COLUMNS, TimedResult),
    optional=FEATURES,
)
"""A row a run. Figures of a feature are a struct, null where the run does not have the feature."""
INTERVALS = RowKind(
    given=timed.GIVEN, results=_timed_columns(timed.INTERVAL_COLUMNS, timed.IntervalRow)
)
"""A row an interval in which a member consumed a partition."""
TRAFFIC = RowKind(
    given=traffic.GIVEN,
    results=pa.schema(
        [
            *_strings("scenario"),
            pa.field("seed", pa.int64()),
            *_strings("assignor"),
            *schema_of(TrafficResult),
            *_strings(*NO_ERROR),
        ]
    ),
)
"""A row a scenario row and assignor."""
_OF_POINT = [*schema_of(Load), *schema_of(Settings)]
POINT = pa.schema([*_strings("model"), *(each for each in _OF_POINT if each.name in FIELDS)])
"""A row a point of a sweep; null is the default of a field."""
COORDINATORS = RowKind(
    given=sweeps.POINT_COLUMNS,
    results=pa.schema(
        [*POINT, *schema_of(Measured), *schema_of(sweeps.Derived), *_strings(*NO_ERROR)]
    ),
    optional=[name for name in sweeps.COLUMNS if name not in NO_ERROR],
)
"""A row a point, with its figures."""
POINTS = RowKind(given=("id",), results=POINT)
"""The points of a sweep by number (`id`)."""


def outcomes(assignors: Sequence[str]) -> Play:
    """Return what plays a history in rounds. Raises `ValueError` for an unknown assignor."""
    return partial(rounds.outcomes, assignors=_known_names(assignors))


def traffic_figures(assignors: Sequence[str]) -> Play:
    """Return what plays a scenario with traffic. Raises `ValueError` for an unknown assignor."""
    return partial(traffic.figures, assignors=_known_names(assignors))


def timed_result(own_assignors: Collection[str] = ()) -> Play:
    """Return what plays a scenario on a clock."""
    return partial(timed.result, own_assignors=tuple(own_assignors))


def timed_intervals(own_assignors: Collection[str] = ()) -> Play:
    """Return what plays a scenario on a clock, and tells who consumed what."""
    return partial(timed.intervals_of, own_assignors=tuple(own_assignors))


measured_point: Play = sweeps.figures


def points_of(sweep: Sweep) -> Play:
    """Return what makes the points of a sweep from their numbers."""
    return partial(_point, sweep)


def _point(sweep: Sweep, row: Row) -> list[Row]:
    return [sweep.point(row["id"])]


def _known_names(assignors: Sequence[str]) -> tuple[str, ...]:
    for name in assignors:
        assignor_named(name)
    return tuple(assignors)


def summary_schema(given: pa.Schema, *, by: Sequence[str], between: str) -> pa.Schema:
    """Return the schema of the summary of such results: the columns of its groups come first."""
    return pa.schema([*(given.field(name) for name in (*by, between)), *schema_of(SummaryRow)])


def summary_table(
    results: pa.Table, *, by: Sequence[str], between: str, figures: Sequence[str]
) -> pa.Table:
    """Return the rows of `summary.summary_rows` for a table of results."""
    schema = summary_schema(results.schema, by=by, between=between)
    rows = summary_rows(results.to_pylist(), by=by, between=between, figures=figures)
    return pa.Table.from_pylist([*rows], schema=schema)
