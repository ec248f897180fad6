"""From what an assignor would have done to the rows of the outcomes table, and their sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from assignors.assignor import Assignor
from assignors.leader import Memory
from assignors.replay.analysis.figures import Figures
from assignors.replay.analysis.group_analysis import (
    GenerationAnalysis,
    GroupAnalysis,
    LifeAnalysis,
    downtime_ms,
    sum_where_most_are_known,
)
from assignors.replay.analysis.uses import uses
from assignors.replay.history.model import Generation, partition_count
from assignors.replay.tables.rows import OutcomeRow

EVERY_GROUP = "*"
"""Stands for the group in a row that sums up all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One generation under the assignor that is tried."""

    generation: Generation
    """The members with what they end up with."""
    rounds: int
    moved: int
    stopped: int
    """Partitions interrupted, all rounds together."""
    figures: Figures
    memory: Memory
    """What its leader remembers."""
    error: str | None = None
    error_kind: str | None = None


def total(rows: Iterable[OutcomeRow]) -> Iterator[OutcomeRow]:
    """Yield a row for each assignor that sums up all groups, from the rows that sum up lives."""
    by_name: dict[str, list[OutcomeRow]] = {}
    for row in rows:
        if row.generation is None:
            by_name.setdefault(row.assignor, []).append(row)
    for listed in by_name.values():
        errors = [row.error for row in listed if row.error is not None]
        error = f"{len(errors)} lives of groups, in the first {errors[0]}" if errors else None
        yield replace(summed(listed), group=EVERY_GROUP, life=0, error=error)


def outcome_row(
    analysis: GroupAnalysis,
    life_analysis: LifeAnalysis,
    assignor: Assignor,
    analysed: GenerationAnalysis,
    tried: Tried,
) -> OutcomeRow:
    """Return the row of one generation: what was tried, beside what happened."""
    generation, happened, counted = analysed.generation, analysed.figures, tried.figures
    topics = {topic for member in generation.members for topic in member.topics}
    pause_ms = generation.pause_ms
    used = uses(tried.generation, analysed.rates)
    return OutcomeRow(
        group=analysis.history.group,
        life=life_analysis.life.number,
        assignor=assignor.full_name,
        generation=generation.number,
        at_ms=generation.at_ms,
        member_count=len(generation.members),
        partition_count=counted.given_count,
        rounds=tried.rounds,
        moved=tried.moved,
        load_min=counted.load_min,
        load_max=counted.load_max,
        balance_gap=counted.balance_gap,
        unassigned=partition_count(counted.unassigned),
        downtime_partition_ms=None if pause_ms is None else pause_ms * tried.stopped,
        actual_rounds=1,
        actual_moved=happened.moved,
        actual_load_min=happened.load_min,
        actual_load_max=happened.load_max,
        actual_balance_gap=happened.balance_gap,
        actual_unassigned=partition_count(happened.unassigned),
        actual_downtime_partition_ms=downtime_ms(analysed),
        counts_inferred=bool(topics & analysis.inferred_topics),
        error=tried.error,
        error_kind=tried.error_kind,
        use_max=None if used is None else used.most,
        use_bound=None if used is None else used.bound,
        actual_use_max=None if analysed.uses is None else analysed.uses.most,
        lag=analysed.lag,
    )


def summed(rows: list[OutcomeRow]) -> OutcomeRow:
    """Return rows as one: figures added up, loads the widest, gaps the worst, uses the mean."""
    failed = [row for row in rows if row.error is not None]
    noun = "generation" if len(failed) == 1 else "generations"
    return OutcomeRow(
        group=rows[0].group,
        life=rows[0].life,
        assignor=rows[0].assignor,
        generation=None,
        at_ms=min(row.at_ms for row in rows),
        member_count=max(row.member_count for row in rows),
        partition_count=max(row.partition_count for row in rows),
        rounds=sum(row.rounds for row in rows),
        moved=sum(row.moved for row in rows),
        load_min=min(row.load_min for row in rows),
        load_max=max(row.load_max for row in rows),
        balance_gap=_worst(row.balance_gap for row in rows),
        unassigned=max(row.unassigned for row in rows),
        downtime_partition_ms=sum_where_most_are_known(row.downtime_partition_ms for row in rows),
        actual_rounds=sum(row.actual_rounds for row in rows),
        actual_moved=sum(row.actual_moved for row in rows),
        actual_load_min=min(row.actual_load_min for row in rows),
        actual_load_max=max(row.actual_load_max for row in rows),
        actual_balance_gap=_worst(row.actual_balance_gap for row in rows),
        actual_unassigned=max(row.actual_unassigned for row in rows),
        actual_downtime_partition_ms=sum_where_most_are_known(
            row.actual_downtime_partition_ms for row in rows
        ),
        counts_inferred=any(row.counts_inferred for row in rows),
        error=f"{len(failed)} {noun}: {failed[0].error}" if failed else None,
        error_kind=failed[0].error_kind if failed else None,
        use_max=_mean(row.use_max for row in rows),
        use_bound=_mean(row.use_bound for row in rows),
        actual_use_max=_mean(row.actual_use_max for row in rows),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    """Return the mean of the values that are known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _worst(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
