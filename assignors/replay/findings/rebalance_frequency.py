"""Rebalances without a reason, and too many rebalances in a short time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from assignors.ownership.changes import TopicPartition, pairs
from assignors.replay.analysis.group_analysis import GenerationAnalysis, LifeAnalysis
from assignors.replay.findings.finding import (
    Finding,
    amount,
    runs,
    seconds,
    span,
)
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.tables.rows import AnomalyKind

Signature = tuple[tuple[str, tuple[str, ...]], ...]


def loops(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield runs of generations with the same members and the same subscriptions.

    A cooperative rebalance has one such follow-up round; five in a row have no reason outside the
    group.
    """
    for _, run in runs(analysis.generations, _signatures):
        if len(run) < thresholds.loop_generations:
            continue
        first, last = run[0].generation, run[-1].generation
        moved = sum(analysed.figures.moved for analysed in run[1:])
        idle = sum(_plans(one) == _plans(other) for one, other in pairwise(run))
        yield Finding(
            kind=AnomalyKind.REBALANCE_LOOP,
            generation=first.number,
            at_ms=first.at_ms,
            until_ms=last.at_ms,
            count=len(run),
            evidence=(
                f"{len(run)} generations in {seconds(last.at_ms - first.at_ms)}, {span(run)}, with "
                f"the same {amount(len(first.members), 'member')} and subscriptions; of the "
                f"{len(run) - 1} rebalances after the first, {idle} changed no assignment, and all "
                f"together moved {amount(moved, 'partition')} from members that stayed"
            ),
        )


def storms(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield times with at least `storm_generations` in `storm_window_ms`. Cost: linear.

    A loop is none, however fast it turns.
    """
    busy = [analysed for analysed in analysis.generations if analysed.generation.members]
    for run in _crowded(busy, thresholds):
        if _is_loop(run, thresholds):
            continue  # the same generations are a finding already
        first, last = run[0].generation, run[-1].generation
        joined = sum(len(analysed.figures.joined) for analysed in run)
        left = sum(len(analysed.figures.left) for analysed in run)
        yield Finding(
            kind=AnomalyKind.REBALANCE_STORM,
            generation=first.number,
            at_ms=first.at_ms,
            until_ms=last.at_ms,
            count=len(run),
            evidence=(
                f"{len(run)} generations in {seconds(last.at_ms - first.at_ms)}, {span(run)}: "
                f"{amount(joined, 'member')} joined, {left:,} left"
            ),
        )


def _signatures(analysed: GenerationAnalysis) -> Iterator[Signature]:
    members = analysed.generation.members
    if members:
        yield tuple(sorted((m.member_id, tuple(sorted(set(m.topics)))) for m in members))


def _is_loop(run: Sequence[GenerationAnalysis], thresholds: Thresholds) -> bool:
    """Return whether a run is one loop from its first generation to its last."""
    signatures = {signature for analysed in run for signature in _signatures(analysed)}
    return len(signatures) == 1 and len(run) >= thresholds.loop_generations


def _plans(analysed: GenerationAnalysis) -> dict[str, set[TopicPartition]]:
    return {m.member_id: set(pairs(m.assigned)) for m in analysed.generation.members}


def _crowded(
    busy: Sequence[GenerationAnalysis], thresholds: Thresholds
) -> Iterator[Sequence[GenerationAnalysis]]:
    """Yield the longest runs of generations that are all part of a window with too many."""
    times = [analysed.generation.at_ms for analysed in busy]
    start: int | None = None
    end = 0
    left = 0
    for right, now in enumerate(times):
        while now - times[left] > thresholds.storm_window_ms:
            left += 1
        if right - left + 1 < thresholds.storm_generations:
            continue
        if start is not None and left > end:
            yield busy[start : end + 1]
            start = None
        start = left if start is None else start
        end = right
    if start is not None:
        yield busy[start : end + 1]
