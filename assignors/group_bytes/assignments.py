"""Who gets each partition, by name when somebody asks, and everybody's Assignment bytes.

An answer of the `optimal` family is the owner of each partition, a list in a small group and an
array in a large one. A leader writes its bytes from that; whoever reads the answer as a mapping
gets the names.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.group_bytes.writing import messages_of_entries
from assignors.mappings.lazy_mapping import LazyMapping
from assignors.model import member_ids_of
from assignors.problem import NOBODY, Problem, assignment_of
from wire import TopicPartitions, encode_assignment
from wire.writing import SHORT_LISTS, int32_list_bytes, string_bytes

ASSIGNMENT_VERSION = 1
"""Read alike by every client: all versions have the same bytes, and 0 marks very old writers."""
PREFIX = struct.pack(">h", ASSIGNMENT_VERSION)
NO_USER_DATA = b"\xff\xff\xff\xff"


class Assigned(LazyMapping[TopicPartitions]):
    """Member id -> topic -> partition numbers, made when it is first read.

    Topics stand in UTF-16 order and numbers ascend; nobody has what it did not ask for.
    """

    __slots__ = ("_compute", "_shares", "first", "member_ids", "owner", "topics")

    def __init__(
        self,
        *,
        member_ids: Sequence[str],
        topics: Sequence[str],
        first: Sequence[int] | Int64,
        owner: list[int] | Int32,
        compute: Callable[[], Mapping[str, TopicPartitions]],
    ) -> None:
        """Look at the owner of each partition, -1 for none; topic t has first[t]:first[t + 1].

        `compute` makes the mapping, and is called once at most; what a member gets in it may be
        made when somebody reads it.
        """
        self.member_ids = member_ids
        self.topics = topics
        self.first = first
        self.owner = owner
        self._compute = compute
        self._shares: Mapping[str, TopicPartitions] | None = None
        self._named = None

    def shares(self) -> Mapping[str, TopicPartitions]:
        """Return the same, what each member gets as `compute` made it: perhaps without names."""
        if self._shares is None:
            self._shares = self._compute()
        return self._shares

    def __iter__(self) -> Iterator[str]:
        return iter(self.member_ids)

    def __len__(self) -> int:
        return len(self.member_ids)

    def keys(self) -> KeysView[str]:
        """Return the member ids, without making any share."""
        return KeysView(self)

    def written(self) -> dict[str, bytes]:
        """Return everybody's Assignment: the bytes that `encode_assignment` gives, version 1.

        Raises `WireError` as that does for a topic that cannot be written. Cost: O(P log P + M)
        with a constant of a few nanoseconds for arrays, O(P + M) for lists.
        """
        if isinstance(self.owner, list):
            blobs = _written_from_list(self.owner, self.topics, self.first, len(self.member_ids))
        else:
            found = _written_from_array(
                self.owner, self.topics, np.asarray(self.first), len(self.member_ids)
            )
            if found is None:
                return {
                    member_id: encode_assignment(share, version=ASSIGNMENT_VERSION)
                    for member_id, share in self.items()
                }
            blobs = found
        return dict(zip(self.member_ids, blobs, strict=True))

    def _make(self) -> dict[str, TopicPartitions]:
        return {name: dict(share.items()) for name, share in self.shares().items()}


def assigned(problem: Problem, owner: Int32) -> Assigned:
    """Return `assignment_of(problem, owner)`, made when it is first read. Cost: O(1)."""
    return Assigned(
        member_ids=member_ids_of(problem.members),
        topics=problem.topics,
        first=problem.first,
        owner=owner,
        compute=lambda: assignment_of(problem, owner),
    )


def _written_from_list(
    owner: list[int], topics: Sequence[str], first: Sequence[int] | Int64, member_count: int
) -> list[bytes]:
    chunks: list[list[bytes]] = [[] for _ in range(member_count)]
    for topic, begin, end in zip(topics, first, first[1:], strict=False):
        numbers: dict[int, list[int]] = {}
        for number, member in enumerate(owner[begin:end]):
            if member in numbers:
                numbers[member].append(number)
            else:
                numbers[member] = [number]
        numbers.pop(NOBODY, None)
        header = string_bytes(topic) if numbers else b""
        for member, listed in numbers.items():
            count = len(listed)
            if count < len(SHORT_LISTS):  # without one more call, a third faster
                chunks[member].append(header + SHORT_LISTS[count](count, *listed))
            else:
                chunks[member].append(header + int32_list_bytes(listed))
    return [
        b"".join((PREFIX, len(parts).to_bytes(4, "big"), *parts, NO_USER_DATA)) for parts in chunks
    ]


def _written_from_array(
    owner: Int32, topics: Sequence[str], first: Int64, member_count: int
) -> list[bytes] | None:
    """Return the bytes of each member; `None` where a name is too long."""
    held: Int64 | None = None  # all of them
    if int(owner.min(initial=0)) == NOBODY:
        held = np.flatnonzero(owner != NOBODY)
        owner = owner[held]
    # Numpy sorts 16 bits in linear time.
    key = owner.astype(np.uint16) if member_count < 1 << 16 else owner
    order = key.argsort(kind="stable")
    partition = order if held is None else held.take(order)
    topic = np.arange(len(topics), dtype=np.int32).repeat(first[1:] - first[:-1]).take(partition)
    return messages_of_entries(
        topics,
        member=owner.take(order),
        topic=topic,
        number=partition - first.take(topic),
        member_count=member_count,
        before=PREFIX,
        behind=NO_USER_DATA,
    )
