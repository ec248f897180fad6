"""The ratios we aim at, and whether the last run reached them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.benchmarks.peers.contenders import BIG, WORKLOADS, Stage
from tests.benchmarks.peers.results import Results
from tests.optimal.workloads import EVENTS, parts

CHANGES = tuple(event for event in EVENTS if event != "fresh")
EQUAL, MIXED = ("U", "V"), ("Ha", "Hb", "Hd", "Vb")
SMALL_MIXED = ("Hb 100 x 1000 / 10", "Hc 500 x 3000 / 60", "He 500 x 3352 / 50")
JAVA = ("java-cooperative", "java-sticky")
SLOW = ("kafka-python", "aiokafka", "sarama")
LARGEST = "U 2000 x 1000000 / 500"


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A ratio of CPU times that must be reached at every event of some workloads."""

    against: str
    peers: tuple[str, ...]
    stage: Stage
    times: float
    workloads: tuple[str, ...]
    events: tuple[str, ...] = EVENTS
    ours: Stage | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """What was measured for one target."""

    against: str
    what: str
    wanted: str
    worst: str
    where: str
    is_met: bool | None
    """`None` where nothing was measured."""


def _chosen(is_wanted: Callable[[str, int, int], bool]) -> tuple[str, ...]:
    """Return the workloads of some kinds, members and partitions."""
    return tuple(name for name in WORKLOADS if is_wanted(*parts(name)[:3]))


LARGE = _chosen(lambda _, members, partitions: members >= 1000 and partitions >= 10_000)
EQUAL_LARGE = tuple(name for name in LARGE if parts(name)[0] in EQUAL)
MIXED_LARGE = tuple(name for name in LARGE if parts(name)[0] in MIXED)
EQUAL_HUGE = tuple(name for name in EQUAL_LARGE if parts(name)[2] >= BIG)
FROM_30 = _chosen(lambda _, members, partitions: members >= 30 and partitions <= 10_000)
OF_100 = ("U 100 x 1000 / 10",)


def _pair(
    against: str, peer: str, workloads: tuple[str, ...], assign: float, full: float
) -> tuple[Target, Target]:
    """Return the targets for both columns of a line."""
    return (
        Target(against=against, peers=(peer,), stage="assign", times=assign, workloads=workloads),
        Target(against=against, peers=(peer,), stage="full", times=full, workloads=workloads),
    )


OF_JAVA: tuple[tuple[Stage, float, tuple[str, ...]], ...] = (
    ("assign", 10, ("fresh",)),
    ("assign", 50, CHANGES),
    ("full", 8, EVENTS),
)
BOTH: tuple[Stage, ...] = ("assign", "full")
TARGETS = (
    *(
        Target(
            against="Java client assignors, from 1,000 x 10,000",
            peers=JAVA,
            stage=stage,
            times=times,
            workloads=LARGE,
            events=events,
        )
        for stage, times, events in OF_JAVA
    ),
    Target(
        against="Java broker uniform, equal, from 100,000 partitions",
        peers=("java-uniform",),
        stage="assign",
        times=5,
        workloads=EQUAL_HUGE,
    ),
    *_pair("franz-go, equal, from 1,000 x 10,000", "franz-go", EQUAL_LARGE, 20, 4),
    *_pair("franz-go, equal, 100 x 1,000", "franz-go", OF_100, 4, 1.5),
    *_pair("franz-go, mixed, from 1,000 x 10,000", "franz-go", MIXED_LARGE, 2, 1.5),
    *_pair("franz-go, mixed, smaller", "franz-go", SMALL_MIXED, 1, 1),
    *(
        Target(
            against="kafka-python, aiokafka, Sarama, from 30 members",
            peers=SLOW,
            stage=stage,
            times=50,
            workloads=FROM_30,
        )
        for stage in BOTH
    ),
)
LIMITS_US = (("U 3 x 12 / 1", 120), ("U 30 x 300 / 3", 250))
"""Microseconds that a full path may take, at any event."""
MEMORY_MB = 400


def states(results: Results) -> Iterator[State]:
    """Yield the state of every target."""
    for target in TARGETS:
        yield _state(target, results)
    for workload, limit in LIMITS_US:
        rows = [results.row(workload, event, "ours", "full") for event in EVENTS]
        spent = [(1000 * row.least_ms, row.event) for row in rows if row and row.least_ms]
        worst = max(spent, default=None)
        yield State(
            against=_short(workload),
            what="full",
            wanted=f"<= {limit} us",
            worst=f"{worst[0]:,.0f} us" if worst else "",
            where=worst[1] if worst else "",
            is_met=worst[0] <= limit if worst else None,
        )
    row = results.row(LARGEST, "leave", "ours", "full")
    peak = row.peak_mb if row else None
    yield State(
        against=_short(LARGEST),
        what="memory of the first full path",
        wanted=f"<= {MEMORY_MB} MB",
        worst="" if peak is None else f"{peak:,.0f} MB",
        where="leave",
        is_met=None if peak is None else peak <= MEMORY_MB,
    )


def _state(target: Target, results: Results) -> State:
    found = [
        (ratio[0], ratio[1], f"{_short(workload)}, {event}, {peer}")
        for workload in target.workloads
        for event in target.events
        for peer in target.peers
        if (ratio := results.ratio(workload, event, peer, target.stage, ours=target.ours))
    ]
    worst = min(found, default=None)
    missed = sum(ratio < target.times for ratio, _, _ in found)
    events = {CHANGES: ", after a change", ("fresh",): ", fresh"}.get(target.events, "")
    where = worst[2] if worst else ""
    return State(
        against=target.against,
        what=f"{target.stage}{events}",
        wanted=f">= {target.times:g}x",
        worst="" if not worst else f"{'> ' if worst[1] else ''}{worst[0]:.3g}x",
        where=f"{where} (missed in {missed} of {len(found)})" if missed else where,
        is_met=missed == 0 if found else None,
    )


def _short(workload: str) -> str:
    kind, members, partitions, _ = parts(workload)
    return f"{kind} {members:,} x {partitions:,}"
