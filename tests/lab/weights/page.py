"""RESULTS.md: assignors by weight beside others, in real groups on a broker.

All figures come from a file that `make weights` writes. What the page claims is decided by them:
one assignor has less delay than another only if it has in every repetition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from statistics import median
from textwrap import fill
from typing import Any

from tests.docs.source import table
from tests.lab.weights.contenders import CONTENDERS
from tests.lab.weights.world import CAPACITIES, CHANGED, COSTS, LEAVER, World

PAGE = Path(__file__).parent / "RESULTS.md"
RESULTS = Path(__file__).parent / "results.json"
REPETITIONS_MIN = 3
"""Fewer show nothing."""

Row = Mapping[str, Any]
"""The figures of a run."""
Runs = Mapping[str, Sequence[Row]]
"""Contender -> its runs, by repetition."""
Ratios = tuple[float, float]
"""The p99 of the delay over that of another assignor in the same world, and that of the lag."""


def page() -> str:
    """Return the page."""
    found = json.loads(RESULTS.read_text("utf-8"))
    runs = _by_contender(found["runs"])
    world = World(**found["runs"][0]["world"])
    parts = (
        HEAD,
        _played(world, found["machine"], runs),
        _lines(CONTENDER_HEAD, ((f"`{name}`", CONTENDERS[name].text) for name in runs)),
        "## How late records were\n",
        LATE,
        _lines(LATE_HEAD, _late(runs)),
        LAG,
        _lines(LAG_HEAD, _lag(runs)),
        "## What may be claimed\n",
        CLAIMS.format(count=len(next(iter(runs.values()))), least=REPETITIONS_MIN),
        _lines(CLAIM_HEAD, _claims(runs)),
        _verdict(runs),
        "## What it cost\n",
        COSTS_TEXT,
        _lines(COST_HEAD, _costs(runs)),
        LIMITS,
    )
    return "\n".join(parts)


def _by_contender(rows: Sequence[Row]) -> Runs:
    """Return the runs of each contender, in the order of the table and of repetitions."""
    return {
        name: sorted(
            (row for row in rows if row["contender"] == name),
            key=lambda row: int(row["world"]["seed"]),
        )
        for name in CONTENDERS
        if any(row["contender"] == name for row in rows)
    }


def _lines(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    return "\n".join(table(head, rows))


def _played(world: World, machine: Row, runs: Runs) -> str:
    text = PLAYED.format(
        members=world.member_count,
        capacities=", ".join(map(str, CAPACITIES)),
        partitions=world.partition_count,
        topics=len(world.topics),
        costs=", ".join(map(str, COSTS)),
        rate=world.rate,
        use=world.use,
        quota=world.quota,
        seconds=world.seconds,
        leaver=f"{world.leave_s:g}",
        left=world.capacity(LEAVER),
        changed=CHANGED,
        change=f"{world.change_s:g}",
        join=f"{world.join_s:g}",
        repetitions=len(next(iter(runs.values()))),
        took=machine["seconds"],
        **{name: each for name, each in machine.items() if name != "seconds"},
    )
    return "\n\n".join(fill(each, 100) for each in text.split("\n\n")) + "\n"


CONTENDER_HEAD = ("assignor", "what it is")
LATE_HEAD = ("assignor", "p50 s", "p99 s", "max s", "not processed by the end")


def _late(runs: Runs) -> Iterator[tuple[str, ...]]:
    for name, rows in runs.items():
        yield (
            f"`{name}`",
            *(_spread([row["late_s"][place] for row in rows], "{:.2f}") for place in range(3)),
            _spread([row["behind_end"] for row in rows], "{:,.0f}"),
        )


LAG_HEAD = ("assignor", "p50 s", "p99 s", "max s", "records behind, p50", "p99")


def _lag(runs: Runs) -> Iterator[tuple[str, ...]]:
    for name, rows in runs.items():
        yield (
            f"`{name}`",
            *(_spread([row["lag_s"][place] for row in rows], "{:.2f}") for place in range(3)),
            *(_spread([row["behind"][place] for row in rows], "{:,.0f}") for place in range(2)),
        )


def _spread(values: Sequence[float | None], shown: str) -> str:
    """Return the median, and the least and the largest of all repetitions."""
    known = [each for each in values if each is not None]
    if not known:
        return ""
    middle, low, high = (shown.format(of(known)) for of in (median, min, max))
    return middle if low == high else f"{middle} ({low} to {high})"


class Claim(Enum):
    """What all repetitions together show of a pair."""

    LESS = "less"
    MORE = "more"
    NONE = "none"
    TOO_FEW = "too few"


def claim(ratios: Sequence[Ratios]) -> Claim:
    """Return what the ratios of all repetitions show: both have to, in every one."""
    if len(ratios) < REPETITIONS_MIN:
        return Claim.TOO_FEW
    if all(max(each) < 1 for each in ratios):
        return Claim.LESS
    return Claim.MORE if all(min(each) > 1 for each in ratios) else Claim.NONE


def compared(runs: Runs) -> Iterator[tuple[str, str, list[Ratios]]]:
    """Yield each of ours beside each of others, with the ratios of each repetition."""
    for ours in (name for name in runs if CONTENDERS[name].is_ours):
        for other in (name for name in runs if not CONTENDERS[name].is_ours):
            pairs = list(zip(runs[ours], runs[other], strict=True))
            assert all(a["world"] == b["world"] for a, b in pairs), "the same worlds for all"
            yield ours, other, [(_p99(a, b, "late_s"), _p99(a, b, "lag_s")) for a, b in pairs]


def _p99(row: Row, other: Row, name: str) -> float:
    ratio: float = row[name][1] / other[name][1]
    return ratio


CLAIM_HEAD = ("assignor", "beside", "p99 of the delay", "p99 of the lag", "lower in", "claim")


def _claims(runs: Runs) -> Iterator[tuple[str, ...]]:
    for ours, other, ratios in compared(runs):
        yield (
            f"`{ours}`",
            f"`{other}`",
            *(", ".join(f"{each:.0%}" for each in some) for some in zip(*ratios, strict=True)),
            f"{sum(max(each) < 1 for each in ratios)} of {len(ratios)}",
            CLAIM_WORDS[claim(ratios)],
        )


CLAIM_WORDS = {
    Claim.LESS: "less lag",
    Claim.MORE: "**more lag**",
    Claim.NONE: "none",
    Claim.TOO_FEW: "none: too few repetitions",
}


def _verdict(runs: Runs) -> str:
    found = [(ours, other, claim(ratios)) for ours, other, ratios in compared(runs)]
    if any(what is Claim.TOO_FEW for _, _, what in found):
        return (
            f"Nothing may be claimed: {REPETITIONS_MIN} repetitions at least have to be played.\n"
        )
    misses = [f"`{ours}` beside `{other}`" for ours, other, what in found if what != Claim.LESS]
    return (
        f"Less lag is shown for {len(found) - len(misses)} of {len(found)} pairs"
        + (f"; not for {', '.join(misses)}." if misses else ".")
        + "\n"
    )


COST_HEAD = (
    *("assignor", "moves", "rebalances", "paused s", "processed twice"),
    *("use over bound, mean", "errors"),
)


def _costs(runs: Runs) -> Iterator[tuple[str, ...]]:
    for name, rows in runs.items():
        yield (
            f"`{name}`",
            *(
                _spread([row[key] for row in rows], shown)
                for key, shown in (
                    ("moves", "{:,.0f}"),
                    ("rounds", "{:.0f}"),
                    ("paused_s", "{:.2f}"),
                    ("twice", "{:,.0f}"),
                    ("use_mean", "{:.2f}"),
                    ("errors", "{:.0f}"),
                )
            ),
        )


HEAD = """# Assignors by weight in real groups

