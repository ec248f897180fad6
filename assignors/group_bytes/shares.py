"""The answer for a small group as a list, its names when somebody asks, and everybody's bytes.

The same as `assignments` for arrays. A leader writes the bytes from the list of owners; the
simulator reads the names and never asks for bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, KeysView, Mapping, Sequence

from assignors.mappings.lazy_mapping import LazyMapping
from wire import TopicPartitions
from wire.writing import SHORT_LISTS, int32_list_bytes, string_bytes

ASSIGNMENT_VERSION = 1
"""Read alike by every client: all versions have the same bytes, and 0 marks very old writers."""
PREFIX = struct.pack(">h", ASSIGNMENT_VERSION)
NO_USER_DATA = b"\xff\xff\xff\xff"


class AssignedShares(LazyMapping[TopicPartitions]):
    """Member id -> topic -> partition numbers: the answer for a small group.

    Topics stand in UTF-16 order and numbers ascend; nobody has what it did not ask for.
    """

    __slots__ = ("_compute", "_shares", "first", "member_ids", "owner", "topics")

    def __init__(
        self,
        *,
        member_ids: Sequence[str],
        topics: Sequence[str],
        first: Sequence[int],
        owner: Sequence[int],
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
        """Return the member ids; those of a `dict`, as the simulator compares them every round."""
        return self.shares().keys()

    def written(self) -> dict[str, bytes]:
        """Return everybody's Assignment: the bytes that `encode_assignment` gives, version 1.

        Raises `WireError` as that does. Cost: O(P + M).
        """
        chunks: list[list[bytes]] = [[] for _ in self.member_ids]
        for topic, begin, end in zip(self.topics, self.first, self.first[1:], strict=False):
            numbers: dict[int, list[int]] = {}
            for number, member in enumerate(self.owner[begin:end]):
                if member in numbers:
                    numbers[member].append(number)
                else:
                    numbers[member] = [number]
            numbers.pop(-1, None)
            header = string_bytes(topic) if numbers else b""
            for member, listed in numbers.items():
                count = len(listed)
                if count < len(SHORT_LISTS):  # without one more call, a third faster
                    chunks[member].append(header + SHORT_LISTS[count](count, *listed))
                else:
                    chunks[member].append(header + int32_list_bytes(listed))
        return {
            member_id: b"".join((PREFIX, len(parts).to_bytes(4, "big"), *parts, NO_USER_DATA))
            for member_id, parts in zip(self.member_ids, chunks, strict=True)
        }

    def _make(self) -> dict[str, TopicPartitions]:
        return {name: dict(share.items()) for name, share in self.shares().items()}
