"""Whether the watch itself sees what is written: alerts of the watch, not of a group.

A monitor that is silent because it is blind is worse than none. Two things blind it: it is slower
than the topic grows, or a transaction of the topic hangs, and no reader of committed records gets
past its first record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from assignors.replay.findings.finding import amount, numbers_shown, seconds
from assignors.watch.events import Alert, WatchKind
from assignors.watch.life_cycle import Alerts, Condition, evaluated
from assignors.watch.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far the watch is in each partition of the offsets topic, at one moment."""

    at_ms: int
    positions: Mapping[int, int]
    """Partition -> the offset that is read next."""
    stable: Mapping[int, int]
    """Partition -> where committed records end."""
    high: Mapping[int, int]
    """Partition -> where records end."""


@dataclass(slots=True)
class Seen:
    """What was known of one partition when something began to be wrong."""

    since_ms: int
    stable: int
    high: int


@dataclass(slots=True)
class OwnState:
    """The watch's state of itself."""

    behind: dict[int, int] = field(default_factory=dict)
    """Partition -> since when it has records to read."""
    blocked: dict[int, Seen] = field(default_factory=dict)
    """Partition -> since when its stable offset has not moved, although there are records."""
    alerts: Alerts = field(default_factory=dict)


def own_step(state: OwnState, reach: Reach, rules: Rules) -> Iterator[Alert]:
    """Add how far the watch is, and yield its own alerts. Cost: linear in the partitions."""
    now_ms = reach.at_ms
    for partition, stable in reach.stable.items():
        if reach.positions.get(partition, 0) >= stable:
            state.behind.pop(partition, None)
        else:
            state.behind.setdefault(partition, now_ms)
        high, seen = reach.high.get(partition, stable), state.blocked.get(partition)
        if high <= stable:
            state.blocked.pop(partition, None)
        elif seen is None or seen.stable != stable:
            state.blocked[partition] = Seen(now_ms, stable, high)
    found = [*_behind(state, reach, rules), *_blocked(state, reach, rules)]
    conditions = {condition.key: condition for condition in found}
    yield from evaluated("", state.alerts, conditions, now_ms, rules, oldest_ms=now_ms)


def _behind(state: OwnState, reach: Reach, rules: Rules) -> Iterator[Condition]:
    late = {
        partition: since_ms
        for partition, since_ms in state.behind.items()
        if reach.at_ms - since_ms >= rules.behind_ms
    }
    if late:
        count = sum(reach.stable[one] - reach.positions.get(one, 0) for one in late)
        yield Condition(
            life=0,
            kind=WatchKind.WATCH_BEHIND.value,
            subject="",
            since_ms=min(late.values()),
            until_ms=None,
            evidence=(
                f"the watch has been {amount(count, 'record')} behind in "
                f"{amount(len(late), 'partition')} of the offsets topic for "
                f"{seconds(reach.at_ms - min(late.values()))}"
            ),
            numbers={"count": count},
        )


def _blocked(state: OwnState, reach: Reach, rules: Rules) -> Iterator[Condition]:
    late = {
        partition: seen
        for partition, seen in state.blocked.items()
        if reach.at_ms - seen.since_ms >= rules.behind_ms and reach.high[partition] > seen.high
    }
    if late:
        since_ms = min(seen.since_ms for seen in late.values())
        yield Condition(
            life=0,
            kind=WatchKind.WATCH_BLIND.value,
            subject="",
            since_ms=since_ms,
            until_ms=None,
            evidence=(
                f"partitions {numbers_shown(sorted(late))} of the offsets topic grow, but no "
                f"committed record can be read since {seconds(reach.at_ms - since_ms)}: a "
                "transaction hangs"
            ),
            numbers={"count": len(late)},
        )
