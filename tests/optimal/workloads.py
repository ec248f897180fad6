"""The groups that speed and quality are measured on, made from seeds; also used by benchmarks.

Equal subscriptions (U), one member that differs (Ha), a random half of the topics each (Hb),
three topics each (Hc), five separate buckets (Hd), and windows of two topics along a chain
(He). Each comes settled, and then something happens to it.
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


def workload(name: str) -> Iterator[tuple[str, Arrays]]:
    """Yield (event, group after the event) for each event, `owner` as it was before it."""
    kind, members_text, _, partitions_text, _, topics_text = name.split()
    members, partitions, topics = int(members_text), int(partitions_text), int(topics_text)
    dice = Random(name)
    newcomers = max(1, members // 10)
    lists = [_topics(kind, dice, number, members, topics) for number in range(members + newcomers)]
    sizes = [partitions // topics] * topics
    if kind == "He":
        sizes = [20 + 8 * (7 * topic % 13) for topic in range(topics)]
    before = _settled(kind, arrays(sizes, lists[:members]))
    everybody = list(range(members))
    gone = set(everybody[::10][:newcomers])
    after = {
        "leave": [member for member in everybody if member != members // 2],
        "join": [*everybody, members],
        "replace": [m for m in everybody if m not in gone] + list(range(members, len(lists))),
    }
    fresh = arrays(sizes, lists[:members])
    for event in EVENTS:
        if event == "fresh":
            yield event, fresh
        elif event == "grow":
            more = max(1, sizes[0] // 10)
            owner = np.insert(before, sizes[0], np.full(more, -1))
            yield (
                event,
                replace(arrays([sizes[0] + more, *sizes[1:]], lists[:members]), owner=owner),
            )
        else:
            present = after[event]
            number = np.full(len(lists) + 1, -1, dtype=np.int32)
            number[present] = np.arange(len(present))
            made = arrays(sizes, [lists[member] for member in present])
            yield event, replace(made, owner=number[before])


def _topics(kind: str, dice: Random, member: int, members: int, topics: int) -> list[int]:
    """Return what a member takes."""
    if kind == "Ha" and member == members // 3:
        return [0]
    if kind == "Hb":
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
    if kind == "U":
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
