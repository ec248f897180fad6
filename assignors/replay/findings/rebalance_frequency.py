"""Rebalances without a reason, and too many rebalances in a short time.

Both need a clock: five rebalances without a reason a week apart are no loop. Without times in the
records neither is found. Groups whose members are no consumers have a finding of their own, as
their assignments are not read and other advice helps; so have the rebalances that Kafka Streams
makes every few minutes to find out whether a task may move.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from assignors.ownership.changes import pairs
from assignors.replay.analysis.group_analysis import GenerationAnalysis, LifeAnalysis
from assignors.replay.findings.finding import (
    Finding,
    amount,
    crowded,
    has_times,
    runs,
    seconds,
    span,
)
from assignors.replay.findings.thresholds import Thresholds

STREAMS_PROTOCOL = "stream"

Signature = tuple[tuple[str, tuple[str, ...]], ...]
Occurrence = tuple[Sequence[GenerationAnalysis], Finding]
"""A finding, with its generations."""


def rebalance_loops(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield loops of groups of consumers."""
    yield from (loop for run, loop in _loops(analysis, thresholds) if not _is_of_workers(run))


def rebalance_storms(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield storms of groups of consumers."""
    yield from (storm for run, storm in _storms(analysis, thresholds) if not _is_of_workers(run))


def worker_rebalances(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield loops and storms of groups whose members are no consumers."""
    if all(one.generation.other_protocol is None for one in analysis.generations):
        return
    for listed in (_loops(analysis, thresholds), _storms(analysis, thresholds)):
        yield from (finding for run, finding in listed if _is_of_workers(run))


def _loops(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Occurrence]:
    """Yield crowded generations with the same members and the same subscriptions.

    A cooperative rebalance has one such follow-up round; five in a row have no reason outside the
    group.
    """
    if not analysis.generations or not has_times(analysis):
        return
    for _, alike in runs(analysis.generations, _signatures):
        times = [analysed.generation.at_ms for analysed in alike]
        window_ms = _loop_window_ms(alike, thresholds)
        for start, end in crowded(times, thresholds.loop_generations, window_ms):
            run = alike[start:end]
            first, last = run[0].generation, run[-1].generation
            evidence = (
                f"{len(run)} generations in {seconds(last.at_ms - first.at_ms)}, {span(run)}, "
                f"with the same {amount(len(first.members), 'member')} and subscriptions; "
                f"{_changed(run)}"
            )
            yield run, _finding(run, evidence)


def _storms(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Occurrence]:
    """Yield times with at least `storm_generations` in `storm_window_ms`. Cost: linear.

    A loop is none, however fast it turns.
    """
    busy = [analysed for analysed in analysis.generations if analysed.generation.members]
    if not busy or not has_times(analysis):
        return
    times = [analysed.generation.at_ms for analysed in busy]
    for start, end in crowded(times, thresholds.storm_generations, thresholds.storm_window_ms):
        run = busy[start:end]
        if _is_loop(run, thresholds):
            continue  # the same generations are a finding already
        first, last = run[0].generation, run[-1].generation
        joined = sum(len(analysed.figures.joined) for analysed in run)
        left = sum(len(analysed.figures.left) for analysed in run)
        evidence = (
            f"{len(run)} generations in {seconds(last.at_ms - first.at_ms)}, {span(run)}: "
            f"{amount(joined, 'member')} joined, {left:,} left"
        )
        yield run, _finding(run, evidence)


def probing_rebalances(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield runs of rebalances of Kafka Streams that are as far apart as probing ones are."""
    for _, run in runs(analysis.generations, _signatures):
        gaps = sorted(other.generation.at_ms - one.generation.at_ms for one, other in pairwise(run))
        gaps = [gap for gap in gaps if thresholds.probing_ms <= gap <= thresholds.loop_window_ms]
        if not _is_of_streams(run) or len(gaps) < thresholds.loop_generations - 1:
            continue
        first, last = run[0].generation, run[-1].generation
        yield Finding(
            generation=first.number,
            at_ms=first.at_ms,
            until_ms=last.at_ms,
            count=len(gaps),
            evidence=(
                f"{amount(len(gaps), 'rebalance')} about {seconds(gaps[len(gaps) // 2])} apart, "
                f"{span(run)}, with the same {amount(len(first.members), 'member')}: Kafka "
                "Streams looks whether a warm-up task has caught up (acceptable.recovery.lag, "
                "max.warmup.replicas)"
            ),
        )


def _finding(run: Sequence[GenerationAnalysis], evidence: str) -> Finding:
    return Finding(
        generation=run[0].generation.number,
        at_ms=run[0].generation.at_ms,
        until_ms=run[-1].generation.at_ms,
        count=len(run),
        evidence=evidence,
    )


def _is_of_workers(run: Sequence[GenerationAnalysis]) -> bool:
    """Return whether a run is of a group whose members are no consumers."""
    return run[0].generation.other_protocol is not None


def _is_of_streams(run: Sequence[GenerationAnalysis]) -> bool:
    return run[0].generation.protocol == STREAMS_PROTOCOL


def _loop_window_ms(run: Sequence[GenerationAnalysis], thresholds: Thresholds) -> int:
    """Return the time that counts for a loop: of Kafka Streams, what is faster than probing."""
    if not _is_of_streams(run):
        return thresholds.loop_window_ms
    probing_ms = thresholds.probing_ms * (thresholds.loop_generations - 1)
    return max(min(thresholds.loop_window_ms, probing_ms - 1), 0)


def _changed(run: Sequence[GenerationAnalysis]) -> str:
    """Return in words how many of the rebalances in a run changed the assignment."""
    count = len(run) - 1
    changed = sum(_plans(one) != _plans(other) for one, other in pairwise(run))
    said = {count: "all", 0: "none of the"}.get(changed, f"{changed} of the")
    words = f"{said} {amount(count, 'rebalance')} after the first changed the assignment"
    other = run[0].generation.other_protocol
    if other is not None:
        return f"{words}, by its bytes: tasks of protocol type {other} are not read"
    moved = sum(analysed.figures.moved for analysed in run[1:])
    return f"{words}, and {amount(moved, 'partition')} moved from members that stayed"


def _signatures(analysed: GenerationAnalysis) -> Iterator[Signature]:
    members = analysed.generation.members
    if members:
        yield tuple(sorted((m.member_id, tuple(sorted(set(m.topics)))) for m in members))


def _is_loop(run: Sequence[GenerationAnalysis], thresholds: Thresholds) -> bool:
    """Return whether a run is one loop from its first generation to its last."""
    signatures = {signature for analysed in run for signature in _signatures(analysed)}
    return len(signatures) == 1 and len(run) >= thresholds.loop_generations


def _plans(analysed: GenerationAnalysis) -> Mapping[str, object]:
    """Return each member's partitions, or the bytes where they are not read."""
    generation = analysed.generation
    if generation.other_protocol is not None:
        return {member.member_id: member.assignment_bytes for member in generation.members}
    return {member.member_id: {*pairs(member.assigned)} for member in generation.members}
