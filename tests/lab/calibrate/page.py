"""RESULTS.md: what real groups did, and what was predicted of them, from results.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from assignors.simulation.timed.scenario import Verb
from tests.docs.source import table
from tests.lab.calibrate.compare import is_near
from tests.lab.calibrate.plan import KINDS
from tests.lab.calibrate.simulated import Constants

PAGE = Path(__file__).parent / "RESULTS.md"
RESULTS = Path(__file__).parent / "results.json"
VERBS = {Verb.START.value: "join", Verb.STOP.value: "leave"}
FIGURES = ("idle_s", "duration_s")
"""Figures whose medians count."""

Part = Mapping[str, Any]
"""Recordings that were compared together, and their rows."""

HEAD = """# What the timed simulator predicts of real groups

Written by `make calibrate`. The same plan is played by real members on a Kafka 4.4.0 broker and by
the simulator, verb for verb at the same moments: a member joins a group at rest, and leaves it
again, at a random phase of the heartbeats, with the defaults of clients and broker, ten partitions
a member. Constants are fitted to groups of 10 in one recording. Groups of 3 and 30, and all other
recordings, are predictions.

Idle is in partition-seconds. The time is in seconds, from the start of the member's process or of
its close to the last partition taken. The tables have the 5th, 50th and 95th percentile. A median
is near within 10 % or 50 ms. Repetitions after which the group was not at rest in time are counted
in brackets, and left out.

## Hits and misses

"""
FINDINGS = """
## What the recordings show

* librdkafka's heartbeats go on over a rebalance (`heartbeats_go_on`). Those of Java's client start
  again with each generation, those of kafka-python with each assignment.
* librdkafka's main thread acts when it wakes: for a message, once a second, and every half second
  after an assignment (`wake_ms`). So its heartbeats are 3.000 to 3.006 s apart, and a newcomer may
  join again 0.5 or 1.0 s late. Each wake is late by some milliseconds on a busy machine
  (`wake_late_us`), and nothing makes up for it.
* Members of one process are handled one after the other (`handling_us`), so an eager round costs
  more in a larger group: from the first assigned member to the last, ten members take 2 ms with
  librdkafka, 6 ms with Java's client and 12 ms with kafka-python.
* A member of kafka-python, or of Java's KIP-848 client, continues a rebalance at the end of its
  current poll (`poll_ms`, `poll_spread_ms`). kafka-python 3.0.12 loses an assignment that arrives
  between two polls and joins again (`between_polls_us`).
* A heartbeat of Java's client is due after thirty waits of 100 ms. An idle consumer is 0 to 2 ms
  late; one whose polls are busy is 5 to 40 ms late.
* Where 22 groups shared two cores, eager groups were 1.4 to 7 times as long without consumers as
  predicted: a member that waits for a processor holds up everybody.
"""


def page() -> str:
    """Return the page."""
    document = json.loads(RESULTS.read_text("utf-8"))
    parts: list[Part] = document["parts"]
    head = ("recordings", "groups", "medians near", "moves equal", "generations equal")
    lines = [*table(head, (row for part in parts for row in _hits(part)))]
    for part in parts:
        lines += [f"## Recordings {_name(part)}", "", *_recordings(part), *_times(part)]
    lines += ["## Constants", "", *_constants(document["constants"])]
    return HEAD + "\n".join(lines) + "\n" + FINDINGS


def _name(part: Part) -> str:
    return ", ".join(each["name"] for each in part["recordings"])


def _class(cell: str) -> str:
    kind = KINDS[cell.rpartition("-")[0]]
    if not kind.is_eager:
        return "cooperative and KIP-848"
    return "eager, librdkafka" if kind.client == "librdkafka" else "eager, Java and kafka-python"


def _hits(part: Part) -> Iterator[tuple[str, ...]]:
    """Yield how much was predicted, by class of groups."""
    for name in dict.fromkeys(_class(row["cell"]) for row in part["rows"]):
        rows = [row for row in part["rows"] if _class(row["cell"]) == name]
        near = [_is_near(row, figure) for row in rows for figure in FIGURES]
        count = sum(row["repetitions"] for row in rows)
        equal = (
            f"{sum(row[each] for row in rows)} of {count}" for each in ("moves", "generations")
        )
        yield _name(part), name, f"{sum(near)} of {len(near)}", *equal


def _is_near(row: Mapping[str, Any], figure: str) -> bool:
    times = row["times"][figure]
    return is_near(times["real"][1], times["simulated"][1])


def _recordings(part: Part) -> Iterator[str]:
    head = ("recording", "machine", "clients", "groups a cell", "load average", "fitted to it")
    rows = [
        (
            each["name"],
            f"{each['date']}, {each['processor']}, {each['cores']} cores",
            ", ".join(f"{name} {version}" for name, version in each["clients"].items()),
            str(each["groups"]),
            "; ".join(
                f"{load['load_median']} (at most {load['load_max']}) with {load['groups']} groups"
                for load in each["loads"]
            ),
            each["fitted"] or "none",
        )
        for each in part["recordings"]
    ]
    return table(head, rows)


def _times(part: Part) -> Iterator[str]:
    head = ("cell", "", "n", "idle, real", "predicted", "", "time, real", "predicted", "", "rounds")
    return table(head, map(_row, part["rows"]))


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    (more, share), count = row["more_rounds"], row["repetitions"]
    cells = []
    for figure in FIGURES:
        times = row["times"][figure]
        cells += [
            *(" / ".join(f"{each:.2f}" for each in times[side]) for side in ("real", "simulated")),
            "" if _is_near(row, figure) else "miss",
        ]
    return (
        row["cell"],
        VERBS[row["verb"]],
        f"{count} (+ {row['unsettled']})" if row["unsettled"] else str(count),
        *cells,
        f"{more / max(count, 1):.0%} / {share:.0%} have one more" if more or share else "",
    )


def _constants(constants: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    names = [each.name for each in fields(Constants)]
    rows = [(kind, *(str(each[name]) for name in names)) for kind, each in constants.items()]
    return table(("kind", *(f"`{name}`" for name in names)), rows)
