"""A run as one life of a group: the rows from which replay's charts and tables are made.

A generation stands for each rebalance, with what was consumed when the next one began; an interval
is one of the ledger. Times are milliseconds since the run began.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assignors.ownership.changes import TopicPartition, pairs
from assignors.ownership.double import overlaps
from assignors.ownership.intervals import FOREVER, Ownership, ownerships
from assignors.replay.findings.table import Severity
from assignors.replay.report.chart import chart
from assignors.replay.report.formats import clock, count, duration, partition_seconds
from assignors.replay.report.group_details import LifeDetails, places_in_chart
from assignors.replay.report.member_styles import member_styles
from assignors.replay.report.table_view import Column, Form, Link, TableView, table_view
from assignors.replay.report.view_model import SIMULATED, LifeView, Limits
from assignors.replay.tables.rows import AssignmentRow, FindingRow, GenerationRow, GroupRow
from assignors.simulation.timed.costs.meter import Rebalance
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import Action, Scenario
from assignors.simulation.timed.simulation import Played


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """What was consumed when a rebalance had settled: just before the next one began."""

    rebalance: Rebalance
    loads: Mapping[str, int]
    """Partitions of each member that consumed some."""
    last: Mapping[TopicPartition, str]
    """Who consumed each partition last."""


def run_details(scenario: Scenario, played: Played, limits: Limits, *, anchor: str) -> LifeDetails:
    """Return a run's chart and tables; `anchor` is unique among those of a page.

    Cost: linear in its intervals; O(P) a rebalance.
    """
    life = life_of(scenario, played)
    drawn = chart(life, limits, member_styles(life), anchor=anchor)
    result = played.result
    without = partition_seconds(round(result.unavailable_partition_ms))
    facts = [
        count(result.rounds, "rebalance"),
        count(result.moves, "move"),
        f"without a consumer: {without} partition-seconds",
        f"longest gap {duration(round(result.longest_gap_ms))}",
        "settled" if result.is_settled else "not settled at the end",
    ]
    if scenario.count_from_ms:
        facts.append(f"counted from {clock(scenario.count_from_ms)} on")
    if result.stopped_by is not None:
        facts.append(f"stopped by {result.stopped_by}")
    return LifeDetails(
        heading=f"Seed {scenario.seed}",
        facts=" · ".join(facts),
        chart=drawn,
        findings=_findings(life, limits, places_in_chart(drawn), anchor),
        words=life.words,
        comparison=None,
        comparison_by_generation=None,
        has_inferred_counts=False,
        tables=[*_plan(scenario.plan, limits), *_rebalances(life, limits)],
    )


def life_of(scenario: Scenario, played: Played) -> LifeView:
    """Return the rows of a run that kept its history. Cost: as `run_details`."""
    intervals = ownerships(played.changes)
    generations = list(_generations(scenario, played))
    end_ms = scenario.until_ms
    row = GroupRow(
        group=scenario.name,
        life=1,
        kind=scenario.protocol.value,
        from_ms=0,
        to_ms=end_ms,
        state="Stable" if played.result.is_settled else "not settled",
        protocol=None,
        member_count=generations[-1].member_count if generations else 0,
        member_count_max=max((each.member_count for each in generations), default=0),
        generation_count=len(generations),
        generations_missing=0,
        moved=played.result.moves,
        commit_count=0,
        tombstone_count=0,
        finding_count=played.result.violations,
        double_owned_ms=round(played.result.double_partition_ms),
        unassigned_partition_ms=round(played.result.unavailable_partition_ms),
        downtime_partition_ms=None,
    )
    return LifeView(
        row=row,
        generations=generations,
        assignments=_assignments(row, intervals, played.rebalances),
        findings=_violations(row, played),
        end_ms=end_ms,
        words=SIMULATED,
    )


def _moments(played: Played) -> Iterator[_Moment]:
    """Yield what was consumed between one rebalance and the next. Cost: O(P) each.

    A member that stops everything between two rebalances counts as gone with the second one, for
    which it is the reason. One that stops for a rebalance does so after its begin.
    """
    changes = sorted(played.changes, key=lambda change: change.at)
    place = 0
    consumed: dict[str, dict[TopicPartition, None]] = {}
    last: dict[TopicPartition, str] = {}
    gone: set[str] = set()
    begins = [each.began for each in played.rebalances[1:]]
    for rebalance, until in zip(played.rebalances, [*begins, FOREVER], strict=True):
        for name in gone:
            consumed[name] = {}
        gone.clear()
        while place < len(changes) and changes[place].at <= until:
            change = changes[place]
            place += 1
            if not change.owned and change.at > rebalance.ended:
                gone.add(change.member_id)
                continue
            gone.discard(change.member_id)
            consumed[change.member_id] = pairs(change.owned)
            last.update(dict.fromkeys(consumed[change.member_id], change.member_id))
        loads = {name: len(owned) for name, owned in consumed.items() if owned}
        yield _Moment(rebalance=rebalance, loads=loads, last=dict(last))


def _generations(scenario: Scenario, played: Played) -> Iterator[GenerationRow]:
    before = _Moment(rebalance=Rebalance(0, 0, 0), loads={}, last={})
    is_equal = len({frozenset(each.topics) for each in scenario.members}) == 1
    ends = [each.ended for each in played.rebalances[1:]]
    for moment, until in zip(_moments(played), [*ends, None], strict=True):
        loads = list(moment.loads.values())
        owned = sum(loads)
        rebalance = moment.rebalance
        yield GenerationRow(
            group=scenario.name,
            life=1,
            kind=scenario.protocol.value,
            generation=rebalance.generation,
            at_ms=rebalance.ended // MILLISECOND,
            until_ms=None if until is None else until // MILLISECOND,
            state="Stable",
            protocol_type=None,
            protocol=None,
            leader_id=None,
            leader_client_id=None,
            leader_guess=None,
            member_count=len(loads),
            partition_count=owned,
            joined=tuple(moment.loads.keys() - before.loads.keys()),
            left=tuple(before.loads.keys() - moment.loads.keys()),
            moved=sum(moment.last[one] != name for one, name in before.last.items()),
            moved_minimum=None,
            lost=0,
            load_min=min(loads, default=0),
            load_max=max(loads, default=0),
            load_max_optimum=-(-owned // len(loads)) if loads and is_equal else None,
            balance_gap=None,
            unassigned=0,
            double=0,
            missing_before=0,
            counts_inferred=False,
            pause_ms=max((rebalance.ended - rebalance.began) // MILLISECOND, 1),
            downtime_partition_ms=None,
            notes=(),
            record_partition=None,
            record_offset=None,
        )
        before = moment


def _assignments(
    row: GroupRow, intervals: Sequence[Ownership], rebalances: Sequence[Rebalance]
) -> list[AssignmentRow]:
    """Return the intervals of the ledger as the charts take them."""
    double = {id(one) for met in overlaps(intervals) for one in (met.first, met.second)}
    ends = [each.ended for each in rebalances]
    numbers = [0, *(each.generation for each in rebalances)]
    return [
        AssignmentRow(
            group=row.group,
            life=row.life,
            kind=row.kind,
            topic=one.topic,
            partition=one.partition,
            member_id=one.member_id,
            client_id=one.member_id,
            host="",
            from_ms=one.start // MILLISECOND,
            to_ms=None if one.end is None else one.end // MILLISECOND,
            from_generation=numbers[bisect_right(ends, one.start)],
            to_generation=None if one.end is None else numbers[bisect_right(ends, one.end)],
            ended_by=one.ended_by,
            is_double=id(one) in double,
            is_certain=True,
        )
        for one in intervals
    ]


def _violations(row: GroupRow, played: Played) -> list[FindingRow]:
    return [
        FindingRow(
            group=row.group,
            life=row.life,
            kind=each.monitor,
            generation=None,
            at_ms=each.at_us // MILLISECOND,
            until_ms=None,
            member_id=None,
            client_id=None,
            topic=None,
            partition=None,
            count=1,
            evidence=each.text,
            severity=Severity.CRITICAL.value,
        )
        for each in played.violations
    ]


def _findings(
    life: LifeView, limits: Limits, places: Mapping[int, str], anchor: str
) -> TableView | None:
    columns: list[Column[tuple[int, FindingRow]]] = [
        Column(
            "time",
            lambda pair: Link(clock(pair[1].at_ms), places.get(pair[0])),
            Form.LINK,
        ),
        Column("violation", lambda pair: pair[1].kind),
        Column("what", lambda pair: pair[1].evidence, Form.PROSE),
    ]
    if not life.findings:
        return None
    missing = len(life.findings) - limits.findings
    return table_view(
        columns,
        enumerate(life.findings[: limits.findings]),
        caption=count(len(life.findings), "violation"),
        omitted=f"{count(missing, 'more violation')} not shown." if missing > 0 else None,
        anchor=anchor,
    )


def _plan(plan: Sequence[Action], limits: Limits) -> Iterator[TableView]:
    columns: list[Column[Action]] = [
        Column("time", lambda action: clock(action.at_ms)),
        Column("action", lambda action: action.do.value),
        Column("member", lambda action: action.member, Form.NAME),
        Column("topic", lambda action: action.topic or ", ".join(action.topics), Form.NAME),
        Column("partitions", lambda action: action.partitions or None, Form.NUMBER),
    ]
    if plan:
        missing = len(plan) - limits.intervals
        yield table_view(
            columns,
            plan[: limits.intervals],
            caption="Plan",
            heading=f"Plan ({len(plan):,})",
            omitted=f"{count(missing, 'more action')} not shown." if missing > 0 else None,
        )


def _rebalances(life: LifeView, limits: Limits) -> Iterator[TableView]:
    columns: list[Column[GenerationRow]] = [
        Column("generation", lambda row: row.generation, Form.NUMBER),
        Column("end", lambda row: clock(row.at_ms)),
        Column("duration", lambda row: duration(row.pause_ms)),
        Column("members that consume", lambda row: row.member_count, Form.NUMBER),
        Column("began to consume", lambda row: len(row.joined), Form.NUMBER),
        Column("stopped", lambda row: len(row.left), Form.NUMBER),
        Column("moves", lambda row: row.moved, Form.NUMBER),
        Column("smallest load", lambda row: row.load_min, Form.NUMBER),
        Column("largest load", lambda row: row.load_max, Form.NUMBER),
    ]
    if life.generations:
        missing = len(life.generations) - limits.generations
        yield table_view(
            columns,
            life.generations[-limits.generations :],
            caption="Rebalances",
            heading=f"Rebalances ({len(life.generations):,})",
            omitted=f"The first {missing:,} rebalances are not shown." if missing > 0 else None,
        )
