"""Groups as files that every contender reads, in whatever language it is written.

A folder holds one workload: for each event a file for each protocol, `leave.cooperative` and
`leave.eager`. The first has the claims as OwnedPartitions, the second as the UserData of the
sticky assignors; apart from that they are equal. Integers are big-endian int32, as in Kafka; a
text is its length (int32) and its UTF-8 bytes:

    T, M, K, R, P              topics, members, subscription classes, replicas, partitions
    T x (text, count)          each topic and how many partitions it has
    K x (count, topics)        the topics of each class, by number
    M x (text, class, rack)    each member; racks are numbers, -1 for none
    P x member                 the owner of each partition, -1 for none
    P x R x rack               the racks of its replicas
    M x (length, bytes)        Subscription bytes, version 3

The rack of number 2 is called `rack-2`. A contender writes who got what as P x member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from struct import pack

import numpy as np

from assignors.problem import Int32
from tests.optimal.groups import Arrays
from tests.optimal.workloads import NAMED, parts, present_members, settled, workload
from wire import (
    Subscription,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)

COOPERATIVE, EAGER = "cooperative", "eager"
SETTLED = "settled"
"""The round before the event, for a leader that remembers it: one generation less."""
GENERATION = 5
REST = "orders-of-customers-by-region-europe"
"""What follows the number in names of different lengths, a part of it."""
NamedBy = Callable[[int], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupFile:
    """A file as read; what Python contenders need of it."""

    topics: dict[str, int]
    member_ids: list[str]
    racks_of_members: list[int]
    owner: Int32
    replica_racks: Int32
    """int32[P, R]."""
    blobs: list[bytes]


def write_group(
    path: Path, made: Arrays, numbers: list[int], *, generation: int, named: NamedBy
) -> int:
    """Write one file, for the protocol that its suffix names; return the bytes of all blobs.

    `named` has the names of topics, which sort as their numbers.
    """
    sizes = np.diff(made.first).tolist()
    racks = [-1] * made.member_count if made.rack is None else made.rack.tolist()
    replicas = _replica_racks(made)
    blobs = _subscriptions(made, racks, path.suffix[1:], generation, named)
    with path.open("wb") as file:
        file.write(pack(">5i", len(sizes), len(numbers), len(made.takes), replicas.shape[1],
                        len(made.owner)))  # fmt: skip
        for topic, size in enumerate(sizes):
            file.write(_text(named(topic)) + pack(">i", size))
        for row in made.takes:
            taken = np.flatnonzero(row).astype(">i4")
            file.write(pack(">i", len(taken)) + taken.tobytes())
        for number, kind, rack in zip(numbers, made.class_of.tolist(), racks, strict=True):
            file.write(_text(member_id(number)) + pack(">ii", kind, rack))
        file.write(made.owner.astype(">i4").tobytes() + replicas.astype(">i4").tobytes())
        for blob in blobs:
            file.write(pack(">i", len(blob)) + blob)
    return sum(map(len, blobs))


def read_group(path: Path) -> GroupFile:
    """Return what a file says."""
    raw = path.read_bytes()
    at = 0

    def integers(count: int) -> list[int]:
        nonlocal at
        taken = np.frombuffer(raw, ">i4", count, at)
        at += 4 * count
        return list(taken.tolist())

    def chunk() -> bytes:
        nonlocal at
        (length,) = integers(1)
        at += length
        return raw[at - length : at]

    topic_count, member_count, class_count, replica_count, partition_count = integers(5)
    topics = {chunk().decode(): integers(1)[0] for _ in range(topic_count)}
    for _ in range(class_count):
        integers(integers(1)[0])
    members = [(chunk().decode(), integers(2)[1]) for _ in range(member_count)]
    owner = np.frombuffer(raw, ">i4", partition_count, at).astype(np.int32)
    at += 4 * partition_count
    replicas = np.frombuffer(raw, ">i4", partition_count * replica_count, at).astype(np.int32)
    at += 4 * partition_count * replica_count
    return GroupFile(
        topics=topics,
        member_ids=[name for name, _ in members],
        racks_of_members=[rack for _, rack in members],
        owner=owner,
        replica_racks=replicas.reshape(partition_count, replica_count),
        blobs=[chunk() for _ in members],
    )


def write_workload(
    folder: Path, name: str, events: Sequence[str], *, eager: Sequence[str] = ()
) -> Iterator[tuple[str, Arrays]]:
    """Write a workload's files, those of the eager protocol for some of the events.

    Yields each event with its group.
    """
    present = present_members(name)
    before = settled(name)
    everybody = list(range(before.member_count))
    named = (
        name_of_any_length if parts(name)[0] in {parts(each)[0] for each in NAMED} else topic_name
    )
    path = folder / f"{SETTLED}.{COOPERATIVE}"
    write_group(path, before, everybody, generation=GENERATION - 1, named=named)
    for event, made in workload(name):
        if event in events:
            for protocol in (COOPERATIVE, EAGER) if event in eager else (COOPERATIVE,):
                path = folder / f"{event}.{protocol}"
                write_group(path, made, present[event], generation=GENERATION, named=named)
            yield event, made


def topic_name(number: int) -> str:
    """Return the name of a topic; names sort as their numbers."""
    return f"topic-{number:04}"


def name_of_any_length(number: int) -> str:
    """Return a name of 5 to 40 bytes; names sort as their numbers.

    >>> name_of_any_length(0), name_of_any_length(1)
    ('0000-', '0001-orders-')
    """
    return f"{number:04}-{REST[: number * 7 % len(REST)]}"


def member_id(number: int) -> str:
    """Return a member's id as long as a real one; ids sort as their numbers."""
    return f"consumer-{number:05}-{number * 0x9E3779B97F4A7C15 % 2**64:016x}"


