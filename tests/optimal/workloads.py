"""The groups that speed and quality are measured on, made from seeds; also used by benchmarks.

Equal subscriptions (U), one member that differs (Ha), a random half of the topics each (Hb),
three topics each (Hc), five separate buckets (Hd), windows of two topics along a chain (He), and
equal subscriptions in three racks with one (R1) or two (R2) replicas of each partition. V and Vb
are U and Hb whose topics have names of different lengths. Each comes settled, without regard to
racks, and then something happens to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from heapq import heapify, heapreplace
from random import Random

import numpy as np

from assignors.problem import Int32
from tests.optimal.groups import Arrays, arrays

EVENTS = ("fresh", "leave", "join", "replace", "grow")
TINY = ("U 3 x 12 / 1", "U 30 x 300 / 3")
SMALL = ("U 100 x 1000 / 10", "Hb 100 x 1000 / 10", "Hc 500 x 3000 / 60", "He 500 x 3352 / 50")
LARGE = (
    "U 1000 x 10000 / 100",
    "U 2000 x 100000 / 500",
    "U 2000 x 1000000 / 500",
    "U 10000 x 500000 / 1000",
    "Ha 2000 x 1000000 / 500",
    "Hb 1000 x 10000 / 100",
    "Hd 1000 x 10000 / 100",
)
NAMED = ("V 1000 x 10000 / 100", "Vb 1000 x 10000 / 100")
RACKED = ("R1 1000 x 10000 / 100", "R2 1000 x 10000 / 100")
RACKS = 3


def workload(name: str) -> Iterator[tuple[str, Arrays]]:
    """Yield (event, group after the event) for each event, `owner` as it was before it."""
    before = settled(name)
    sizes = np.diff(before.first).tolist()
    present = present_members(name)
    lists = _lists(name)
    for event in EVENTS:
        members = present[event]
        grown = max(1, sizes[0] // 10) if event == "grow" else 0
        number = np.full(len(lists) + 1, -1, dtype=np.int32)
        number[members] = np.arange(len(members))
        made = arrays([sizes[0] + grown, *sizes[1:]], [lists[member] for member in members])
        if event != "fresh":
            owner = np.insert(number[before.owner], sizes[0], np.full(grown, -1))
            made = replace(made, owner=owner)
        yield event, _with_racks(name, made, members)


def present_members(name: str) -> dict[str, list[int]]:
    """Return which members the group has after each event, numbered as in the settled group.

    Newcomers follow the `members` of the name.
    """
    _, count, _, _ = parts(name)
    everybody = list(range(count))
    newcomers = range(count, count + max(1, count // 10))
    gone = set(everybody[::10][: len(newcomers)])
    return {
        "fresh": everybody,
        "leave": [member for member in everybody if member != count // 2],
        "join": [*everybody, count],
        "replace": [*(member for member in everybody if member not in gone), *newcomers],
        "grow": everybody,
    }


def settled(name: str) -> Arrays:
    """Return the group before any event, with `owner` set."""
    kind, members, partitions, topics = parts(name)
    sizes = [partitions // topics] * topics
    if kind == "He":
        sizes = [20 + 8 * (7 * topic % 13) for topic in range(topics)]
    made = arrays(sizes, _lists(name)[:members])
    return _with_racks(name, replace(made, owner=_settled(kind, made)), list(range(members)))


def parts(name: str) -> tuple[str, int, int, int]:
    """Return kind, members, partitions and topics of a workload's name.

    >>> parts("U 3 x 12 / 1")
    ('U', 3, 12, 1)
    """
    kind, members, _, partitions, _, topics = name.split()
    return kind, int(members), int(partitions), int(topics)


def _lists(name: str) -> list[list[int]]:
    """Return what each member takes, newcomers last."""
    kind, members, _, topics = parts(name)
    dice = Random(name)
    count = members + max(1, members // 10)
    return [_topics(kind, dice, number, members, topics) for number in range(count)]


def _with_racks(name: str, made: Arrays, members: list[int]) -> Arrays:
    """Return the group with racks of members and replicas, where the workload has some."""
    kind, *_ = parts(name)
    if kind not in {"R1", "R2"}:
        return made
    racks = np.arange(RACKS)
    replica_racks = np.zeros((RACKS, RACKS), dtype=np.bool_)
    for replica in range(int(kind[1])):
        replica_racks[racks, (racks + replica) % RACKS] = True
    rack = np.array(members) * 7 % RACKS
    replica_set = np.random.default_rng(5).integers(0, RACKS, len(made.owner))
    return replace(
        made,
        rack=rack.astype(np.int32),
        replica_set=replica_set.astype(np.int32),
        replica_racks=replica_racks,
    )


def _topics(kind: str, dice: Random, member: int, members: int, topics: int) -> list[int]:
    """Return what a member takes."""
    if kind == "Ha" and member == members // 3:
        return [0]
    if kind in {"Hb", "Vb"}:
        return dice.sample(range(topics), topics // 2)
    if kind == "Hc":
        return dice.sample(range(topics), 3)
    if kind == "Hd":
        return [topic for topic in range(topics) if topic % 5 == member % 5]
    if kind == "He":
        at = (member % members) * (topics - 1) // members
        return [at, at + 1]
    return list(range(topics))


def _settled(kind: str, made: Arrays) -> Int32:
    """Return a fair prior assignment: topics few take first, each to who has least so far."""
    count = len(made.owner)
    if kind in {"U", "V", "R1", "R2"}:
        return np.arange(count, dtype=np.int32) % made.member_count
    if kind == "Ha":
        odd = int(np.flatnonzero(made.class_of == np.bincount(made.class_of).argmin())[0])
        others = np.delete(np.arange(made.member_count, dtype=np.int32), odd)
        owner = others[np.arange(count) % len(others)]
        owner[: min(count // made.member_count, int(made.first[1]))] = odd
        return owner
    dice = Random(3)
    owner = np.full(count, -1, dtype=np.int32)
    load = [0] * made.member_count
    takers = [made.subscribers(topic) for topic in range(len(made.first) - 1)]
    for topic in sorted(range(len(takers)), key=lambda topic: len(takers[topic])):
        dice.shuffle(takers[topic])
        heap = [(load[member], turn, member) for turn, member in enumerate(takers[topic])]
        heapify(heap)
        for partition in range(made.first[topic], made.first[topic + 1]):
            held, turn, member = heap[0]
            owner[partition] = member
            load[member] = held + 1
            heapreplace(heap, (held + 1, turn, member))
    return owner
