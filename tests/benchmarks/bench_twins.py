"""The copies of Kafka's assignors beside Kafka's own classes in a warmed JVM, in the same run.

    python -m tests.benchmarks.bench_twins [part of a line ...] [--seconds N] [--patience N]

"server/" are the broker's lines. All of them take about seven minutes, of which the groups of a
million partitions take four: to make them for Java, and to wait where it does not come to an end.

CPU milliseconds, the least of several runs; those of the JVM with its garbage collection. Both
sides run by turns, line by line, so that what else the machine does slows both down. They are
handed the group in their own types, so nothing is decoded; the last line is decoding alone. A
broker's previous target is on both sides what the last answer was: maps, which Java changes where
they change, and rows of arrays (`Rebalance.assignment` of the round before). "as dicts" is the same
target read from elsewhere, a dictionary for each member; so is a small group's last answer. Lists
are made in Java's order on both sides, and before anything is timed it is made sure that ours are
the same.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from assignors import Group, assignor_named
from assignors.arrays import OwnedPartitions, partition_arrays
from assignors.conformance.groups import group_of
from assignors.jvm.hash_trees import name_order
from assignors.jvm.ordered_assignment import PartitionsByMember, ordered_by_member
from tests.foreign.brokers import topic_id
from tests.foreign.convert import NAMES, agree, our_answer
from tests.foreign.judge import Judge
from tests.optimal.groups import Arrays
from tests.optimal.workloads import workload
from wire import Subscription, decode_subscription, encode_subscription
from wire.text import utf16_sorted

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
    ("srv-uniform", "Hb 100 x 1000 / 10", ("fresh", "leave")),
    ("srv-uniform", "Hb 20 x 200 / 10", ("fresh", "leave")),
    ("srv-uniform", "U 100 x 1000 / 10", ("fresh", "leave")),
    ("srv-uniform", "U 30 x 300 / 3", ("fresh", "leave")),
    ("srv-uniform", "U 3 x 12 / 1", ("fresh", "leave")),
    ("srv-range", "U 2000 x 100000 / 500", ("fresh",)),
    ("srv-simple", "U 1000 x 10000 / 100", ("fresh", "leave")),
)
RUNS_MIN = 3
TURNS = 2
"""So many times each side runs."""
SECONDS = 4.0
"""Of Java's runs of one line, all turns together: a second of its own makes it warm."""
PATIENCE_S = 20.0
"""After that Java's one run is not waited for."""
AS_DICTS = ", as dicts"
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
                yield from _lines_of(title, request, group_of(request), NAMES[algorithm])
    title = f"{'decode':25} 2,000 Subscriptions of 500 numbered topics"
    if _is_wanted(title, wanted):
        blobs = numbered_topics(member_count=2000, topic_count=500)
        yield Line(
            name=title,
            request={"algo": "decode", "blobs": [blob.hex() for blob in blobs]},
            ours=lambda: [decode_subscription(blob) for blob in blobs],
        )


def _lines_of(title: str, request: Request, group: Group, name: str) -> Iterator[Line]:
    """Yield the lines of one group: a broker's with its previous target in both forms.

    Of groups that are answered on lists the last answer was dictionaries.
    """
    assign = assignor_named(name).assign
    if (
        not _claims(request)
        or not request["algo"].startswith("srv-")
        or not any(type(s) is OwnedPartitions for s in assign(group).assignment.values())
    ):
        yield Line(name=title, request=request, ours=partial(assign, group))
        return
    yield Line(name=title + AS_DICTS, request=request, ours=partial(assign, group))
    yield Line(name=title, request=request, ours=partial(assign, from_last_answer(group)))


