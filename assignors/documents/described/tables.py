"""Find the tables in the output of `kafka-consumer-groups.sh --describe`, and the cells of rows.

The tool prints a table for each group: a header, then rows whose cells begin where the names in
the header do. Positions are the only way to read some of them: a member without an instance id
has an empty cell, and a name of a group may contain spaces. Where a header has lost its alignment
(tabs, several spaces made one) rows are split at white space instead, if the number of values fits.

Sentences of the tool stand between tables: "Consumer group 'x' has no active members." and the
like. A line that is neither is an error, as it may be the end of a line that a terminal wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from assignors.documents.values import DocumentError, ErrorCode

HEADER_NAME = re.compile(r"COORDINATOR \(ID\)|#?[A-Z][A-Z-]*")

FIRST_NAMES = ("GROUP", "CONSUMER-ID", "TOPIC", "COORDINATOR")
"""How a header begins; releases before 2.4 print no column GROUP."""

KINDS = {
    "COORDINATOR (ID)": "STATE",
    "PARTITION": "TOPIC",
    "CONSUMER-ID": "HOST",
    "MEMBER": "PROCESS",
}
"""Column -> another that stands beside it in every release: tables of `--state`, `--offsets` and
`--members`, and the members that another tool prints. The first that a header has says which table
it is: that of `--offsets` has CONSUMER-ID too."""

STREAMS = "output of kafka-streams-groups.sh: members of Streams groups have tasks"
SHARE = "output of kafka-share-groups.sh: members of share groups share partitions"
OTHER_TOOLS = {
    **dict.fromkeys(("PROCESS", "OFFSET-LAG", "TOPOLOGY-EPOCH"), STREAMS),
    **dict.fromkeys(("START-OFFSET", "MEMBER-EPOCH", "ASSIGNMENT-EPOCH"), SHARE),
}
"""Column -> which tool prints it, and why its groups are none that are read here."""

MAY_BE_EMPTY = frozenset({"GROUP-INSTANCE-ID"})

WITH_SPACES = frozenset({"ASSIGNMENT"})
"""Columns at the end of a line whose values contain spaces: `a(0,1), b(0)`, before 4.0."""

SENTENCE = re.compile(
    r"(?P<warning>Warning: )?(?P<error>Error: )?(?:The )?[Cc]onsumer group '(?P<group>.*)' "
    r"(?P<says>has no active members|does not exist|is rebalancing)\.?"
)
PASSED_BY = re.compile(
    r"SLF4J|log4j|WARNING: |Picked up |OpenJDK |Note: |\[\d{4}-|.*kafka-consumer-groups"
)
"""Lines that are no output of the tool's own: a logger's, Java's, the command as it was typed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a table."""

    line: int
    """Its number, from 1."""
    cells: dict[str, str]
    """Column -> value; empty columns have an empty string."""


