"""The figures of a run as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tests.benchmarks.peers.contenders import BY_NAME, WORKLOADS, Stage, title
from tests.benchmarks.peers.floors import states
from tests.benchmarks.peers.results import FOLDER, Quality, Results
from tests.benchmarks.peers.standing import behind, factor, standing
from tests.optimal.workloads import EVENTS

PEERS: dict[Stage, tuple[str, ...]] = {
    "full": ("franz-go", "java-cooperative", "java-sticky", "sarama", "kafka-python", "aiokafka"),
    "assign": (
        *("franz-go", "java-uniform", "java-cooperative", "java-sticky"),
        *("sarama", "kafka-python", "aiokafka"),
    ),
}
OURS: dict[Stage, str] = {
    "full": "full",
    "assign": "assign",
    "solve": "solver alone",
}
"""Our stages."""
SHOWN = ("franz-go", "java-cooperative", "sarama", "kafka-python")
"""Peers in the table of docs/speed.md."""
LINK = "../tests/benchmarks/results"
STAGES: dict[Stage, str] = {
    "full": "From everybody's Subscription bytes to everybody's Assignment bytes",
    "assign": "Assignment only, between decoding and encoding",
}
METHOD = """\
CPU milliseconds, the least of all calls in 0.15 seconds but for the lowest tenth, or of three \
(fewer where a call takes over a second), on one core, a process for each contender, workload and \
stage; but for Java, of calls below 0.1 s the least of three processes that took turns with all \
others. Calls of less than 0.2 ms are timed by many at once. `full` is what a group waits for: all \
Subscriptions (version 3, with generation and claims) are decoded, assigned, and an Assignment is \
encoded for each member. `assign` starts from decoded members, in each library's own types, and \
ends with its own type of answer: ours is an array, of which names are \
made when they are asked for. Kafka's broker knows who owns what and has no claims to judge: its \
assignor is compared with our solver alone. Eager assignors get the same claims as UserData, and \
are compared with our eager one.

* Java: the CPU time of the calling thread alone, without compilation and garbage collection, \
after a second of warming up; logging is off. Go and Python: the whole process.
* An x after a figure says how many times our time it is, on the same bytes; below 1x the other \
one is ahead.
* `> {limit} s`: one call did not finish in that time; after that only the fresh group was tried. \
A dash: not tried, because a smaller group took too long, or racks are not known there.
* `memory` is by how much the first call of a process raised its resident memory, the input \
apart; garbage that was not collected counts, so for Java and Go it is what they take, not what \
they need.
* One group's prior state is the same for all; events: one member leaves, a fresh group without \
claims, one joins, a tenth is replaced, the first topic grows by a tenth."""


def report(results: Results) -> str:
    """Return the whole page."""
    return "\n".join(
        [
            "# Speed and quality beside other assignors",
            "",
            measured_where(results),
            "",
            METHOD.format(limit=f"{results.limit_s:g}"),
            "",
            "## Floors",
            "",
            "One member has left, `full`: franz-go's CPU time divided by ours, or milliseconds.",
            "",
            *floor_table(results),
            "",
            "## One member has left",
            *(
                line
                for stage in STAGES
                for line in (
                    f"\n{STAGES[stage]} ([plot]({stage}.svg)):\n",
                    *stage_table(results, stage, PEERS[stage]),
                )
            ),
            "",
            "## First call, and memory",
            "",
            "`full`, one member has left, the first call of a process:",
            "",
            *first_table(results),
            "",
            "## Quality",
            "",
            *quality_text(results),
            "",
            "## Where we are behind",
            "",
            *(f"* {line}" for line in behind(results, PEERS)),
            "",
            "## Every event",
            "",
            *event_table(results),
            "",
        ]
    )


def measured_where(results: Results) -> str:
    """Return when, on what machine, with which versions."""
    return (
        f"Measured by `make bench` on {results.date}: {results.machine}, load {results.load:g}; "
        f"{results.versions}."
    )


def summary(results: Results) -> str:
    """Return what docs/speed.md shows."""
    return "\n".join(
        [
            measured_where(results),
            f"[The whole run]({LINK}/README.md): method, events, first calls, memory, quality.",
            "",
            "## Ahead and behind",
            "",
            "CPU time of others divided by ours, over all groups and events.",
            "`full`: Subscription bytes to Assignment bytes; `assign`: the decision alone.",
            "",
            *standing(results, PEERS),
            "",
            "## One member has left",
            "",
            f"{STAGES['full']}; CPU milliseconds, and how many times ours:",
            "",
            *stage_table(results, "full", SHOWN),
            "",
            f"![{STAGES['full']}]({LINK}/full.svg)",
            "",
            f"{STAGES['assign']}:",
            "",
            f"![{STAGES['assign']}]({LINK}/assign.svg)",
            "",
            "## Quality of the assignments",
            "",
            *quality_summary(results),
            "",
        ]
    )


