"""A contender written in Python, as a program: ours, kafka-python, aiokafka.

    python -m tests.benchmarks.peers.contender FOLDER ALGORITHM STAGE SECONDS EVENT...

Like the programs in Java and Go (`Contender.java`, `contender/main.go`) it reads the group files
of `FOLDER` and prints a JSON object for each event:

    {"event": "leave", "cold_ms": 9.1, "least_ms": 7.2, "runs": 40, "peak_mb": 3.1}

`cold_ms` is the first call, `least_ms` the least of all but the lowest tenth: what a clock says
wrongly once in thousands of calls would be the least of all. CPU time. Reading a clock takes as
long as a third of the shortest calls: they are timed by many at once. `peak_mb` is by how much the
first call raised the resident memory of the process at its peak. Stages:

    assign   members are decoded already; nothing is encoded
    full     from everybody's Subscription bytes to everybody's Assignment bytes
    solve    the new owners by those before, as arrays: claims have been judged already
    plan     one eager assignment, not timed: `EVENT.ALGORITHM.plan` gets who has what
"""

from __future__ import annotations

import ctypes
import json
import logging
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from assignors import Cluster, Group, Topic, assignor_named, lead
from assignors.assignor import UserData
from assignors.claims import claims_of, favoured_owners
from assignors.group_bytes.subscriptions import read_members
from assignors.optimal.assign import target_assignment
from assignors.problem import problem_of
from tests.benchmarks.peers.group_files import (
    COOPERATIVE,
    EAGER,
    GENERATION,
    GroupFile,
    read_group,
)
from wire import TopicPartitions, decode_sticky_user_data

Given = Mapping[str, TopicPartitions]
RUNS_MIN = 3
LONG_S = 2.0
"""A contender that is this long beyond its time does not get its three calls."""
SHORT_MS, TOGETHER = 0.2, 100
"""Calls are timed together until they take this long; how many at most."""
CLOCK_MS = 1e-6


@dataclass(frozen=True, slots=True)
class Call:
    """What is timed: `run` of what `prepare` returns, which is made anew each time."""

    prepare: Callable[[], Any]
    run: Callable[[Any], Any]


def measured(call: Call, seconds: float) -> dict[str, float]:
    """Time a call again and again for so many seconds."""
    spent: list[float] = []
    ready = [call.prepare()]
    runs = 0
    before = _resident_mb()
    until = time.process_time() + seconds  # CPU time: a busy machine does not make it less
    while True:
        begin = time.process_time_ns()
        for each in ready:
            answer = call.run(each)
        spent.append((time.process_time_ns() - begin) / 1e6 / len(ready))
        if not runs:
            peak = _peak_mb() - before
        del answer
        runs += len(ready)
        late = time.process_time() - until
        if late > LONG_S or (late > 0 and runs >= RUNS_MIN):
            break
        together = max(1, min(int(SHORT_MS / max(spent[-1], CLOCK_MS)), TOGETHER))
        ready = [call.prepare() for _ in range(together)]
    return {"cold_ms": spent[0], "least_ms": least(spent), "runs": runs, "peak_mb": peak}


