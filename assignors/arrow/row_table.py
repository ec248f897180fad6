"""A table of results that becomes Arrow, pandas or Polars when it is asked for.

Functions for notebooks and scripts return it. It holds the rows as they were computed: a table
that nobody converts costs nothing more, and the package that it is converted to is imported then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from assignors.extras import imported_by_itself, imported_from

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

RowT = TypeVar("RowT")

ROWS_SHOWN = 10
"""Rows that a notebook shows."""

TEXT_SHOWN = 120
"""Characters of a cell that a notebook shows."""


@dataclass(frozen=True, slots=True)
class RowTable(Generic[RowT]):
    """Rows of one kind: iterate over them, or convert them with one of the methods.

    Where a package is missing, `ModuleNotFoundError` says how to install it.

    Whatever reads Arrow's C stream interface takes the table itself: `polars.DataFrame(table)`,
    `pyarrow.table(table)`.
    """

    name: str
    rows: Sequence[RowT]
    arrow_of: Callable[[Sequence[RowT]], pa.Table]
    """Makes Arrow of rows; of no rows an empty table with the same schema."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[RowT]:
        return iter(self.rows)

    def __getitem__(self, position: int) -> RowT:
        return self.rows[position]

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table. Needs pyarrow; cost: linear in the cells."""
        with imported_from("replay"):
            return self.arrow_of(self.rows)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas DataFrame.

        Whole numbers and booleans have pandas' own types that can be null (`Int64`, `boolean`):
        a column with a null in it would become floating-point numbers otherwise. Needs pandas.
        """
        with imported_by_itself():
            import pandas as pd  # noqa: PLC0415 - only who asks needs it
        with imported_from("replay"):
            import pyarrow as pa  # noqa: PLC0415 - as above

        kinds = {
            pa.int32(): pd.Int32Dtype(),
            pa.int64(): pd.Int64Dtype(),
            pa.bool_(): pd.BooleanDtype(),
        }
        frame: pd.DataFrame = self.to_arrow().to_pandas(types_mapper=kinds.get)
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a Polars DataFrame. Needs Polars."""
        with imported_by_itself():
            import polars as pl  # noqa: PLC0415 - only who asks needs it

        return pl.DataFrame(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows as a stream of Arrow's PyCapsule interface, which libraries read."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<{self.name}: {len(self):,} rows; to_pandas(), to_polars(), to_arrow()>"

    def _repr_html_(self) -> str:
        """Return the first rows as HTML, for notebooks."""
        with imported_from("replay"):
            shown = self.arrow_of(list(islice(self.rows, ROWS_SHOWN)))
        head = "".join(f"<th>{escape(name)}</th>" for name in shown.column_names)
        body = "".join(
            f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row.values())}</tr>"
            for row in shown.to_pylist()
        )
        left_out = len(self) - shown.num_rows
        more = f", the first {shown.num_rows} of them" if left_out else ""
        return (
            f"<p>{escape(self.name)}: {len(self):,} rows{more}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )


def _cell(value: object) -> str:
    text = _text(value)
    return escape(text if len(text) <= TEXT_SHOWN else f"{text[:TEXT_SHOWN]}...")


def _text(value: Any) -> str:  # noqa: ANN401 - whatever Arrow gives
    r"""Return a cell as text: names with commas, partitions by topic.

    >>> _text([{"topic": "orders", "partitions": [0, 1]}]), _text(["a", "b"]), _text(None)
    ('orders[0, 1]', 'a, b', '')
    """
    if value is None:
        return ""
    if isinstance(value, Mapping) and list(value) == ["topic", "partitions"]:
        return f"{value['topic']}{value['partitions']}"
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return str(value)