Do records wait less where partitions are [assigned by weight](../../../docs/weights.md)? Consumers
that need processor time for every record read from a Kafka broker, under our assignors and under
others. `make weights` measures all of it again.
"""

PLAYED = """{members} members read {partitions} partitions of {topics} topics: kafka-python 3, a
process each, the assignor in its leader. Rates of partitions are log-normal, together {rate:g}
records a second at random times (Poisson processes). By lot, a record of a partition costs one of
{costs} parts of processor time. A member burns that time, and waits after each record as under a
CPU limit of {quota:g} processors. Members have capacities of {capacities} in turn: one of 3 needs
twice the time for a record that one of 6 needs. All records together need {use:.0%} of what all
members can carry.

A run takes {seconds:g} s. After {leaver} s a member leaves (of capacity {left}); after {change} s
{changed:.0%} of the partitions change their rates among each other; after {join} s a member
joins. Each of {repetitions} repetitions has rates, costs and records of its own, the same for
every assignor; who is played first rotates. A run is short, so all that has a period has a short
one.

Kafka {kafka} on {cores} cores ({processor}), {date}: one broker, the producer and all members on
one machine. Load average {load_before:.1f} before all runs and {load_after:.1f} after them, all
together {took} s.
"""

LATE = """How long after it was due a record had been processed, in seconds; one that nobody had
processed by the end counts with its age then. Median of all repetitions, and in brackets the
least and the largest.
"""

LAG = """The lag of a partition, in seconds, is the age of its oldest record that is not processed:
0 where nothing waits. Over all partitions, four times a second; and how many records were behind,
in all partitions together:
"""

CLAIMS = """The 99th percentiles of ours as a share of those of the other, in each of {count}
repetitions. Less lag is claimed where both are less in every one, of {least} at least.
"""

COSTS_TEXT = """Moves: partitions that went to another member, also because one left or joined.
Rebalances: generations of the group. Paused: for how long a partition had no member, in the mean
of all partitions. Processed twice: records whose offset was not committed when they went to
another member. Errors: of clients, such as a commit that a rebalance refused. Use over bound: the
largest use (work of a member's partitions over its capacity, by what records really cost at that
time) over [what no assignment can be below](../../../docs/weights-bounds.md).
"""

LIMITS = """## What this does not show

* One machine, one client library, one kind of load. Processors are shared: all contenders pay
  for that, but not always at the same moment.
* Time is pressed: a real group has minutes where this one has seconds, so it shows how groups
  compare, not how long anything takes.
* Which part of a difference comes from capacities, which the assignors of others do not know, and
  which from weights is not measured.
* A new owner has nothing to load here. Where it has a cache or a state store to fill, moves cost
  more than the pause.
* The leader never leaves.
"""
