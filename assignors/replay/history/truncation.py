"""A limit on the history of one group: only its newest generations, up to 3 million member rows.

The tables have a row for each member of each generation. Where a million members join a group
one by one, and the broker starts an epoch for each, that is half a million million rows from a
few million records. So the newest generations of such a group are kept, as many as fit. Older
ones are left out as compaction would leave them out, and a finding says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history.model import Unreadable
from wire.records import Record

MEMBER_ROWS_MAX = 3_000_000
"""Members of all generations of one group, added up: about 10 GB in plain Python."""


def newest_records(
    entries: Sequence[LoggedRecord], member_rows_max: int = MEMBER_ROWS_MAX
) -> tuple[Sequence[LoggedRecord], Unreadable | None]:
    """Return the records of a group without its oldest generations, and a finding if any are gone.

    The newest generation is always kept, older ones while all together have at most
    `member_rows_max` members. Cost: O(records).
    """
    older = list(_generations(entries))
    kept_rows = older.pop()[1] if older else 0
    dropped: dict[int, int] = {}
    for position, size in reversed(older):
        kept_rows += size
        if kept_rows > member_rows_max:
            dropped[position] = size
    if not dropped:
        return entries, None
    kept = [entry for position, entry in enumerate(entries) if position not in dropped]
    newest = entries[max(dropped)]
    text = (
        f"{len(dropped):,} generations up to this one, with {sum(dropped.values()):,} member rows, "
        f"are not reported: only the newest {member_rows_max:,} member rows of a group are"
    )
    finding = Unreadable(
        at_ms=newest.at_ms,
        name=newest.record.name,
        text=text,
        partition=newest.partition,
        offset=newest.offset,
    )
    return kept, finding


def _generations(entries: Sequence[LoggedRecord]) -> Iterator[tuple[int, int]]:
    """Yield the position of each record that completes a generation, and its member count."""
    members: dict[str, None] = {}
    for position, record in _readable(entries):
        name, key, value = record.name or "", record.key or {}, record.value
        if name == "GROUP_METADATA":
            if value is not None:
                yield position, len(value["members"])
        elif name.endswith("_GROUP_METADATA"):
            if value is not None:
                yield position, len(members)
            elif record.is_tombstone:
                members = {}
        elif name.endswith("_GROUP_MEMBER_METADATA"):
            if value is not None:
                members[key["memberId"]] = None
            elif record.is_tombstone:
                members.pop(key["memberId"], None)


def _readable(entries: Sequence[LoggedRecord]) -> Iterator[tuple[int, Record]]:
    for position, entry in enumerate(entries):
        if entry.record.error is None:
            yield position, entry.record
