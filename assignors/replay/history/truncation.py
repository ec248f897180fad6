"""How much of one group is told: every member of every generation, up to a limit.

The tables have a row for each member of each generation. Where a million members join a group
one by one, and the broker starts an epoch for each, that is half a million million rows, of a
few million records. So the generations of such a group are told from the newest back, as many
as fit; older ones are left out as compaction would leave them out, and a finding says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history.model import Unreadable
from wire.records import Record

MEMBER_ROWS_MAX = 3_000_000
"""So many members, all generations of a group together: about 10 GB in plain Python."""


def within_budget(
    entries: Sequence[LoggedRecord], member_rows_max: int = MEMBER_ROWS_MAX
) -> tuple[Sequence[LoggedRecord], Unreadable | None]:
    """Return the records of a group that are told, and what is said of those that are not.

    The newest generation is always told. Cost: O(records).
    """
    older = list(_generations(entries))
    told = older.pop()[1] if older else 0
    dropped: dict[int, int] = {}
    for position, size in reversed(older):
        told += size
        if told > member_rows_max:
            dropped[position] = size
    if not dropped:
        return entries, None
    kept = [entry for position, entry in enumerate(entries) if position not in dropped]
    newest = entries[max(dropped)]
    text = (
        f"{len(dropped):,} generations up to this one are not told: of one group "
        f"{member_rows_max:,} members are, all generations together, and these have "
        f"{sum(dropped.values()):,}"
    )
    said = Unreadable(
        at_ms=newest.at_ms,
        name=newest.record.name,
        text=text,
        partition=newest.partition,
        offset=newest.offset,
    )
    return kept, said


def _generations(entries: Sequence[LoggedRecord]) -> Iterator[tuple[int, int]]:
    """Yield the place of each record that completes a generation, and how many are in it."""
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