def from_last_answer(group: Group) -> Group:
    """Return the group with what members own as an answer has it that somebody more was in.

    That member had what nobody has now, as one that has left.
    """
    gone = "gone"
    ids = [*(member.member_id for member in group.members), gone]
    ids = [ids[place] for place in name_order(ids).tolist()]
    owned = {member.member_id: member.owned for member in group.members}
    had = {(t, n) for each in owned.values() for t, numbers in each.items() for n in numbers}
    topics = tuple(utf16_sorted(group.cluster.topics))
    index = {name: topic for topic, name in enumerate(topics)}
    left: dict[str, list[int]] = {}
    for name in topics:
        for number in range(group.cluster.topics[name].partition_count):
            if (name, number) not in had:
                left.setdefault(name, []).append(number)
    owned[gone] = {name: tuple(numbers) for name, numbers in left.items()}
    given = partition_arrays([owned[member_id] for member_id in ids], index)
    held = ordered_by_member(
        tuple(ids),
        topics,
        member=given.member_of,
        topic=given.topic_of.astype(np.int32),
        number=given.number.astype(np.int32),
    )
    shares = PartitionsByMember(held)
    members = tuple(replace(m, owned=shares[m.member_id]) for m in group.members)
    return replace(group, members=members)


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


def cpu_ms(run: Callable[[], object], seconds: float) -> float:
    """Return the least CPU time of the runs in so many seconds, of some at least."""
    spent: list[float] = []
    until = time.perf_counter() + seconds
    while len(spent) < RUNS_MIN or time.perf_counter() < until:
        begin = time.process_time()
        run()
        spent.append(time.process_time() - begin)
    return min(spent) * 1000


def java_ms(judge: Judge, request: Request, seconds: float) -> float | None:
    """Return Java's least of so many seconds; None where it does not come to an end in time."""
    timed = {"algo": "time", "in": request, "times": 1, "seconds": seconds}
    answer = judge.ask(timed)
    if "err" in answer:
        assert answer["err"].startswith("JudgeTimeout"), answer
        return None
    return float(min(answer["cpu_ms"]))


def by_turns(judge: Judge, line: Line, seconds: float) -> tuple[float, float | None]:
    """Return our least and Java's, which has so many seconds; its first turn warms it up."""
    spent, theirs = [], []
    for _ in range(TURNS):
        spent.append(cpu_ms(line.ours, seconds / 5 / TURNS))
        taken = java_ms(judge, line.request, seconds / TURNS)
        if taken is None:
            return min(spent), None
        theirs.append(taken)
    return min(spent), min(theirs)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wanted", nargs="*", help="parts of lines; none: all lines")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of Java, each line")
    parser.add_argument("--patience", type=float, default=PATIENCE_S, help="for one run of Java")
    asked = parser.parse_args()
    before = os.getloadavg()[1]
    print(f"{'assignor':25} {'members x partitions / topics':42} {'ours, ms':>9}", end="")
    print(f" {'Java, ms':>9}  ours / Java")
    with Judge(timeout_s=asked.patience, heap="6g") as judge:
        least: dict[str, float] = {}
        for line in lines(asked.wanted):
            request = line.request
            if 0 < _claims(request) < COMPARED_MAX:
                assert agree(request, judge.ask(request), our_answer(request)), line.name
            spent, theirs = by_turns(judge, line, asked.seconds)
            if theirs is not None:  # of one request Java has one figure: its least so far
                group = line.name.removesuffix(AS_DICTS)
                theirs = least[group] = min(theirs, least.get(group, theirs))
            shown = f"> {asked.patience * 1000:,.0f}" if theirs is None else f"{theirs:,.2f}"
            ratio = "" if theirs is None else f"{spent / theirs:.2f}"
            print(f"{line.name:68} {spent:9,.2f} {shown:>9} {ratio:>12}", flush=True)
    print(f"load average of the machine: {before:.1f} before, {os.getloadavg()[1]:.1f} after")


def _claims(request: Request) -> int:
    return sum(len(member["owned"]) for member in request.get("members", ()))


def _is_wanted(title: str, wanted: list[str]) -> bool:
    return not wanted or any(part in title for part in wanted)


def _topic_id(number: int) -> str:
    """Return a topic id like a random one, the same on every run."""
    dice = np.random.default_rng(number)
    return topic_id(dice.bytes(16))


if __name__ == "__main__":
    main()
