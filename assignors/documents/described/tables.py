"""Find the tables in what `kafka-consumer-groups.sh --describe` or rpk prints, and their cells.

The tool prints a table for each group: a header, then rows whose cells begin where the names in
the header do. Positions are the only way to read some of them: a member without an instance id
has an empty cell, and a name of a group may contain spaces. Where a header or a row has lost its
alignment (tabs, several spaces made one, a name that somebody replaced) rows are split at white
space instead, if the number of values fits. Columns may be dropped and come in any order.

Sentences of the tool stand between tables: "Consumer group 'x' has no active members." and the
like. `rpk group describe` prints the group's name and state as lines above its table of partitions.
Lines of a terminal (`documents.terminal`) are skipped, and so is other text before the first table.
Any other line is an error, as it may be the end of a line that a terminal wrapped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from assignors.documents.terminal import is_around
from assignors.documents.values import DocumentError, ErrorCode

HEADER_MAX = 1000
"""Characters in a header at most."""

EXPECTED = "expected the header of a table, with GROUP, TOPIC or CONSUMER-ID"

HEADER_NAME = re.compile(r"COORDINATOR \(ID\)|#?[A-Z][A-Z-]*")

RPK_NAMES = {"MEMBER-ID": "CONSUMER-ID", "INSTANCE-ID": "GROUP-INSTANCE-ID"}
"""Column of rpk -> the same of Kafka's tool."""

RPK_LINE = re.compile(
    r"(?P<name>GROUP|COORDINATOR(?:-NODE|-PARTITION)?|STATE|BALANCER|MEMBERS|TOTAL-LAG|ERROR)"
    r"\s+(?P<value>\S+(?: \S+)*)"
)
"""A line of rpk's summary of a group."""

RPK_STATES = {"Empty": "has no active members", "Dead": "does not exist", "Stable": ""}
"""State of a group in rpk's summary -> what Kafka's tool remarks; a rebalance in all others."""

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
RPK_MAY_BE_EMPTY = frozenset({"CONSUMER-ID", "GROUP-INSTANCE-ID", "CLIENT-ID", "HOST", "ERROR"})

BETWEEN_TOPICS = re.compile(r"\),\s+")
"""What separates topics before 4.0, `a(0,1), b(0)`: a space that does not separate columns."""

SKIPPED_COLUMNS_MAX = 3
"""Text before the first table is skipped, but not what may be a row: this many columns or more."""

SENTENCE = re.compile(
    r"(?P<warning>Warning: )?(?P<error>Error: )?(?:The )?[Cc]onsumer group '(?P<group>.*)' "
    r"(?P<says>has no active members|does not exist|is rebalancing)\.?"
)
COMMAND = re.compile(r".*kafka-consumer-groups|.*\brpk group ")
"""The command as it was typed, after any prompt."""


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
    may_be_empty: frozenset[str] = MAY_BE_EMPTY
    """Columns in which a cell may be empty."""
    group: str | None = None
    """Group of all rows, where a line above the table names it."""
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
    """Return whether a line is the header of a table, or a sentence of the tool.

    >>> is_described("GROUP  CONSUMER-ID  HOST"), is_described('{"topics": {}}')
    (True, False)
    """
    text = line.strip()
    return _header(text, 0) is not None or SENTENCE.fullmatch(text) is not None


def read_tables(text: str) -> tuple[list[Table], list[Remark]]:
    """Return the tables and the remarks in the text, in order.

    A line that fits nowhere becomes the `error` of the table that it stands in; before the first
    table it is raised as `DocumentError`. Cost: linear in the text.
    """
    tables: list[Table] = []
    remarks: list[Remark] = []
    first, group = 0, None
    for number, line in _lines(text):
        first = first or number
        header = _header(line, number)
        sentence = SENTENCE.fullmatch(line.strip())
        summary = RPK_LINE.fullmatch(line)
        cells = _cells(tables[-1], line) if tables and header is None else None
        if header is not None:
            header.group = None if "GROUP" in header.columns else group
            tables.append(header)
        elif cells is not None:
            tables[-1].rows.append(Row(line=number, cells=cells))
        elif sentence is not None:
            remarks.append(Remark(line=number, group=sentence["group"], says=sentence["says"]))
        elif summary is not None and (group is not None or summary["name"] == "GROUP"):
            group = summary["value"] if summary["name"] == "GROUP" else group
            says = RPK_STATES.get(summary["value"], "is rebalancing")
            if summary["name"] == "STATE" and says and group is not None:
                remarks.append(Remark(line=number, group=group, says=says))
        elif tables:
            _keep_error(tables[-1], number, line)
        elif len(re.findall(r"\S(?:\t|  )", line)) >= SKIPPED_COLUMNS_MAX:
            raise at_line(number, EXPECTED)
    if not tables and not remarks:
        raise at_line(first or 1, EXPECTED)
    return tables, remarks


