"""Static members that share a group instance id.

A process that joins with the `group.instance.id` of another takes its place, and the broker fences
the other (FENCED_INSTANCE_ID). Where both start again whenever they are fenced, the id goes back
and forth for ever, mostly without a rebalance: the coordinator writes the same generation again.
One change is a restart, as a rolling deployment makes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assignors.replay.analysis.group_analysis import LifeAnalysis
from assignors.replay.findings.finding import Finding, crowded, numbers_shown, seconds, times
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.history.model import Takeover


def fenced_instances(analysis: LifeAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield crowded takeovers of one group instance id. Cost: linear."""
    by_instance: dict[str, list[Takeover]] = {}
    for takeover in analysis.life.takeovers:
        by_instance.setdefault(takeover.instance_id, []).append(takeover)
    for listed in by_instance.values():
        # Each ends the time of one holder; that of the first began with a join.
        moments = [listed[0].since_ms, *(takeover.at_ms for takeover in listed)]
        count = thresholds.instance_changes + 1
        for start, end in crowded(moments, count, thresholds.instance_window_ms):
            yield _finding(analysis, listed[start : end - 1], moments[start])


def _finding(analysis: LifeAnalysis, run: Sequence[Takeover], from_ms: int) -> Finding:
    last = run[-1]
    holders = [one for takeover in run for one in (takeover.after, takeover.before)]
    processes = dict.fromkeys(f"{one.client_id} ({one.host})" for one in holders)
    who = (
        f"between {' and '.join(processes)}"
        if len(processes) == 2
        else f"among {numbers_shown([*processes], limit=5)}"
    )
    if len(processes) == 1:
        who = f"always {next(iter(processes))}, as brokers keep the first client id and host"
    members = analysis.life.generations[-1].members
    is_there = any(member.member_id == last.after.member_id for member in members)
    return Finding(
        cause=last.instance_id,
        generation=run[0].generation,
        at_ms=from_ms,
        until_ms=last.at_ms,
        count=len(run),
        member_id=last.after.member_id if is_there else None,
        client_id=last.after.client_id,
        evidence=(
            f"instance {last.instance_id} changed hands {times(len(run))} in "
            f"{seconds(last.at_ms - from_ms)}, {who}"
        ),
    )
