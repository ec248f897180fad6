"""Tables of invented groups, for the tests of the report.

`one_group` writes the rows of one life by hand; `all_renamed` puts any text in the place of every
name that a client or a cluster can choose.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TypeVar

from assignors.replay.tables.rows import (
    AssignmentRow,
    FindingRow,
    GenerationRow,
    GroupRow,
    MemberRow,
    OffsetRow,
    OutcomeRow,
    Row,
    Tables,
)

BEGIN_MS = 1_795_220_373_000

HOSTILE = (
    '</script><img src=x onerror="window.hacked=1">',
    "</title></style><script>window.hacked=1</script>",
    "\"'><svg onload=window.hacked=1>",
    "javascript:window.hacked=1//&lt;b&gt;&#x27;&quot;",
    "]]><!--<script>window.hacked=1</script>-->",
    "\u202eevil\x00\x1b[2J\ud800\u2028\r\n\t",
    "{{7*7}}${7*7}`+window.hacked+`",
)
"""Names that attack pages with faulty escaping."""


def one_group(group: str = "orders", *, number: int = 1, generation_count: int = 4) -> Tables:
    """A classic group of two members that swap a partition in every generation but the first."""
    generations = range(1, generation_count + 1)
    members = ("member-a", "member-b")
    at = {generation: BEGIN_MS + 10_000 * generation for generation in [*generations, 0]}
    end_ms = BEGIN_MS + 10_000 * (generation_count + 1)
    held = [
        AssignmentRow(
            group=group,
            life=number,
            kind="classic",
            topic="clicks",
            partition=partition,
            member_id=members[(partition + generation) % 2],
            client_id=f"client-{'ab'[(partition + generation) % 2]}",
            host="/10.0.0.1",
            from_ms=at[generation],
            to_ms=None if generation == generation_count else at[generation + 1],
            from_generation=generation,
            to_generation=None if generation == generation_count else generation + 1,
            ended_by=None if generation == generation_count else "moved",
            is_double=partition == 1 and generation == 2,
            is_certain=generation != 3,
        )
        for generation in generations
        for partition in range(2)
    ]
    return Tables(
        groups=(
            GroupRow(
                group=group,
                life=number,
                kind="classic",
                from_ms=BEGIN_MS,
                to_ms=end_ms,
                state="Stable",
                protocol="range",
                member_count=2,
                member_count_max=2,
                generation_count=generation_count,
                generations_missing=1,
                moved=2 * (generation_count - 1),
                commit_count=1,
                tombstone_count=0,
                finding_count=2,
                double_owned_ms=1_500,
                unassigned_partition_ms=800,
                downtime_partition_ms=2_500,
            ),
        ),
        offsets=(
            OffsetRow(group=group, topic="clicks", partition=0, metadata="m", at_ms=BEGIN_MS),
        ),
        generations=tuple(_generation(group, number, one, at[one]) for one in generations),
        members=tuple(
            _member(group, number, one, at[one], member_id)
            for one in generations
            for member_id in members
        ),
        assignments=tuple(held),
        findings=(
            _finding(group, number, "double-ownership", at[1]),
            _finding(group, number, "rebalance-loop", at[generation_count]),
        ),
        outcomes=tuple(
            _outcome(group, number, assignor, generation)
            for assignor in ("optimal/sticky", "server/uniform")
            for generation in (*generations, None)
        ),
    )


def _generation(group: str, number: int, generation: int, at_ms: int) -> GenerationRow:
    is_first = generation == 1
    return GenerationRow(
        group=group,
        life=number,
        kind="classic",
        generation=generation,
        at_ms=at_ms,
        until_ms=at_ms + 10_000,
        state="Stable",
        protocol_type="consumer",
        protocol="range",
        leader_id="member-a",
        leader_client_id="client-a",
        leader_guess="java",
        member_count=2,
        partition_count=2,
        joined=("member-a", "member-b") if is_first else (),
        left=(),
        moved=0 if is_first else 2,
        moved_minimum=0 if is_first else 1,
        lost=0,
        load_min=0 if is_first else 1,
        load_max=2 if is_first else 1,
        load_max_optimum=1,
        balance_gap=0,
        unassigned=0,
        double=0,
        missing_before=1 if generation == 3 else 0,
        counts_inferred=True,
        pause_ms=500,
        downtime_partition_ms=1_000,
        notes=("a note",),
        record_partition=0,
        record_offset=generation,
    )


def _member(group: str, number: int, generation: int, at_ms: int, member_id: str) -> MemberRow:
    return MemberRow(
        group=group,
        life=number,
        kind="classic",
        generation=generation,
        at_ms=at_ms,
        member_id=member_id,
        instance_id="instance",
        client_id=member_id.replace("member", "client"),
        host="/10.0.0.1",
        rack_id="rack",
        is_leader=member_id == "member-a",
        is_new=generation == 1,
        rebalance_timeout_ms=30_000,
        session_timeout_ms=6_000,
        topics=("clicks",),
        subscription_version=1,
        claims_known=True,
        assigned={"clicks": (0,)},
        assigned_count=1,
        notes=("odd",),
    )


def _finding(group: str, number: int, kind: str, at_ms: int) -> FindingRow:
    return FindingRow(
        group=group,
        life=number,
        kind=kind,
        generation=2,
        at_ms=at_ms,
        until_ms=at_ms + 1_500,
        member_id="member-a",
        client_id="client-a",
        topic="clicks",
        partition=1,
        count=2,
        evidence=f"evidence of {kind}",
    )


def _outcome(group: str, number: int, assignor: str, generation: int | None) -> OutcomeRow:
    many = 11 if assignor == "optimal/sticky" else 13
    return OutcomeRow(
        group=group,
        life=number,
        assignor=assignor,
        generation=generation,
        at_ms=BEGIN_MS,
        member_count=2,
        partition_count=2,
        rounds=many + 1,
        moved=many,
        load_min=1,
        load_max=2,
        balance_gap=0,
        unassigned=0,
        downtime_partition_ms=many * 1_000,
        actual_rounds=31,
        actual_moved=37,
        actual_load_min=0,
        actual_load_max=2,
        actual_balance_gap=2,
        actual_unassigned=1,
        actual_downtime_partition_ms=41_000,
        counts_inferred=True,
    )


AnyRow = TypeVar("AnyRow", bound=Row)


def renamed(row: AnyRow, name: str) -> AnyRow:
    """Return the row with `name` in place of every text that clients or clusters choose."""
    chosen = {
        *("group", "topic", "client_id", "host", "instance_id", "rack_id", "protocol"),
        *("leader_client_id", "leader_guess", "state", "evidence", "metadata"),
    }
    changed: dict[str, object] = {
        field.name: name
        for field in fields(row)
        if field.name in chosen and getattr(row, field.name) is not None
    }
    if isinstance(row, MemberRow):
        changed |= {"topics": (name,), "notes": (name,)}
    if isinstance(row, GenerationRow):
        changed |= {"notes": (name,)}
    # Ids that differ must stay different, or two members would become one.
    if isinstance(row, MemberRow | AssignmentRow):
        changed |= {"member_id": row.member_id[-1] + name}
    if isinstance(row, OutcomeRow):
        changed |= {"assignor": row.assignor[0] + name}
    return replace(row, **changed)  # type: ignore[arg-type]  # names of the row's own columns


def all_renamed(tables: Tables, name: str) -> Tables:
    """Return the tables with `name` in place of every text that clients or clusters choose."""
    return Tables(
        **{
            field.name: tuple(renamed(row, name) for row in getattr(tables, field.name))
            for field in fields(Tables)
        }
    )


def joined(*parts: Tables) -> Tables:
    """Return the tables of several groups as one."""
    return Tables(
        **{
            field.name: tuple(row for part in parts for row in getattr(part, field.name))
            for field in fields(Tables)
        }
    )
