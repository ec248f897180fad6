"""What is counted of groups and generations adds up, and could have been."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby, pairwise

from assignors.ownership.changes import pairs
from assignors.replay.history.model import partition_count
from assignors.replay.tables.rows import GenerationRow, Tables
from tests.replay.laws.rows import (
    added,
    added_if_most_are_known,
    end_of,
    members_of,
    with_generations,
)

SEVERITIES = ["critical", "high", "medium", "low", "note"]


def lives_follow_on_each_other(tables: Tables) -> Iterator[str]:
    for group, listed in groupby(tables.groups, key=lambda row: row.group):
        lives = list(listed)
        if [row.life for row in lives] != [*range(1, len(lives) + 1)]:
            yield f"{group}: lives {[row.life for row in lives]}"
        for row in lives:
            if row.to_ms is not None and row.to_ms < row.from_ms:
                yield f"{group} life {row.life} ends before it begins"
        for one, after in pairwise(lives):
            if one.to_ms is None or one.to_ms > after.from_ms:
                yield f"{group} life {after.life} begins before the one before it ends"


def totals_of_groups_are_sums_of_generations(tables: Tables) -> Iterator[str]:
    for key, row, listed in with_generations(tables):
        expected = {
            "generation_count": len(listed),
            "generations_missing": sum(g.missing_before for g in listed),
            "moved": sum(g.moved for g in listed),
            "member_count_max": max((g.member_count for g in listed), default=0),
            "downtime_partition_ms": added_if_most_are_known(
                g.downtime_partition_ms for g in listed if g.member_count
            ),
            "member_count": listed[-1].member_count if listed and row.to_ms is None else 0,
        }
        for column, value in expected.items():
            if getattr(row, column) != value:
                yield f"{key}: {column} is {getattr(row, column)}, not {value}"
        at_most = added(map(_unassigned_ms, listed))
        is_written_again = any(note.startswith("written again") for g in listed for note in g.notes)
        found = row.unassigned_partition_ms
        # A static member that comes back may subscribe to a topic later than the generation began.
        is_less = is_written_again and found is not None and found <= (at_most or 0)
        if found != at_most and not is_less:
            yield f"{key}: unassigned for {found}, not {at_most}"


def every_commit_is_counted_once(tables: Tables) -> Iterator[str]:
    counted = Counter[str]()
    for row in tables.groups:
        counted[row.group] += row.commit_count
        counted[f"{row.group} tombstones"] += row.tombstone_count
    listed = Counter[str]()
    for commit in tables.offsets:
        if commit.offset is None:
            listed[f"{commit.group} tombstones"] += 1
        elif not commit.is_aborted:
            listed[commit.group] += 1
    known = {row.group for row in tables.groups}
    for name in counted | listed:
        if name.removesuffix(" tombstones") in known and counted[name] != listed[name]:
            yield f"{name}: {counted[name]} counted, {listed[name]} in the offsets"


def generations_take_turns(tables: Tables) -> Iterator[str]:
    for key, row, listed in with_generations(tables):
        for one in listed:
            if one.until_ms is not None and one.until_ms < one.at_ms:
                yield f"{key} {one.generation} ends before it begins"
        for one, after in pairwise(listed):
            if one.until_ms != after.at_ms or one.generation >= after.generation:
                yield f"{key}: {one.generation} and {after.generation} do not follow"
            if after.missing_before > after.generation - one.generation - 1:
                yield f"{key} {after.generation}: too many are missing"
        if listed and listed[-1].until_ms != row.to_ms:
            yield f"{key}: the last generation does not end with the life"


def whoever_is_there_stayed_or_joined(tables: Tables) -> Iterator[str]:
    members = members_of(tables)
    for key, _, listed in with_generations(tables):
        before: set[str] = set()
        for one in listed:
            now = {member.member_id for member in members.get((*key, one.generation), ())}
            if now != (before - set(one.left)) | set(one.joined) or set(one.left) - before:
                yield f"{key} {one.generation}: the members are not those that stayed and joined"
            if set(one.joined) & before:
                yield f"{key} {one.generation}: joined twice"
            new = {m.member_id for m in members.get((*key, one.generation), ()) if m.is_new}
            if new != set(one.joined) or one.member_count != len(now):
                yield f"{key} {one.generation}: the members table says otherwise"
            before = now


def figures_of_a_generation_fit_its_members(tables: Tables) -> Iterator[str]:
    members = members_of(tables)
    for one in tables.generations:
        key = (one.group, one.life, one.generation)
        plans = [m.assigned if m.target is None else m.target for m in members.get(key, ())]
        loads = [partition_count(plan) for plan in plans]
        given = {place for plan in plans for place in pairs(plan)}
        twice = [place for place in given if sum(place in pairs(plan) for plan in plans) > 1]
        expected = {
            "partition_count": len(given),
            "load_min": min(loads, default=0),
            "load_max": max(loads, default=0),
            "double": 0 if one.kind == "share" else len(twice),
        }
        for column, value in expected.items():
            if getattr(one, column) != value:
                yield f"{key}: {column} is {getattr(one, column)}, not {value}"
        for member in members.get(key, ()):
            if member.assigned_count != partition_count(member.assigned):
                yield f"{key} {member.member_id}: assigned_count"


def moves_and_gaps_are_possible(tables: Tables) -> Iterator[str]:
    for key, _, listed in with_generations(tables):
        had = 0
        for one in listed:
            if not 0 <= one.moved <= had or not 0 <= (one.moved_minimum or 0) <= had:
                yield f"{key} {one.generation}: {one.moved} moved of {had}"
            if not 0 <= one.lost <= had:
                yield f"{key} {one.generation}: {one.lost} lost of {had}"
            if one.balance_gap is not None and one.balance_gap < 0:
                yield f"{key} {one.generation}: better than the best"
            if one.balance_gap is not None and one.unassigned:
                yield f"{key} {one.generation}: a gap, though some have nobody"
            if one.balance_gap == 0 and one.moved < (one.moved_minimum or 0):
                yield f"{key} {one.generation}: balanced with fewer moves than the fewest"
            if one.pause_ms is not None and one.pause_ms < 0:
                yield f"{key} {one.generation}: a pause of {one.pause_ms} ms"
            at_most = (one.pause_ms or 0) * (one.partition_count + had)
            if not 0 <= (one.downtime_partition_ms or 0) <= at_most:
                yield f"{key} {one.generation}: down for {one.downtime_partition_ms}"
            had = one.partition_count


def findings_fall_into_their_lives(tables: Tables) -> Iterator[str]:
    lives = {(row.group, row.life): row for row in tables.groups}
    generations = {(r.group, r.life, r.generation): r for r in tables.generations}
    seen = {(row.group, row.life, row.member_id) for row in tables.members}
    for row in tables.findings:
        where = f"{row.group} life {row.life} {row.kind} at {row.at_ms}"
        if row.until_ms is not None and row.until_ms < row.at_ms:
            yield f"{where} ends before it begins"
        if row.count < 1 or row.occurrences < max(len(row.generations), 1):
            yield f"{where} counts {row.count}, occurs {row.occurrences} times"
        if not row.at_ms <= (row.last_ms or 0) <= end_of(row.until_ms):
            yield f"{where}: the last one began at {row.last_ms}"
        life = lives.get((row.group, row.life))
        if not row.generation or life is None:  # 0: before the first on record
            continue
        if row.at_ms < life.from_ms or end_of(row.until_ms) > end_of(life.to_ms):
            yield f"{where} does not fit into its life"
        if (row.group, row.life, row.generation) not in generations:
            yield f"{where}: no generation {row.generation}"
        for member_id in {*row.members, *([row.member_id] if row.member_id else [])}:
            if (row.group, row.life, member_id) not in seen:
                yield f"{where}: no member {member_id}"


def findings_are_counted_with_their_group(tables: Tables) -> Iterator[str]:
    counted = Counter((row.group, row.life) for row in tables.findings)
    by_severity = sorted(tables.findings, key=lambda row: -SEVERITIES.index(row.severity))
    worst = {(row.group, row.life): row.severity for row in by_severity}
    for row in tables.groups:
        if row.finding_count != counted[row.group, row.life]:
            yield f"{row.group} life {row.life}: {row.finding_count} findings"
        if row.severity != worst.get((row.group, row.life)):
            yield f"{row.group} life {row.life}: {row.severity} is not its worst finding"


def _unassigned_ms(row: GenerationRow) -> int | None:
    if not row.unassigned:
        return 0
    return None if row.until_ms is None else row.unassigned * (row.until_ms - row.at_ms)
