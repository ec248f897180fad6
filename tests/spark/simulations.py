"""What every engine simulates: rows of every kind, good and bad ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from assignors.cli.outputs.cells import dumps
from assignors.simulation.arrow import COORDINATORS, INTERVALS, ROUNDS, TIMED, TRAFFIC, RowKind
from assignors.simulation.rounds.scenario_rows import simulate_rows
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario_document import document_from_scenario
from assignors.simulation.timed.sweeps.rows import measured_rows
from assignors.simulation.timed.tables.rows import interval_rows, result_rows
from assignors.simulation.traffic.rows import traffic_rows
from wire import Subscription, encode_subscription

ASSIGNORS = ["range", "roundrobin", "sticky", "cooperative-sticky"]
WITH_TRAFFIC = ["range", "weighted/cooperative-weighted"]
SIZES_DDL = (
    "id string, seed bigint, members int, topics int, partitions int, subscription string, "
    "events int, wire boolean"
)
GROUPS_DDL = (
    "id string, seed bigint, events int, topics map<string, int>, "
    "members array<struct<id: string, instance: string, subscription: binary>>"
)
TIMED_DDL = "factor int, scenario string, seed bigint, protocol string"
SWEEP = {
    "version": 1,
    "models": ["blocking", "two-stage", "per-group"],
    "base": {"requests": 150, "groups": 5, "slow_group_check_us": 4000},
    "over": {"check_us": [0, 1000], "linger_us": [None, 2000]},
    "seeds": 2,
}
TRAFFIC_SCENARIO = {
    "version": 1,
    "until_s": 300,
    "topics": {"t": 6},
    "members": [{"name": "a"}, {"name": "b"}],
}

Rows = list[dict[str, Any]]


class Case(NamedTuple):
    """Rows that an engine plays."""

    function: str
    """In `assignors.simulation.spark`."""
    options: Mapping[str, Any]
    kind: RowKind
    rows: Callable[[], Rows]
    ddl: str
    plain: Callable[[Iterable[dict[str, Any]]], Iterable[dict[str, Any]]]
    """Plays them in plain Python."""

    def expected(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of plain Python, with the other columns of the rows they come from."""
        for row in self.rows():
            others = {name: row[name] for name in row if name not in self.kind.given}
            for made in self.plain([row]):
                yield {**others, **made}


def size_rows() -> list[dict[str, Any]]:
    """Scenarios to generate, every shape, and rows that are no scenario."""
    shapes = ["equal", "half", "few", "chain", "disjoint"]
    rows = [
        {
            "id": f"s{seed}",
            "seed": seed,
            "members": 1 + seed % 6,
            "topics": 1 + seed % 4,
            "partitions": seed % 13,
            "subscription": shapes[seed % 5],
            "events": 3,
            "wire": seed % 2 == 0,
        }
        for seed in range(30)
    ]
    rows.append({**rows[0], "id": "no seed", "seed": None})
    rows.append({**rows[0], "id": "too few", "members": -1})
    rows.append({**rows[0], "id": "no shape", "subscription": "ring"})
    return rows


def group_rows() -> list[dict[str, Any]]:
    """Groups given member by member, one of them odd in every way, and rows that are none."""
    owned = Subscription(topics=("t", "u"), owned={"t": (0, 1, 2)}, generation=4)
    fresh = Subscription(topics=("t",), version=1)
    blobs = [encode_subscription(owned), encode_subscription(fresh), b"\x00\x01", b""]
    members = [
        {"id": f"m{number}", "instance": "i" if number == 1 else None, "subscription": blob}
        for number, blob in enumerate(blobs)
    ]
    topics = {"t": 5, "u": 2}
    good = {"id": "g", "seed": 5, "events": 2, "topics": topics, "members": members}
    return [
        good,
        {**good, "id": "alone", "members": members[:1], "events": 0},
        {**good, "id": "null topics", "topics": None},
        {**good, "id": "twice", "members": [members[0], members[0]]},
        {**good, "id": "no bytes", "members": [{**members[0], "subscription": None}]},
        {**good, "id": "nobody", "members": []},
    ]


def timed_rows() -> Rows:
    """Two scenarios under two protocols and three seeds, and rows that are none."""
    written = dumps(document_from_scenario(named("scale-out")))
    rows = [
        {"factor": factor, "scenario": scenario, "seed": seed, "protocol": protocol}
        for factor, scenario in enumerate(("crash", written))
        for protocol in ("classic", "consumer")
        for seed in range(3)
    ]
    rows.append({**rows[0], "scenario": "{}"})
    rows.append({**rows[0], "protocol": "share"})
    return rows


def traffic_scenarios() -> Rows:
    """A scenario with two seeds, and one that cannot be."""
    text, bad = json.dumps(TRAFFIC_SCENARIO), json.dumps({**TRAFFIC_SCENARIO, "use": 0})
    return [
        {"scenario": given, "seed": seed} for given, seed in ((text, 1), (bad, 2), (text, None))
    ]


def points() -> Rows:
    """Points of a sweep, and rows that are none."""
    given: Sequence[tuple[str, str | None, int | None]] = (
        ("a", "blocking", 1000),
        ("b", "fast", 0),
        ("c", "inline", -1),
        ("d", None, None),
    )
    return [{"factor": f, "model": model, "check_us": check} for f, model, check in given]


IN_ROUNDS = {"assignors": ASSIGNORS}
OF_TRAFFIC = {"assignors": WITH_TRAFFIC}
CASES = {
    "sizes": Case(
        "simulate_rounds",
        IN_ROUNDS,
        ROUNDS,
        size_rows,
        SIZES_DDL,
        partial(simulate_rows, assignors=ASSIGNORS),
    ),
    "groups": Case(
        "simulate_rounds",
        IN_ROUNDS,
        ROUNDS,
        group_rows,
        GROUPS_DDL,
        partial(simulate_rows, assignors=ASSIGNORS),
    ),
    "timed": Case("simulate_timed", {}, TIMED, timed_rows, TIMED_DDL, result_rows),
    "intervals": Case(
        "timed_intervals", {}, INTERVALS, lambda: timed_rows()[:2], TIMED_DDL, interval_rows
    ),
    "traffic": Case(
        "simulate_traffic",
        OF_TRAFFIC,
        TRAFFIC,
        traffic_scenarios,
        "scenario string, seed bigint",
        partial(traffic_rows, assignors=WITH_TRAFFIC),
    ),
    "coordinators": Case(
        "simulate_coordinators",
        {},
        COORDINATORS,
        points,
        "factor string, model string, check_us int",
        measured_rows,
    ),
}