def write(results: Results) -> None:
    """Write the page beside the results."""
    (FOLDER / "README.md").write_text(report(results), encoding="utf-8")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table; all columns but the first are figures."""
    yield f"| {' | '.join(head)} |"
    yield f"|---|{'---:|' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def stage_table(results: Results, stage: Stage, peers: Sequence[str]) -> Iterator[str]:
    """Yield a line for each workload after one member left: our time, and everybody else's."""
    head = ["members x partitions / topics", "ours"]
    more: tuple[Stage, ...] = () if stage == "full" else ("solve",)
    head += [OURS[each] for each in more]
    rows = []
    for workload in _measured(results):
        row = [title(workload), milliseconds(results, workload, "leave", "ours", stage)]
        row += [milliseconds(results, workload, "leave", "ours", each) for each in more]
        rows.append(row + [cell(results, workload, "leave", peer, stage) for peer in peers])
    return table([*head, *(BY_NAME[peer].label for peer in peers)], rows)


def event_table(results: Results) -> Iterator[str]:
    """Yield a line for each workload and event."""
    peers: tuple[tuple[Stage, str], ...] = (
        ("full", "franz-go"),
        ("full", "java-cooperative"),
        ("assign", "franz-go"),
        ("assign", "java-cooperative"),
        ("assign", "java-uniform"),
    )
    labels = [f"{stage}, {BY_NAME[peer].label}" for stage, peer in peers]
    rows = [
        [
            title(workload),
            event,
            *(milliseconds(results, workload, event, "ours", each) for each in OURS),
            *(cell(results, workload, event, peer, stage) for stage, peer in peers),
        ]
        for workload in _measured(results)
        for event in EVENTS
    ]
    return table(["group", "event", *OURS.values(), *labels], rows)


def first_table(results: Results) -> Iterator[str]:
    """Yield the first call's milliseconds and megabytes."""
    peers = ("ours", *PEERS["full"])
    rows = [
        [
            title(workload),
            *(
                "-"
                if not (row := results.row(workload, "leave", peer, "full"))
                else "unfinished"
                if row.cold_ms is None
                else f"{figure(row.cold_ms)} ms, {row.peak_mb or 0:,.0f} MB"
                for peer in peers
            ),
        ]
        for workload in _measured(results)
    ]
    return table(["group", *("ours" if p == "ours" else BY_NAME[p].label for p in peers)], rows)


def quality_summary(results: Results) -> Iterator[str]:
    """Yield who stops short of the best assignment, and how often."""
    names = dict.fromkeys(entry.contender for entry in results.quality)
    short = []
    for name in names:
        entries = [entry for entry in results.quality if entry.contender == name]
        worse = sum(not _is_best(entry) for entry in entries)
        short.append(f"{BY_NAME[name].label} {worse} of {len(entries)}")
    yield (
        "Assignments that are not the best possible in balance, racks (where there are some) and "
        f"moves: {'; '.join(short)}."
    )


def quality_text(results: Results) -> Iterator[str]:
    """Yield which plans are not the best possible, contender by contender."""
    yield (
        "Eager assignments of the same groups beside the best possible: balance (sum of squared "
        "loads), then racks, then moves. That ours is the best possible is proved against OR-tools "
        "and exhaustive search in `tests/optimal`. Sums over the events; of racks only Java's "
        "client assignors and ours know."
    )
    yield ""
    names = list(dict.fromkeys(entry.contender for entry in results.quality))
    rows = []
    for workload in _measured(results):
        row = [title(workload)]
        for name in names:
            entries = [
                entry
                for entry in results.quality
                if entry.workload == workload and entry.contender == name
            ]
            row.append(_quality(entries))
        rows.append(row)
    yield from table(["group", *(BY_NAME[name].label for name in names)], rows)
    yield ""
    yield "`best`: best in everything at each event; the number of events where fewer than five."


def _is_best(entry: Quality) -> bool:
    return (entry.balance_gap, entry.mismatches_above, entry.moves_above) == (0, 0, 0)


def _quality(known: Sequence[Quality]) -> str:
    if not known:
        return "-"
    gap = sum(entry.balance_gap or 0 for entry in known)
    moves = sum(entry.moves_above for entry in known)
    racks = sum(entry.mismatches_above for entry in known)
    said = []
    if gap:
        said.append(f"balance +{gap:,}")
    if racks > 0:
        said.append(f"racks +{racks:,}")
    if moves > 0:
        said.append(f"moves +{moves:,} (of {sum(entry.moves_least for entry in known):,})")
    some = "" if len(known) == len(EVENTS) else f" ({len(known)})"
    return (", ".join(said) or "best") + some


def floor_table(results: Results) -> Iterator[str]:
    """Yield the state of each floor."""
    words = {True: "holds", False: "**does not hold**", None: "not measured"}
    yield "| members x partitions / topics | floor | measured | |"
    yield "|---|---|---:|---|"
    for state in states(results):
        yield f"| {state.workload} | {state.wanted} | {state.measured} | {words[state.is_met]} |"


def cell(results: Results, workload: str, event: str, peer: str, stage: Stage) -> str:
    """Return a peer's milliseconds and how many times ours that is."""
    spent = milliseconds(results, workload, event, peer, stage)
    ratio = results.ratio(workload, event, peer, stage)
    if ratio is None:
        return spent
    return f"{spent} ({'> ' if ratio[1] else ''}{factor(ratio[0])})"


def milliseconds(results: Results, workload: str, event: str, who: str, stage: Stage) -> str:
    """Return a time; what did not finish says so."""
    row = results.row(workload, event, who, stage)
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


def _measured(results: Results) -> list[str]:
    known = {row.workload for row in results.rows}
    return [workload for workload in WORKLOADS if workload in known]