def lines_before_tables(text: str) -> list[str]:
    """Return the lines before the first table or sentence, which are not read. Cost: O(them)."""
    return [
        line
        for _, line in takewhile(lambda numbered: not is_described(numbered[1]), _lines(text))
        if RPK_LINE.fullmatch(line) is None
    ]


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
    if not line.isascii() or not line.isupper() or len(line) > HEADER_MAX:
        return None
    found = list(HEADER_NAME.finditer(line))
    printed = tuple(match.group() for match in found)
    names = tuple(RPK_NAMES.get(name, name) for name in printed)
    kind = next((column for column in KINDS if column in names), None)
    # Of a table of members other columns may have been dropped.
    is_known = kind is not None and (KINDS[kind] in names or kind == "CONSUMER-ID")
    is_whole = " ".join(printed) == " ".join(line.split())
    if not is_known or not is_whole or len(names) < 2 or len(set(names)) < len(names):
        return None
    return Table(
        line=number,
        columns=names,
        starts=tuple(match.start() for match in found),
        is_squeezed="  " not in line.strip(),
        may_be_empty=RPK_MAY_BE_EMPTY if names != printed else MAY_BE_EMPTY,
    )


def _cells(table: Table, line: str) -> dict[str, str] | None:
    """Return the cells of a line, `None` where it is no row of the table."""
    cells = None if table.is_squeezed else _cells_by_position(table, line)
    return _cells_by_space(table, line) if cells is None else cells


def _keep_error(table: Table, number: int, line: str) -> None:
    """Keep the first line that is no row of the table, and not of a terminal either."""
    if table.error is None and not is_around(line) and COMMAND.match(line) is None:
        table.error = at_line(
            number,
            f"no row of the table whose header is line {table.line}, which has "
            f"{len(table.columns)} columns; was the line cut or wrapped?",
        )


def _cells_by_position(table: Table, line: str) -> dict[str, str] | None:
    """Return the cells of a line whose values begin where the header's names do."""
    ends = (*table.starts[1:], len(line))
    cells: dict[str, str] = {}
    for name, start, end in zip(table.columns, table.starts, ends, strict=True):
        cell = line[start:end]
        is_apart = start == 0 or line[start - 1 : start] == " "
        if name in table.may_be_empty and not cell.strip():
            cells[name] = ""
        elif not is_apart or not cell or cell[0] == " ":
            return None
        else:
            cells[name] = cell.strip()
    return cells


def _cells_by_space(table: Table, line: str) -> dict[str, str] | None:
    """Return the cells of a line with as many values as columns, or one less and no instance id.

    Where the line alone has lost its alignment, HOST must look like one: in the name of a group
    may be spaces, and then a line that was cut has as many values as a whole one.
    """
    values = BETWEEN_TOPICS.sub("),", line).split()
    for columns in (
        table.columns,
        tuple(column for column in table.columns if column != "GROUP-INSTANCE-ID"),
    ):
        if len(values) == len(columns):
            cells = dict.fromkeys(table.columns, "") | dict(zip(columns, values, strict=True))
            is_likely = cells.get("HOST", "").startswith("/") or "PARTITION" in columns
            return cells if table.is_squeezed or is_likely else None
    return None


def by_group(tables: Iterable[Table]) -> Iterator[tuple[str | None, Table]]:
    """Yield each table with the name of its group, `None` where the text does not have it.

    A table without rows is of no group. One with rows of several groups becomes several.
    """
    for table in tables:
        rows: dict[str | None, list[Row]] = {}
        for row in table.rows:
            rows.setdefault(row.cells.get("GROUP", table.group), []).append(row)
        if table.error is not None and not rows:
            rows[table.group] = []
        for group, own in rows.items():
            yield group, replace(table, rows=own)
