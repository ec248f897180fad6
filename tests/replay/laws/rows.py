"""The rows of tables by life, by generation, by partition: how the laws look at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from assignors.replay.tables.rows import AssignmentRow, GenerationRow, GroupRow, MemberRow, Tables

Key = tuple[str, int]
"""Group and life."""

Place = tuple[str, int, str, int]
"""Group, life, topic and partition."""

FOR_EVER = 2**63


def with_generations(tables: Tables) -> Iterator[tuple[Key, GroupRow, list[GenerationRow]]]:
    by_life: dict[Key, list[GenerationRow]] = {}
    for row in tables.generations:
        by_life.setdefault((row.group, row.life), []).append(row)
    for group in tables.groups:
        key = (group.group, group.life)
        yield key, group, by_life.get(key, [])


def members_of(tables: Tables) -> dict[tuple[str, int, int], list[MemberRow]]:
    found: dict[tuple[str, int, int], list[MemberRow]] = {}
    for row in tables.members:
        found.setdefault((row.group, row.life, row.generation), []).append(row)
    return found


def by_place(tables: Tables) -> dict[Place, list[AssignmentRow]]:
    """The intervals of each partition in each life, by begin."""
    found: dict[Place, list[AssignmentRow]] = {}
    for row in sorted(tables.assignments, key=lambda row: row.from_ms):
        found.setdefault((row.group, row.life, row.topic, row.partition), []).append(row)
    return found


def end_of(at_ms: int | None) -> int:
    return FOR_EVER if at_ms is None else at_ms


def added_if_most_are_known(values: Iterable[int | None]) -> int | None:
    listed = list(values)
    return None if listed.count(None) * 2 > len(listed) else added(listed)


def added(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