@dataclass(slots=True, kw_only=True)
class Table:
    """A header and the rows below it."""

    line: int
    """Number of the header's line, from 1."""
    columns: tuple[str, ...]
    starts: tuple[int, ...]
    """Where each column begins, in characters."""
    is_squeezed: bool
    """Whether the header has lost its alignment: then rows are split at white space."""
    rows: list[Row] = field(default_factory=list)
    error: DocumentError | None = None
    """The first line that is no row of this table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """A sentence that the tool prints about a group."""

    line: int
    group: str
    says: str
    """`has no active members`, `does not exist` or `is rebalancing`."""


def require_consumer_groups(table: Table) -> None:
    """Raise `DocumentError`, with the line of the header, for a table that another tool prints."""
    for column, words in OTHER_TOOLS.items():
        if column in table.columns:
            raise at_line(table.line, words, ErrorCode.UNKNOWN)


def is_described(line: str) -> bool:
    """Return whether output of the tool may begin with this line.

    >>> is_described("GROUP  CONSUMER-ID  HOST"), is_described('{"topics": {}}')
    (True, False)
    """
    text = line.strip()
    found = _header(text, 0) is not None or SENTENCE.fullmatch(text)
    return bool(found or PASSED_BY.match(text))


def read_tables(text: str) -> tuple[list[Table], list[Remark]]:
    """Return the tables and the remarks in the text, in order.

    A line that fits nowhere becomes the `error` of the table that it stands in; before the first
    table it is raised as `DocumentError`. Cost: linear in the text.
    """
    tables: list[Table] = []
    remarks: list[Remark] = []
    for number, line in _lines(text):
        header = _header(line, number)
        sentence = SENTENCE.fullmatch(line.strip())
        if header is not None:
            tables.append(header)
        elif sentence is not None:
            remarks.append(Remark(line=number, group=sentence["group"], says=sentence["says"]))
        elif tables:
            _add_row(tables[-1], number, line)
        elif PASSED_BY.match(line) is None:
            raise at_line(number, "expected the header of a table, GROUP or CONSUMER-ID first")
    return tables, remarks


def at_line(number: int, words: str, kind: ErrorCode = ErrorCode.BAD_TEXT) -> DocumentError:
    """Return the error of a line of the text."""
    return DocumentError(kind, f"line {number}: {words}")


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not blank."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.rstrip()


def _header(line: str, number: int) -> Table | None:
    """Return an empty table if the line is a header."""
    if not line.lstrip().startswith(FIRST_NAMES):
        return None
    found = list(HEADER_NAME.finditer(line))
    names = tuple(match.group() for match in found)
    kind = next((column for column in KINDS if column in names), None)
    is_known = kind is not None and KINDS[kind] in names
    if not is_known or " ".join(names) != " ".join(line.split()):
        return None
    return Table(
        line=number,
        columns=names,
        starts=tuple(match.start() for match in found),
        is_squeezed="  " not in line.strip(),
    )


def _add_row(table: Table, number: int, line: str) -> None:
    """Add a line to its table, or keep why it is no row of it."""
    cells = None if table.is_squeezed else _cells_by_position(table, line)
    # Offsets of more than 15 digits push the cells behind them to the right.
    if cells is None and (table.is_squeezed or "PARTITION" in table.columns):
        cells = _cells_by_space(table, line)
    if cells is None and (table.error is not None or PASSED_BY.match(line)):
        return
    if cells is None:
        table.error = at_line(
            number,
            f"no row of the table whose header is line {table.line}, which has "
            f"{len(table.columns)} columns; was the line cut or wrapped?",
        )
        return
    table.rows.append(Row(line=number, cells=cells))


def _cells_by_position(table: Table, line: str) -> dict[str, str] | None:
    """Return the cells of a line whose values begin where the header's names do."""
    ends = (*table.starts[1:], len(line))
    cells: dict[str, str] = {}
    for name, start, end in zip(table.columns, table.starts, ends, strict=True):
        cell = line[start:end]
        is_apart = start == 0 or line[start - 1 : start] == " "
        if name in MAY_BE_EMPTY and not cell.strip():
            cells[name] = ""
        elif not is_apart or not cell or cell[0] == " ":
            return None
        else:
            cells[name] = cell.strip()
    return cells


def _cells_by_space(table: Table, line: str) -> dict[str, str] | None:
    """Return the cells of a line that has as many values as the table has columns."""
    columns = table.columns
    has_spaces = columns[-1] in WITH_SPACES
    values = line.split(maxsplit=len(columns) - 1 if has_spaces else -1)
    return dict(zip(columns, values, strict=True)) if len(values) == len(columns) else None


def by_group(tables: Iterable[Table]) -> Iterator[tuple[str | None, Table]]:
    """Yield each table with the name of its group, `None` where the text does not have it.

    A table without rows is of no group. One with rows of several groups becomes several.
    """
    for table in tables:
        rows: dict[str | None, list[Row]] = {}
        for row in table.rows:
            rows.setdefault(row.cells.get("GROUP"), []).append(row)
        if table.error is not None and not rows:
            rows[None] = []
        for group, own in rows.items():
            yield group, replace(table, rows=own)
