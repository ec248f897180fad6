"""Loads that could be more even, and moves that were not necessary.

Both are measured against the optimum that `optimal/sticky` computes for the same members. A
generation in which partitions are withheld is not judged: its loads are not final.
"""

from __future__ import annotations

from collections.abc import Iterator

from assignors.replay.analysis.figures import intended
from assignors.replay.analysis.group_analysis import GenerationAnalysis, LifeAnalysis
from assignors.replay.findings.finding import Finding, Thresholds, amount, is_transient, runs, span
from assignors.replay.history.model import partition_count
from assignors.replay.tables.rows import AnomalyKind


def unfair_loads(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield members with less, or more, than a best assignment gives to members like them."""

    def unfair(analysed: GenerationAnalysis) -> Iterator[tuple[str, AnomalyKind]]:
        if _gap(analysed) < thresholds.balance_gap:
            return
        for member in analysed.generation.members:
            bounds = analysed.figures.fair.get(member.member_id)
            load = partition_count(intended(member))
            if bounds is not None and not bounds[0] <= load <= bounds[1]:
                is_less = load < bounds[0]
                kind = AnomalyKind.STARVED if is_less else AnomalyKind.OVERLOADED
                yield member.member_id, kind

    load = {
        (analysed.generation.number, member.member_id): partition_count(intended(member))
        for analysed in analysis.generations
        if _gap(analysed) >= thresholds.balance_gap
        for member in analysed.generation.members
    }
    for (member_id, kind), run in runs(analysis.generations, unfair):
        if is_transient(analysis, run, thresholds):
            continue
        loads = [load[analysed.generation.number, member_id] for analysed in run]
        least, most = run[0].figures.fair[member_id]
        fair = str(least) if least == most else f"{least} to {most}"
        extreme = min(loads) if kind is AnomalyKind.STARVED else max(loads)
        yield Finding(
            kind=kind,
            generation=run[0].generation.number,
            at_ms=run[0].generation.at_ms,
            until_ms=run[-1].generation.until_ms,
            member_id=member_id,
            count=extreme,
            evidence=f"{amount(extreme, 'partition')} in {span(run)}, where {fair} would be even",
        )


def imbalances(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield runs of generations whose loads were less even than possible."""

    def uneven(analysed: GenerationAnalysis) -> list[str]:
        return ["uneven"] if _gap(analysed) >= thresholds.balance_gap else []

    for _, run in runs(analysis.generations, uneven):
        if is_transient(analysis, run, thresholds):
            continue
        worst = max(run, key=_gap)
        counted = worst.figures
        yield Finding(
            kind=AnomalyKind.IMBALANCE,
            generation=worst.generation.number,
            at_ms=run[0].generation.at_ms,
            until_ms=run[-1].generation.until_ms,
            count=_gap(worst),
            evidence=(
                f"loads from {counted.load_min} to {counted.load_max} in generation "
                f"{worst.generation.number}, best possible maximum load "
                f"{counted.load_max_optimum}; uneven in {span(run)}"
            ),
        )


def needless_moves(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield generations in which more moved than a perfectly balanced assignment needs."""
    for analysed in analysis.generations:
        counted, generation = analysed.figures, analysed.generation
        if counted.moved_minimum is None or generation.missing_before:
            continue
        needless = counted.moved - counted.moved_minimum
        if needless >= thresholds.needless_moves:
            yield Finding(
                kind=AnomalyKind.NEEDLESS_MOVES,
                generation=generation.number,
                at_ms=generation.at_ms,
                until_ms=generation.at_ms,
                count=needless,
                evidence=(
                    f"{amount(counted.moved, 'partition')} moved from members that are still in "
                    f"the group; {amount(counted.moved_minimum, 'move')} would have been enough"
                ),
            )


def _gap(analysed: GenerationAnalysis) -> int:
    return analysed.figures.balance_gap or 0
