"""Who owns what, from when to when: by the intervals, the generations and the findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from assignors.ownership.changes import pairs
from assignors.replay.tables.rows import AssignmentRow, Tables
from tests.replay.laws.rows import FOR_EVER, Key, Place, by_place, end_of, members_of

TOO_EARLY = "given-too-early"


def intervals_end_after_they_begin(tables: Tables) -> Iterator[str]:
    lives = {(row.group, row.life): row for row in tables.groups}
    for row in tables.assignments:
        place = f"{row.group} {row.life} {row.topic}-{row.partition} of {row.member_id}"
        life = lives[row.group, row.life]
        if row.to_ms is not None and row.to_ms < row.from_ms:
            yield f"{place} ends before it begins"
        # 0 is before the first on record, and nonsense has numbers below it.
        if 0 < row.from_generation > end_of(row.to_generation):
            yield f"{place} ends in an earlier generation"
        if len({row.to_ms is None, row.to_generation is None, row.ended_by is None}) > 1:
            yield f"{place}: ended by {row.ended_by} in {row.to_generation} at {row.to_ms}"
        if row.from_ms < life.from_ms or end_of(row.to_ms) > end_of(life.to_ms):
            yield f"{place} does not fit into its life"


def a_member_owns_a_partition_once_at_a_time(tables: Tables) -> Iterator[str]:
    for key, listed in by_place(tables).items():
        for member_id in {row.member_id for row in listed}:
            for one, after in pairwise(row for row in listed if row.member_id == member_id):
                if end_of(one.to_ms) > after.from_ms:
                    yield f"{key}: twice by {member_id}"


def what_moved_has_a_next_owner_at_once(tables: Tables) -> Iterator[str]:
    for key, listed in by_place(tables).items():
        begins = {row.from_ms for row in listed}
        for row in listed:
            if row.ended_by == "moved" and row.to_ms not in begins:
                yield f"{key}: moved at {row.to_ms}, and it has no next owner"
            if row.ended_by == "withheld" and row.to_ms in begins:
                yield f"{key}: withheld at {row.to_ms}, and it has a next owner"


def two_owners_are_a_finding_and_nothing_else_is(tables: Tables) -> Iterator[str]:
    """The one finding of a life has the partitions, the first time and the last."""
    expected: dict[Key, dict[str, set[int]]] = {}
    spans: dict[Key, list[tuple[int, int]]] = {}
    for (group, life, topic, number), listed in _unshared(tables):
        doubles = _doubles(listed)
        if doubles:
            expected.setdefault((group, life), {}).setdefault(topic, set()).add(number)
            spans.setdefault((group, life), []).extend(doubles)
        for row in listed:
            begin, end = row.from_ms, end_of(row.to_ms)
            if row.is_double != any(start < end and begin < stop for start, stop in doubles):
                yield f"{topic}-{number}: is_double of {row.member_id} at {row.from_ms}"
    for found in tables.findings:
        if found.kind != "double-ownership":
            continue
        key = (found.group, found.life)
        places = {topic: set(numbers) for topic, numbers in found.partitions.items()}
        if places != expected.pop(key, {}):
            yield f"{key}: {found.partitions} are found, and not by the assignments"
        met = spans.get(key, [(0, 0)])
        begin, end = min(met)[0], max(end for _, end in met)
        if (found.at_ms, end_of(found.until_ms)) != (begin, end):
            yield f"{key}: found from {found.at_ms} to {found.until_ms}, not {begin} to {end}"
    yield from (f"{key}: {places} by the assignments alone" for key, places in expected.items())


def what_is_double_owned_is_measured_by_its_findings(tables: Tables) -> Iterator[str]:
    closed: dict[Key, int] = {}
    lasting: dict[Key, None] = {}
    too_early = {(one.group, one.life) for one in tables.findings if one.kind == TOO_EARLY}
    for place, listed in _unshared(tables):
        spans = _met(listed)
        over = _union([span for span in spans if span[1] < FOR_EVER])
        if over:
            closed[place[:2]] = closed.get(place[:2], 0) + sum(end - start for start, end in over)
        if any(end == FOR_EVER for _, end in spans):
            lasting[place[:2]] = None
    for row in tables.groups:
        key = (row.group, row.life)
        is_unknown = key in lasting or key in too_early
        expected = closed.get(key, None if is_unknown else 0)
        if row.double_owned_ms != expected:
            yield f"{key}: double-owned for {row.double_owned_ms}, by the intervals {expected}"


def what_members_are_assigned_is_what_they_own(tables: Tables) -> Iterator[str]:
    """What the members of a classic generation are assigned is what the intervals say they own."""
    held: dict[Key, list[AssignmentRow]] = {}
    for row in tables.assignments:
        held.setdefault((row.group, row.life), []).append(row)
    members = members_of(tables)
    for one in tables.generations:
        if one.kind != "classic":
            continue
        assigned = {
            (member.member_id, *place)
            for member in members.get((one.group, one.life, one.generation), ())
            for place in pairs(member.assigned)
        }
        owned = {
            (row.member_id, row.topic, row.partition)
            for row in held.get((one.group, one.life), ())
            if row.from_generation <= one.generation <= _last_of(row)
        }
        if assigned != owned:
            odd = sorted(assigned ^ owned)[:2]
            yield f"{one.group} {one.life} {one.generation}: {odd} in one alone"


def _unshared(tables: Tables) -> Iterator[tuple[Place, list[AssignmentRow]]]:
    """The intervals of each partition that one member at a time should own."""
    shared = {(row.group, row.life) for row in tables.groups if row.kind == "share"}
    yield from (
        (place, rows) for place, rows in by_place(tables).items() if place[:2] not in shared
    )


def _last_of(row: AssignmentRow) -> int:
    """The last generation in which the member owned it; the end of a life ends none."""
    if row.to_generation is None:
        return FOR_EVER
    return row.to_generation - (row.ended_by not in {"group-ended", "converted"})


def _doubles(listed: Sequence[AssignmentRow]) -> list[tuple[int, int]]:
    """When two or more members owned it."""
    return _union(_met(listed))


def _met(listed: Sequence[AssignmentRow]) -> list[tuple[int, int]]:
    """When each two of the intervals overlap: any two rows, moment by moment."""
    met = [
        (max(one.from_ms, other.from_ms), min(end_of(one.to_ms), end_of(other.to_ms)))
        for position, one in enumerate(listed)
        for other in listed[:position]
    ]
    return [(start, end) for start, end in met if start < end]


def _union(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same time without overlaps."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found
