"""What would have been stands beside what was, and could have been."""

from __future__ import annotations

from collections.abc import Iterator

from assignors.replay.tables.rows import OutcomeRow, Tables


def what_happened_is_the_same_beside_every_assignor(tables: Tables) -> Iterator[str]:
    """Beside each outcome stands what the generations table says of that generation."""
    generations = {(r.group, r.life, r.generation): r for r in tables.generations}
    for row in tables.outcomes:
        if row.generation is None:
            continue
        one = generations[row.group, row.life, row.generation]
        beside = {
            "actual_moved": one.moved,
            "actual_load_min": one.load_min,
            "actual_load_max": one.load_max,
            "actual_balance_gap": one.balance_gap,
            "actual_unassigned": one.unassigned,
            "actual_downtime_partition_ms": one.downtime_partition_ms,
            "member_count": one.member_count,
            "at_ms": one.at_ms,
            "counts_inferred": one.counts_inferred,
        }
        for column, value in beside.items():
            if getattr(row, column) != value:
                yield f"{_outcome(row)}: {column} is {getattr(row, column)}, not {value}"


def outcomes_are_possible(tables: Tables) -> Iterator[str]:
    for row in tables.outcomes:
        is_uneven = row.load_min * row.member_count > row.partition_count
        if row.generation is not None and is_uneven and not row.assignor.endswith("simple"):
            yield f"{_outcome(row)}: more held than there is"
        if row.load_min > row.load_max or row.load_max > row.partition_count:
            yield f"{_outcome(row)}: loads {row.load_min} to {row.load_max}"
        if row.generation is not None and row.moved > row.partition_count * row.rounds:
            yield f"{_outcome(row)}: {row.moved} moved in {row.rounds} rounds"
        if min(row.rounds, row.moved, row.unassigned, row.balance_gap or 0) < 0:
            yield f"{_outcome(row)}: negative"
        if row.rounds == 0 and row.downtime_partition_ms and row.error is None:
            yield f"{_outcome(row)}: down without a round"
        if row.assignor.startswith("optimal/") and (row.balance_gap or row.unassigned):
            yield f"{_outcome(row)}: the best is not"


def outcomes_add_up(tables: Tables) -> Iterator[str]:
    by_key: dict[tuple[str, int, str], list[OutcomeRow]] = {}
    for row in tables.outcomes:
        by_key.setdefault((row.group, row.life, row.assignor), []).append(row)
    groups = {(row.group, row.life): row for row in tables.groups}
    for key, listed in by_key.items():
        *single, total = listed
        if total.generation is not None or any(row.generation is None for row in single):
            yield f"{key}: no row sums up"
            continue
        for column in ("rounds", "moved", "actual_rounds", "actual_moved"):
            if getattr(total, column) != sum(getattr(row, column) for row in single):
                yield f"{key}: {column} does not add up"
        group = groups[key[:2]]
        # A group that was empty for a while was not down then: nothing known is 0 there.
        if (total.actual_downtime_partition_ms or 0) != (group.downtime_partition_ms or 0):
            yield (
                f"{key}: down for {total.actual_downtime_partition_ms}, "
                f"in the group {group.downtime_partition_ms}"
            )
        if total.actual_moved != group.moved:
            yield f"{key}: {total.actual_moved} moved, in the group {group.moved}"


def _outcome(row: OutcomeRow) -> str:
    return f"{row.group} life {row.life} generation {row.generation} under {row.assignor}"
