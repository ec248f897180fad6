"""Loads that could be more even, and moves that were not necessary.

Counts are measured against the optimum that `optimal/sticky` computes for the same members,
records a second against the bound of `weighted`. A generation in which partitions are withheld is
not judged by count: its loads are not final.
"""

from __future__ import annotations

from collections.abc import Iterator

from assignors.replay.analysis.figures import intended
from assignors.replay.analysis.group_analysis import GenerationAnalysis, LifeAnalysis
from assignors.replay.findings.finding import Finding, amount, is_transient, runs, span
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.history.model import partition_count


def imbalances(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield runs of generations whose loads were less even than possible.

    With the members that had less, or more, than a best assignment gives to members like them.
    """

    def uneven(analysed: GenerationAnalysis) -> list[str]:
        return ["uneven"] if _gap(analysed) >= thresholds.balance_gap else []

    for _, run in runs(analysis.generations, uneven):
        if is_transient(analysis, run, thresholds):
            continue
        worst = max(run, key=_gap)
        counted = worst.figures
        unfair = {member: None for analysed in run for member in _unfair(analysed)}
        least = [member for member, excess in _unfair(worst).items() if excess < 0]
        most = max(_unfair(worst).items(), key=lambda one: one[1], default=None)
        yield Finding(
            generation=worst.generation.number,
            at_ms=run[0].generation.at_ms,
            until_ms=run[-1].generation.until_ms,
            count=_gap(worst),
            member_id=None if most is None else most[0],
            members=tuple(unfair),
            evidence=(
                f"loads from {counted.load_min} to {counted.load_max} in generation "
                f"{worst.generation.number}, best possible maximum load "
                f"{counted.load_max_optimum}; {amount(len(least), 'member')} had less and "
                f"{len(_unfair(worst)) - len(least):,} had more than in any balanced assignment; "
                f"uneven in {span(run)}"
            ),
        )


def uneven_loads(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield runs of generations in which one member had far more of the records than necessary.

    Whatever the number of partitions: three of twelve can have most of the records.
    """
    factor = 1 + thresholds.uneven_load_percent / 100

    def uneven(analysed: GenerationAnalysis) -> list[str]:
        return ["uneven"] if _excess(analysed) >= factor else []

    for _, run in runs(analysis.generations, uneven):
        if is_transient(analysis, run, thresholds):
            continue
        worst = max(run, key=_excess)
        generation, found = worst.generation, worst.uses
        assert found is not None, "what is uneven has uses"
        busiest = generation.members[found.busiest]
        touched = {
            one.generation.members[one.uses.busiest].member_id: None
            for one in run
            if one.uses is not None
        }
        yield Finding(
            generation=generation.number,
            at_ms=run[0].generation.at_ms,
            until_ms=run[-1].generation.until_ms,
            count=round(100 * _excess(worst)) - 100,
            member_id=busiest.member_id,
            client_id=busiest.client_id,
            members=tuple(touched),
            partitions=intended(busiest),
            evidence=(
                f"one of {amount(len(generation.members), 'member')} had "
                f"{found.most / found.total:.0%} of the records in generation "
                f"{generation.number}, {found.most:,.1f} a second, with "
                f"{amount(partition_count(intended(busiest)), 'partition')}; no assignment has "
                f"less than {found.bound:,.1f} for its busiest member; uneven in {span(run)}"
            ),
        )


def _excess(analysed: GenerationAnalysis) -> float:
    """Return the records of the busiest member as a multiple of what is necessary; 0: not known."""
    found = analysed.uses
    return found.most / found.bound if found is not None and found.bound else 0.0


def needless_moves(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield generations in which more moved than a perfectly balanced assignment needs."""
    for analysed in analysis.generations:
        counted, generation = analysed.figures, analysed.generation
        if counted.moved_minimum is None or generation.missing_before:
            continue
        needless = counted.moved - counted.moved_minimum
        if needless >= thresholds.needless_moves:
            yield Finding(
                generation=generation.number,
                at_ms=generation.at_ms,
                until_ms=generation.at_ms,
                count=needless,
                evidence=(
                    f"{amount(counted.moved, 'partition')} moved from members that are still in "
                    f"the group; {amount(counted.moved_minimum, 'move')} would have been enough"
                ),
            )


def _unfair(analysed: GenerationAnalysis) -> dict[str, int]:
    """Return member -> partitions above the most (below the least) of any balanced assignment."""
    found = {}
    for member in analysed.generation.members:
        bounds = analysed.figures.fair.get(member.member_id)
        if bounds is None:
            continue
        load = partition_count(intended(member))
        excess = load - min(max(load, bounds[0]), bounds[1])
        if excess:
            found[member.member_id] = excess
    return found


def _gap(analysed: GenerationAnalysis) -> int:
    return analysed.figures.balance_gap or 0
