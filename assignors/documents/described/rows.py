"""Read members, partitions and states out of the rows of the tool's tables.

Columns differ by release: `--members --verbose` has ASSIGNMENT (`orders(0,1), users(0)`) before
4.0, since then CURRENT-ASSIGNMENT and TARGET-ASSIGNMENT (`orders:0,1;users:0`) with the epochs of
the consumer protocol (KIP-1099). The tool of 3.9.0 leaves the topics out: `(0,1), (0)`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from assignors.documents.described.tables import SHARE, Row, Table, at_line
from assignors.documents.values import INT32_MAX, ErrorCode

NONE = "-"
"""What the tool prints for an absent value."""

TOPIC = r"[A-Za-z0-9._-]+"
NUMBERS = r"\d+(?:,\d+)*"
SINCE_4 = re.compile(rf"(?P<topic>{TOPIC}):(?P<numbers>{NUMBERS})")
BEFORE_4 = re.compile(rf"(?P<topic>{TOPIC})\((?P<numbers>{NUMBERS})\)")
WITHOUT_TOPICS = re.compile(rf"\({NUMBERS}\)(?:,\s*\({NUMBERS}\))*")

AT_REST = frozenset({"Stable", "Empty", "Dead"})
"""States in which members have what they are to have."""

Owned = dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """A member as the tool prints it."""

    line: int
    member_id: str
    client_id: str
    owned: Owned | None
    """What it has; `None` where the table does not say (`--members` without `--verbose`, 3.9)."""
    target: Owned | None
    """What the coordinator wants it to have; `None` in classic groups and before 4.0."""
    epoch: int | None


@dataclass(slots=True, kw_only=True)
class Described:
    """What all tables say about one group."""

    members: dict[str, MemberRow] = field(default_factory=dict)
    """Of `--members`, by member id, in the order of the text."""
    owners: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Of `--offsets`: member id -> topic -> numbers; of one without partitions an empty entry."""
    instances: dict[str, str] = field(default_factory=dict)
    """Member id -> instance id, where the table has both."""
    committed: dict[str, set[int]] = field(default_factory=dict)
    """Of `--offsets`: topic -> numbers, whether or not a member has them."""
    is_at_rest: bool = True
    """Of `--state`, and of what the tool remarks: whether no rebalance was going on."""
    has_offsets: bool = False
    counted: dict[str, int] = field(default_factory=dict)
    """Of `--members`: member id -> #PARTITIONS, where the assignment has more."""
    without_topics: bool = False
    """Whether ASSIGNMENT has no names of topics, as the tool of 3.9.0 prints it."""


def read_rows(described: Described, table: Table) -> None:
    """Add what a table says; raises `DocumentError` with the line of the first wrong value."""
    if "COORDINATOR (ID)" in table.columns:
        for row in table.rows:
            described.is_at_rest &= row.cells["STATE"] in AT_REST
    elif "PARTITION" in table.columns:
        described.has_offsets = True
        for row in table.rows:
            _add_partition(described, row)
    else:
        for row in table.rows:
            _add_member(described, row)


def owned_of(text: str, line: int) -> Owned:
    """Return the partitions by topic of a cell.

    >>> owned_of("orders:0,1;users:0", 1), owned_of("orders(0,1), users(0)", 1), owned_of("-", 1)
    ({'orders': (0, 1), 'users': (0,)}, {'orders': (0, 1), 'users': (0,)}, {})
    """
    if text == NONE:
        return {}
    separator, form = (";", SINCE_4) if ":" in text else (r"(?<=\)),\s*", BEFORE_4)
    owned: Owned = {}
    for part in re.split(separator, text):
        found = form.fullmatch(part)
        if found is None or found["topic"] in owned:
            words = f"expected an assignment as orders:0,1;users:0, found {_short(text)}"
            raise at_line(line, words)
        owned[found["topic"]] = tuple(_number(n, line) for n in found["numbers"].split(","))
    return owned


def _add_member(described: Described, row: Row) -> None:
    cells = row.cells
    member_id = cells.get("CONSUMER-ID", "")
    if member_id in described.members:
        raise at_line(row.line, f"member {_short(member_id)} occurs twice", ErrorCode.REPEATED)
    text = cells.get("CURRENT-ASSIGNMENT", cells.get("ASSIGNMENT"))
    owned = None
    if text is not None and WITHOUT_TOPICS.fullmatch(text):
        described.without_topics = True
    elif text is not None:
        if ":" in text and "ASSIGNMENT" in cells:
            # Since 4.0 the table of consumer groups has CURRENT-ASSIGNMENT.
            raise at_line(row.line, SHARE, ErrorCode.UNKNOWN)
        owned = owned_of(text, row.line)
        _compare_count(described, member_id, owned, row)
    epoch, target = cells.get("CURRENT-EPOCH", NONE), cells.get("TARGET-ASSIGNMENT")
    has_target = target is not None and cells.get("TARGET-EPOCH", NONE) != NONE
    if cells.get("GROUP-INSTANCE-ID"):
        described.instances[member_id] = cells["GROUP-INSTANCE-ID"]
    described.members[member_id] = MemberRow(
        line=row.line,
        member_id=member_id,
        client_id=cells.get("CLIENT-ID", ""),
        owned=owned,
        target=owned_of(target, row.line) if has_target and target is not None else None,
        epoch=None if epoch == NONE else _number(epoch, row.line),
    )


def _compare_count(described: Described, member_id: str, owned: Owned, row: Row) -> None:
    """Keep a #PARTITIONS that is too small; `DocumentError` if too large: the line has been cut."""
    found = sum(map(len, owned.values()))
    count = _number(row.cells.get("#PARTITIONS", str(found)), row.line)
    if count > found:
        words = f"#PARTITIONS says {count}, the assignment has {found}; was the line cut?"
        raise at_line(row.line, words)
    if count < found:
        described.counted[member_id] = count


def _add_partition(described: Described, row: Row) -> None:
    cells = row.cells
    topic, number, member_id = cells["TOPIC"], cells["PARTITION"], cells.get("CONSUMER-ID") or NONE
    owned = None if member_id == NONE else described.owners.setdefault(member_id, {})
    if owned is not None and cells.get("GROUP-INSTANCE-ID"):
        described.instances[member_id] = cells["GROUP-INSTANCE-ID"]
    if topic == NONE:
        return
    partition = _number(number, row.line)
    numbers = described.committed.setdefault(topic, set())
    if partition in numbers:
        raise at_line(row.line, f"{topic} {partition} occurs twice", ErrorCode.REPEATED)
    numbers.add(partition)
    if owned is not None:
        owned.setdefault(topic, []).append(partition)


def _number(text: str, line: int) -> int:
    if not (text.isascii() and text.isdecimal()) or len(text) > 10 or int(text) > INT32_MAX:
        raise at_line(line, f"expected a number, found {_short(text)}")
    return int(text)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
