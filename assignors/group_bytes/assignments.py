"""Who holds what as an array, its names when somebody asks, and everybody's Assignment bytes.

An answer of the `optimal` family is `owner[partition]`. A leader writes its bytes from that
array, and never makes the tuples in between; whoever reads the answer as a mapping gets them.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32, Int64
from assignors.group_bytes.entries.writing import entry_headers, messages_of_entries
from assignors.group_bytes.shares import (
    ASSIGNMENT_VERSION,
    NO_USER_DATA,
    PREFIX,
    AssignedShares,
)
from assignors.mappings.lazy_mapping import LazyMapping
from assignors.model import member_ids_of
from assignors.problem import NOBODY, Problem, assignment_of
from wire import TopicPartitions, encode_assignment


class AssignedPartitions(LazyMapping[TopicPartitions]):
    """`assignment_of(problem, owner)`, made when it is first read."""

    __slots__ = ("owner", "problem")

    def __init__(self, problem: Problem, owner: Int32) -> None:
        """Look at `owner`, int32[P], `NOBODY` where a partition goes to no member. Cost: O(1)."""
        self.problem = problem
        self.owner = owner
        self._named = None

    def __iter__(self) -> Iterator[str]:
        return iter(member_ids_of(self.problem.members))

    def __len__(self) -> int:
        return self.problem.member_count

    def keys(self) -> KeysView[str]:
        """Return the member ids, without making any share."""
        return KeysView(self)

    __reduce__ = object.__reduce__
    """Pickled as arrays, which are smaller."""

    def _make(self) -> Mapping[str, TopicPartitions]:
        return assignment_of(self.problem, self.owner)


def assignment_bytes(assigned: AssignedPartitions | AssignedShares) -> dict[str, bytes]:
    """Return everybody's Assignment: the bytes that `encode_assignment` gives, version 1.

    Raises `WireError` as that does for a topic that cannot be written. Cost: O(P log P + M) with
    a constant of a few nanoseconds; memory: about three times the bytes.
    """
    if isinstance(assigned, AssignedShares):
        return assigned.written()
    problem, owner = assigned.problem, assigned.owner
    headers = entry_headers(problem.topics)
    if headers is None:
        return {
            member_id: encode_assignment(share, version=ASSIGNMENT_VERSION)
            for member_id, share in assigned.items()
        }
    partition = _by_owner(owner, problem.member_count)
    topic = problem.topic_of.take(partition)
    blobs = messages_of_entries(
        headers,
        member=owner.take(partition),
        topic=topic,
        number=partition - problem.first.take(topic),
        member_count=problem.member_count,
        before=PREFIX,
        behind=NO_USER_DATA,
    )
    return dict(zip(member_ids_of(problem.members), blobs, strict=True))


def _by_owner(owner: Int32, member_count: int) -> Int64:
    """Return the partitions that somebody owns, by owner, then in their own order."""
    held: Int64 | None = None  # all of them
    if int(owner.min(initial=0)) == NOBODY:
        held = np.flatnonzero(owner != NOBODY)
        owner = owner[held]
    key: NDArray[np.uint16] | Int32 = owner.astype(np.uint16) if member_count < 1 << 16 else owner
    order = key.argsort(kind="stable")
    return order if held is None else held[order]