def _subscriptions(
    made: Arrays, racks: list[int], protocol: str, generation: int, named: NamedBy
) -> list[bytes]:
    """Return everybody's bytes. Members without claims have no generation."""

    @cache
    def start(kind: int) -> bytes:
        topics = tuple(named(t) for t in np.flatnonzero(made.takes[kind]).tolist())
        # Version and topics; what follows in an empty Subscription is cut off.
        empty = len(encode_subscription(Subscription())) - 6
        return encode_subscription(Subscription(topics=topics))[:-empty]

    blobs = []
    for number, owned in enumerate(_owned(made, named)):
        known = generation if owned else -1
        rest = Subscription(
            owned=owned if protocol == COOPERATIVE else {},
            generation=known,
            rack_id=None if racks[number] < 0 else f"rack-{racks[number]}",
            user_data=encode_cooperative_user_data(known)
            if protocol == COOPERATIVE
            else encode_sticky_user_data(owned, known)
            if owned
            else None,
        )
        blobs.append(start(int(made.class_of[number])) + encode_subscription(rest)[6:])
    return blobs


def _owned(made: Arrays, named: NamedBy) -> Iterator[dict[str, tuple[int, ...]]]:
    """Yield the claims of each member."""
    number = np.arange(len(made.owner)) - made.first[made.topic_of]
    order = np.argsort(made.owner, kind="stable")
    bounds = np.searchsorted(made.owner[order], np.arange(made.member_count + 1))
    for begin, end in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        mine = order[begin:end]
        owned: dict[str, list[int]] = {}
        for topic, partition in zip(
            made.topic_of[mine].tolist(), number[mine].tolist(), strict=True
        ):
            owned.setdefault(named(topic), []).append(partition)
        yield {topic: tuple(partitions) for topic, partitions in owned.items()}


def _replica_racks(made: Arrays) -> Int32:
    """Return the racks of each partition's replicas, int32[P, R]; no column without racks."""
    if made.replica_set is None or made.replica_racks is None:
        return np.zeros((len(made.owner), 0), dtype=np.int32)
    rows = np.array([np.flatnonzero(racks) for racks in made.replica_racks], dtype=np.int32)
    chosen: Int32 = rows[made.replica_set]
    return chosen


def _text(text: str) -> bytes:
    return pack(">i", len(text.encode())) + text.encode()