def least(spent: list[float]) -> float:
    """Return the least of all but the lowest tenth.

    >>> least([2.0, 3.0]), least([0.1, *[2.0] * 9])
    (2.0, 2.0)
    """
    return sorted(spent)[len(spent) // 10]


# --- ours


def ours(folder: Path, event: str, stage: str, *, name: str) -> Call:
    """Our assignors, as a leader calls them."""
    protocol = COOPERATIVE if name == "cooperative-sticky" else EAGER
    group = read_group(folder / f"{event}.{protocol}")
    cluster, assignor = _cluster(group), assignor_named(name)
    blobs = dict(zip(group.member_ids, group.blobs, strict=True))
    leads = partial(lead, assignor, cluster, joined=GENERATION + 1)
    if stage == "full":
        return Call(lambda: blobs, lambda blobs: leads(blobs).assignments)

    def decoded() -> Group:
        return Group(cluster=cluster, members=read_members(blobs), joined=GENERATION + 1)

    if stage == "solve":
        problem = problem_of(decoded())
        owners = favoured_owners(claims_of(problem, decoded(), UserData.COOPERATIVE))
        return Call(lambda: None, lambda _: target_assignment(problem, owners))
    return Call(decoded, lambda group: assignor.assign(group).assignment)


def ours_twice(folder: Path, event: str, stage: str) -> Call:
    """Do everything twice, to see that a lost ratio is noticed."""
    call = ours(folder, event, stage, name="cooperative-sticky")
    return Call(call.prepare, lambda ready: (call.run(ready), call.run(ready)))


def _cluster(group: GroupFile) -> Cluster:
    if not group.replica_racks.shape[1]:
        return Cluster.of(group.topics)
    racks = [tuple(f"rack-{rack}" for rack in row) for row in group.replica_racks.tolist()]
    topics, at = {}, 0
    for name, count in group.topics.items():
        topics[name] = Topic(partition_count=count, racks=tuple(racks[at : at + count]))
        at += count
    return Cluster(topics=topics)


# --- kafka-python and aiokafka


class Metadata:
    """What both ask of the cluster's metadata."""

    def __init__(self, topics: dict[str, int]) -> None:
        self._partitions = {topic: set(range(count)) for topic, count in topics.items()}

    def topics(self) -> set[str]:
        return set(self._partitions)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        found = self._partitions.get(topic)
        return None if found is None else set(found)


def kafka_python(folder: Path, event: str, stage: str) -> Call:
    """Lead as kafka-python's coordinator does; `plan` with its eager assignor."""
    from kafka.coordinator.assignors import cooperative_sticky  # noqa: PLC0415
    from kafka.coordinator.assignors.sticky import (  # noqa: PLC0415
        sticky_assignor,
        user_data,
    )
    from kafka.protocol.consumer.group import JoinGroupResponse  # noqa: PLC0415
    from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription  # noqa: PLC0415

    group = read_group(folder / f"{event}.{EAGER if stage == 'plan' else COOPERATIVE}")
    metadata = Metadata(group.topics)

    def decoded(_: Any = None) -> list[Any]:
        members = []
        for name, blob in zip(group.member_ids, group.blobs, strict=True):
            read = ConsumerProtocolSubscription.decode(blob)
            if stage == "plan":
                # Its UserData begins with two bytes of its own: Java's cannot be read by it.
                claims = decode_sticky_user_data(read.user_data).value
                assert claims is not None
                read.user_data = user_data.StickyAssignorUserData(
                    list(claims.owned.items()), claims.generation
                )
            members.append(
                JoinGroupResponse.JoinGroupResponseMember(
                    member_id=name, group_instance_id=None, metadata=read
                )
            )
        return members

    if stage == "plan":
        return Call(decoded, lambda members: _kafka_python_plan(sticky_assignor, metadata, members))
    assign = cooperative_sticky.CooperativeStickyAssignor

    def full(_: Any) -> dict[str, bytes]:
        answer = assign().assign(metadata, decoded())
        return {name: assigned.encode() for name, assigned in answer.items()}

    if stage == "full":
        return Call(lambda: None, full)
    return Call(decoded, lambda members: assign().assign(metadata, members))


def _kafka_python_plan(module: Any, metadata: Metadata, members: list[Any]) -> Given:
    answer = module.StickyPartitionAssignor().assign(metadata, members)
    return {name: dict(assigned.assigned_partitions) for name, assigned in answer.items()}


def aiokafka(folder: Path, event: str, stage: str) -> Call:
    """Lead as aiokafka's coordinator does; it has no cooperative assignor."""
    from aiokafka.coordinator.assignors.sticky.sticky_assignor import (  # noqa: PLC0415
        StickyPartitionAssignor,
    )
    from aiokafka.coordinator.protocol import ConsumerProtocolMemberMetadata  # noqa: PLC0415

    group = read_group(folder / f"{event}.{EAGER}")
    metadata = Metadata(group.topics)
    blobs = dict(zip(group.member_ids, group.blobs, strict=True))

    def decoded() -> dict[str, Any]:
        return {name: ConsumerProtocolMemberMetadata.decode(blob) for name, blob in blobs.items()}

    def full(_: Any) -> dict[str, bytes]:
        answer = StickyPartitionAssignor.assign(metadata, decoded())
        return {name: assigned.encode() for name, assigned in answer.items()}

    def plan(members: dict[str, Any]) -> Given:
        answer = StickyPartitionAssignor.assign(metadata, members)
        return {name: dict(assigned.assignment) for name, assigned in answer.items()}

    return Call(lambda: None, full) if stage == "full" else Call(decoded, plan)


# --- the program

ALGORITHMS: dict[str, Callable[[Path, str, str], Call]] = {
    "ours": partial(ours, name="cooperative-sticky"),
    "ours-sticky": partial(ours, name="sticky"),
    "ours-twice": ours_twice,
    "kafka-python": kafka_python,
    "aiokafka": aiokafka,
}


def write_plan(path: Path, group: GroupFile, given: Given) -> None:
    """Write who got what."""
    sizes = list(group.topics.values())
    first = dict(zip(group.topics, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
    owner = np.full(sum(sizes), -1, dtype=">i4")
    for number, name in enumerate(group.member_ids):
        for topic, partitions in given[name].items():
            owner[first[topic] + np.array(partitions, dtype=np.int64)] = number
    path.write_bytes(owner.tobytes())


def main(arguments: list[str]) -> None:
    """Measure one stage of one contender."""
    logging.disable(logging.CRITICAL)
    folder, algorithm, stage, seconds, *events = arguments
    for event in events:
        call = ALGORITHMS[algorithm](Path(folder), event, stage)
        if stage == "plan":
            group = read_group(Path(folder) / f"{event}.{EAGER}")
            given = call.run(call.prepare())
            write_plan(Path(folder) / f"{event}.{algorithm}.plan", group, given)
            print(json.dumps({"event": event}), flush=True)
        else:
            print(json.dumps({"event": event, **measured(call, float(seconds))}), flush=True)


def _resident_mb() -> float:
    """Return the resident memory now, and begin a new peak; what is free goes back first."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def _peak_mb() -> float:
    return _status("VmHWM")


def _status(name: str) -> float:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.partition(f"{name}:")[2].split()[0]) / 1024


if __name__ == "__main__":
    main(sys.argv[1:])
