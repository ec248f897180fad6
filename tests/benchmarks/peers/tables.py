"""The figures of a run as the marked section of docs/speed.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from tests.benchmarks.peers.contenders import BY_NAME, WORKLOADS, Stage, title
from tests.benchmarks.peers.floors import states
from tests.benchmarks.peers.results import Quality, Results
from tests.optimal.workloads import EVENTS

PEERS: dict[Stage, tuple[str, ...]] = {
    "full": ("franz-go", "java-cooperative", "java-sticky", "sarama", "kafka-python", "aiokafka"),
    "assign": (
        *("franz-go", "java-uniform", "java-cooperative", "java-sticky"),
        *("sarama", "kafka-python", "aiokafka"),
    ),
}
STAGES: dict[Stage, str] = {
    "full": "From everybody's Subscription bytes to everybody's Assignment bytes",
    "assign": "Assignment only, between decoding and encoding",
}
SHOWN: dict[Stage, tuple[str, ...]] = {
    "full": ("franz-go", "java-cooperative", "sarama", "kafka-python"),
    "assign": ("franz-go", "java-uniform", "java-cooperative", "kafka-python"),
}
"""Peers whose times have a column."""
METHOD = """\
CPU milliseconds on one core: the least of all calls in 0.15 seconds but for the lowest tenth, or
of three; a process for each contender, workload and stage, which take turns. Of Java the calling
thread alone, after a second of warming up. An x after a figure says how many times our time it is,
on the same bytes; below 1x the peer is faster. `> {limit} s`: one call did not finish in that
time. A dash: not tried, because a smaller group took too long, or racks are not known there.
Kafka's broker knows the owners and has no claims to judge: its assignor is compared with our solver
alone. Eager assignors get the same claims as UserData."""


def summary(results: Results) -> str:
    """Return the section."""
    where = (
        f"Measured by `make bench` on {results.date}: {results.machine}, load {results.load:g}; "
        f"{results.versions}."
    )
    parts = [
        [where, "", METHOD.format(limit=f"{results.limit_s:g}")],
        ["## Floors", "", FLOORS, "", *_floors(results)],
        ["## Ahead and behind", "", STANDING, "", *_standing(results)],
        ["## One member has left"],
        *([f"{STAGES[stage]}:", "", *_times(results, stage)] for stage in STAGES),
        ["## Quality of the assignments", "", _quality(results.quality)],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


FLOORS = "One member has left, `full`: franz-go's CPU time divided by ours, or milliseconds."
STANDING = """\
CPU time of others divided by ours, over all groups and events.
`full`: Subscription bytes to Assignment bytes; `assign`: the decision alone."""


def _floors(results: Results) -> Iterator[str]:
    """Yield the state of each floor."""
    words = {True: "holds", False: "**does not hold**", None: "not measured"}
    rows = [
        (state.workload, state.wanted, state.measured, words[state.is_met])
        for state in states(results)
    ]
    return table(("members x partitions / topics", "floor", "measured", ""), rows)


def _standing(results: Results) -> Iterator[str]:
    """Yield a row a stage and peer: in how many events we need less time, and where we do not.

    A peer that did not finish in time counts with the time it was given.
    """
    rows = []
    for stage, names in PEERS.items():
        for peer in names:
            known = (
                results.ratio(workload, event, peer, stage)
                for workload in _measured(results)
                for event in EVENTS
            )
            found = [ratio for ratio, _ in filter(None, known)]
            sides = [each for each in found if each >= 1], [each for each in found if each < 1]
            cells = [
                cell
                for side in sides
                for cell in (
                    f"{len(side)} of {len(found)}",
                    factor(median(side)) if side else "-",
                )
            ]
            rows.append((f"`{stage}`", BY_NAME[peer].label, *cells))
    return table(
        ("stage", "beside", "we need less in", "median", "we need more in", "median"), rows
    )


def _times(results: Results, stage: Stage) -> Iterator[str]:
    """Yield a line for each workload after one member left: our time, and everybody else's."""
    peers = SHOWN[stage]
    rows = [
        (
            title(workload),
            milliseconds(results, workload, "ours", stage),
            *(_cell(results, workload, peer, stage) for peer in peers),
        )
        for workload in _measured(results)
    ]
    labels = (BY_NAME[peer].label for peer in peers)
    return table(("members x partitions / topics", "ours", *labels), rows)


def _quality(quality: Sequence[Quality]) -> str:
    """Return who stops short of the best assignment, and how often."""
    short = []
    for name in dict.fromkeys(entry.contender for entry in quality):
        entries = [entry for entry in quality if entry.contender == name]
        gaps = ((e.balance_gap, e.mismatches_above, e.moves_above) for e in entries)
        worse = sum(gap != (0, 0, 0) for gap in gaps)
        short.append(f"{BY_NAME[name].label} {worse} of {len(entries)}")
    return (
        "Assignments that are not the best possible in balance, racks (where there are some) and "
        f"moves: {'; '.join(short)}."
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table; all columns but the first are figures."""
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _cell(results: Results, workload: str, peer: str, stage: Stage) -> str:
    """Return a peer's milliseconds and how many times ours that is."""
    spent = milliseconds(results, workload, peer, stage)
    ratio = results.ratio(workload, "leave", peer, stage)
    if ratio is None:
        return spent
    return f"{spent} ({'> ' if ratio[1] else ''}{factor(ratio[0])})"


def milliseconds(results: Results, workload: str, who: str, stage: Stage) -> str:
    """Return a time; what did not finish says so."""
    row = results.row(workload, "leave", who, stage)
    if row is None:
        return "-"
    if row.least_ms is None:
        return f"> {results.limit_s:g} s"
    return figure(row.least_ms)


def figure(value: float) -> str:
    """Return three digits, or all of a large number.

    >>> figure(0.01234), figure(1.5), figure(12345.6)
    ('0.0123', '1.50', '12,346')
    """
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3g}"


def factor(value: float) -> str:
    """Return a ratio.

    >>> factor(0.123), factor(3.14), factor(1234)
    ('0.12x', '3.1x', '1,234x')
    """
    return f"{value:,.0f}x" if value >= 10 else f"{value:.2g}x"


def _measured(results: Results) -> list[str]:
    known = {row.workload for row in results.rows}
    return [workload for workload in WORKLOADS if workload in known]
