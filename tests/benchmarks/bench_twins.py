"""The copies of Kafka's assignors beside Kafka's own classes in a warmed JVM, in the same run.

    python -m tests.benchmarks.bench_twins [part of a line ...]

CPU milliseconds, the least of several runs; those of the JVM with its garbage collection. Both
sides are handed the group in their own types, so nothing is decoded; the last line is decoding
alone. Lists are made in Java's order on both sides, and before anything is timed it is made
sure that ours are the same.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from assignors import assignor_named
from assignors.conformance.groups import group_of
from tests.foreign.brokers import topic_id
from tests.foreign.convert import NAMES, agree, our_answer
from tests.foreign.judge import Judge
from tests.optimal.groups import Arrays
from tests.optimal.workloads import workload
from wire import Subscription, decode_subscription, encode_subscription

Request = dict[str, Any]

CLASSIC = (
    ("coop", "U 2000 x 1000000 / 500", ("fresh", "leave", "join")),
    ("coop", "Ha 2000 x 1000000 / 500", ("fresh", "leave")),
    ("coop", "Hb 1000 x 10000 / 100", ("fresh", "leave", "join")),
    ("range", "U 2000 x 100000 / 500", ("fresh",)),
    ("roundrobin", "U 2000 x 100000 / 500", ("fresh",)),
)
BROKER = (
    ("srv-uniform", "U 2000 x 1000000 / 500", ("fresh", "leave")),
    ("srv-uniform", "U 2000 x 100000 / 500", ("fresh", "leave")),
    ("srv-uniform", "Hb 1000 x 10000 / 100", ("fresh", "leave")),
    ("srv-range", "U 2000 x 100000 / 500", ("fresh",)),
    ("srv-simple", "U 1000 x 10000 / 100", ("fresh", "leave")),
)
RUNS_MIN = 3
SECONDS = 6.0
PATIENCE_S = 40.0
"""After that Java's one run is not waited for."""
COMPARED_MAX = 200_000
"""Partitions up to which answers are compared here; the tests compare others."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """What is timed."""

    name: str
    request: Request
    ours: Callable[[], object]


def lines(wanted: list[str]) -> Iterator[Line]:
    """Yield what is asked for, one at a time: the largest groups fill memory."""
    for algorithm, name, events in (*CLASSIC, *BROKER):
        for event, made in workload(name):
            title = f"{NAMES[algorithm]:25} {name:25} {event}"
            if event in events and _is_wanted(title, wanted):
                request = as_request(algorithm, made)
                group = group_of(request)
                assign = assignor_named(NAMES[algorithm]).assign
                yield Line(name=title, request=request, ours=partial(assign, group))
    title = f"{'decode':25} 2,000 Subscriptions of 500 numbered topics"
    if _is_wanted(title, wanted):
        blobs = numbered_topics(member_count=2000, topic_count=500)
        yield Line(
            name=title,
            request={"algo": "decode", "blobs": [blob.hex() for blob in blobs]},
            ours=lambda: [decode_subscription(blob) for blob in blobs],
        )


def as_request(algorithm: str, made: Arrays) -> Request:
    """Return a workload as Kafka's classes are handed it."""
    sizes = np.diff(made.first).tolist()
    is_broker = algorithm.startswith("srv-")
    topics = [_topic_id(n) if is_broker else f"topic-{n:04}" for n in range(len(sizes))]
    owned: list[list[list[Any]]] = [[] for _ in range(made.member_count)]
    topic_of, number = (
        made.topic_of.tolist(),
        np.arange(len(made.owner)) - made.first[made.topic_of],
    )
    for owner, topic, partition in zip(made.owner.tolist(), topic_of, number.tolist(), strict=True):
        if owner >= 0:
            owned[owner].append([topics[topic], partition])
    lists = [[topics[topic] for topic in np.flatnonzero(row).tolist()] for row in made.takes]
    members = [
        {
            "id": f"member-{n:05}",
            "topics": lists[kind],
            "rack": None,
            "instance": None,
            "owned": owned[n],
            "sgen": 5 if owned[n] else -1,
            "ud": None,
        }
        for n, kind in enumerate(made.class_of.tolist())
    ]
    shown = sizes if is_broker else [[[]] * size for size in sizes]
    return {"algo": algorithm, "topics": dict(zip(topics, shown, strict=True)), "members": members}


def numbered_topics(*, member_count: int, topic_count: int) -> list[bytes]:
    """Return Subscriptions whose members own a partition of every topic, as balanced ones do."""
    topics = tuple(f"topic-{number:04}" for number in range(topic_count))
    return [
        encode_subscription(
            Subscription(topics=topics, owned=dict.fromkeys(topics, (member,)), generation=5)
        )
        for member in range(member_count)
    ]


def cpu_ms(run: Callable[[], object]) -> float:
    """Return the least CPU time of some runs."""
    spent: list[float] = []
    until = time.perf_counter() + SECONDS / 4
    while len(spent) < RUNS_MIN or time.perf_counter() < until:
        begin = time.process_time()
        run()
        spent.append(time.process_time() - begin)
    return min(spent) * 1000


def java_ms(judge: Judge, request: Request) -> float | None:
    """Return Java's least; None where it does not come to an end in time."""
    timed = {"algo": "time", "in": request, "times": RUNS_MIN, "seconds": SECONDS}
    answer = judge.ask(timed)
    if "err" in answer:
        assert answer["err"].startswith("JudgeTimeout"), answer
        return None
    return float(min(answer["cpu_ms"]))


def main(wanted: list[str]) -> None:
    """Print the table."""
    print(f"{'assignor':25} {'members x partitions / topics':34} {'ours, ms':>9}", end="")
    print(f" {'Java, ms':>9}  ours / Java")
    with Judge(timeout_s=PATIENCE_S, heap="6g") as judge:
        for line in lines(wanted):
            request = line.request
            if 0 < _claims(request) < COMPARED_MAX:
                assert agree(request, judge.ask(request), our_answer(request)), line.name
            spent, theirs = cpu_ms(line.ours), java_ms(judge, request)
            shown = f"> {PATIENCE_S * 1000:,.0f}" if theirs is None else f"{theirs:,.1f}"
            ratio = "" if theirs is None else f"{spent / theirs:.2f}"
            print(f"{line.name:60} {spent:9,.1f} {shown:>9} {ratio:>12}", flush=True)


def _claims(request: Request) -> int:
    return sum(len(member["owned"]) for member in request.get("members", ()))


def _is_wanted(title: str, wanted: list[str]) -> bool:
    return not wanted or any(part in title for part in wanted)


def _topic_id(number: int) -> str:
    """Return a topic id like a random one, the same on every run."""
    dice = np.random.default_rng(number)
    return topic_id(dice.bytes(16))


if __name__ == "__main__":
    main(sys.argv[1:])
