"""Who holds what as an array, its names when somebody asks, and everybody's Assignment bytes.

An answer of the `optimal` family is `owner[partition]`. A leader writes its bytes from that
array, and never makes the tuples in between; whoever reads the answer as a mapping gets them.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int32, Int64
from assignors.group_bytes.claim_rows import ClaimSections
from assignors.group_bytes.entries.writing import EntryHeaders, entry_headers, messages_of_entries
from assignors.group_bytes.shares import (
    NO_USER_DATA,
    PREFIX,
    AssignedShares,
    bytes_of_shares,
)
from assignors.mappings.lazy_mapping import LazyMapping
from assignors.model import member_ids_of
from assignors.problem import NOBODY, Problem, assignment_of
from wire import TopicPartitions
from wire.constructors import unchecked

COMPARED_MIN = 100
"""Partitions a member from which on others are looked for by name, where members have changed."""
KEPT_MIN = 5_000
"""Fewer owned partitions are written anew: to find out who keeps them would take longer. Measured
against that, 100 members x 1,000 partitions 0.8 to 0.9 of the time, 500 x 3,000 0.8 to 0.9, 500 x
3,352 0.8, 1,000 x 10,000 0.9 to 1.3."""
PARTITIONS_MIN = 50
"""Fewer partitions, and as many for each hundred topics, are written member by member: numpy's
calls would cost more than they save. Measured with ten topics: 20 partitions of 2 members in 15
and, together, 19 microseconds, 50 in 25 and 20, 100 in 41 and 22, 1,000 in 334 and 44."""


class AssignedPartitions(LazyMapping[TopicPartitions]):
    """`assignment_of(problem, owner)`, made when it is first read."""

    __slots__ = ("claimed", "owner", "problem")

    def __init__(
        self, problem: Problem, owner: Int32, claimed: ClaimSections | None = None
    ) -> None:
        """Look at `owner`, int32[P], `NOBODY` where a partition goes to no member. Cost: O(1).

        `claimed` is what members own as they wrote it: who keeps all of it gets the same bytes.
        """
        self.problem = problem
        self.owner = owner
        self.claimed = claimed
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Everybody's Assignment bytes, and what they say."""

    assigned: AssignedPartitions
    blobs: Mapping[str, bytes]
    headers: EntryHeaders | None
    """Those of the topics, where they were needed."""


_written = unchecked(Written)


def assignment_bytes(assigned: AssignedPartitions | AssignedShares) -> Mapping[str, bytes]:
    """Return everybody's Assignment: the bytes that `encode_assignment` gives, version 1.

    Raises `WireError` as that does for a topic that cannot be written. Cost: O(P log P + M) with
    a constant of a few nanoseconds; memory: about three times the bytes.
    """
    if isinstance(assigned, AssignedShares):
        return assigned.written()
    return written_bytes(assigned).blobs


def written_bytes(assigned: AssignedPartitions, *, before: Written | None = None) -> Written:
    """Return the same bytes, to be passed in as `before` with the next assignment.

    Then only members whose partitions have changed are written; else those that do not keep what
    they claimed in the same order. Cost and errors: those of `assignment_bytes`; O(P + M) where
    nothing has changed.
    """
    problem, headers = assigned.problem, None
    if before is not None:
        old = before.assigned.problem
        if problem.topics == old.topics and np.array_equal(problem.first, old.first):
            headers = before.headers
        else:
            before = None
    blobs, chosen = _known_bytes(assigned, before)
    partition = _by_owner(assigned.owner, chosen)
    is_small = len(partition) < PARTITIONS_MIN * (1 + len(problem.topics) // 100)
    if headers is None and not is_small:
        headers = _headers_of(problem)
    if is_small or headers is None:
        fresh = list(bytes_of_shares(_shares(assigned, chosen, partition)).values())
    else:
        fresh = _bytes_of_members(assigned, headers, chosen, partition)
    if len(fresh) == len(blobs):
        blobs = fresh
    else:
        for place, blob in zip(chosen.nonzero()[0].tolist(), fresh, strict=True):
            blobs[place] = blob
    ids = member_ids_of(problem.members)
    return _written(assigned=assigned, blobs=dict(zip(ids, blobs, strict=True)), headers=headers)


def _headers_of(problem: Problem) -> EntryHeaders | None:
    """Return what entries of the topics begin with, made once for each cluster."""
    if "headers" not in problem.kept:
        problem.kept["headers"] = entry_headers(problem.topics)
    headers: EntryHeaders | None = problem.kept["headers"]
    return headers


def _known_bytes(assigned: AssignedPartitions, before: Written | None) -> tuple[list[bytes], Bool]:
    """Return everybody's bytes as far as they are known, and whose are not, bool[M].

    Those of `before`, which is of the same topics, or those in which members wrote what they own.
    """
    ids = member_ids_of(assigned.problem.members)
    changed = None if before is None else _changed_members(assigned, before.assigned)
    if before is not None and changed is not None:
        return [before.blobs.get(member_id, b"") for member_id in ids], changed
    claimed = assigned.claimed
    if claimed is None or len(claimed.member) < KEPT_MIN:
        return [b""] * len(ids), np.ones(len(ids), dtype=np.bool_)
    blobs, is_kept = claimed.messages_of_kept(assigned.owner, PREFIX, NO_USER_DATA)
    return blobs, ~is_kept


def _shares(
    assigned: AssignedPartitions, chosen: Bool, partition: Int64
) -> dict[str, dict[str, list[int]]]:
    """Return what some members, bool[M], are given: `partition`, by owner."""
    problem = assigned.problem
    ids, topics = member_ids_of(problem.members), problem.topics
    topic = problem.topic_of[partition]
    number = (partition - problem.first[topic]).tolist()
    owner = assigned.owner[partition].tolist()
    shares: dict[str, dict[str, list[int]]] = {
        member_id: {} for member_id in compress(ids, chosen.tolist())
    }
    for member, of_topic, one in zip(owner, topic.tolist(), number, strict=True):
        shares[ids[member]].setdefault(topics[of_topic], []).append(one)
    return shares


def _changed_members(assigned: AssignedPartitions, before: AssignedPartitions) -> Bool | None:
    """Return which members had other partitions before, bool[M], of the same topics.

    `None` where it takes longer to find out than to write everybody's.
    """
    problem, old = assigned.problem, before.problem
    ids, old_ids = member_ids_of(problem.members), member_ids_of(old.members)
    had = before.owner
    # One entry more than members, for `NOBODY`.
    changed = np.zeros(len(ids) + 1, dtype=np.bool_)
    if ids != old_ids:
        if problem.partition_count < COMPARED_MIN * problem.member_count:
            return None
        place = {member_id: number for number, member_id in enumerate(ids)}
        places = np.array([*(place.get(member_id, NOBODY) for member_id in old_ids), NOBODY])
        had = places.take(had)
        changed[:] = True
        changed[places] = False
    differs = np.flatnonzero(had != assigned.owner)
    changed[had[differs]] = True
    changed[assigned.owner[differs]] = True
    return changed[:-1]


def _bytes_of_members(
    assigned: AssignedPartitions, headers: EntryHeaders, chosen: Bool, partition: Int64
) -> list[bytes]:
    """Return the Assignments of some members, bool[M], which are given `partition`, by owner."""
    problem = assigned.problem
    member_count, member = _chosen_alone(assigned.owner[partition], chosen)
    topic = problem.topic_of[partition]
    return messages_of_entries(
        headers,
        member=member,
        topic=topic,
        number=partition - problem.first.take(topic),
        member_count=member_count,
        before=PREFIX,
        behind=NO_USER_DATA,
    )


def _chosen_alone(member: Int32, chosen: Bool) -> tuple[int, Int32 | Int64]:
    """Return how many members are chosen, bool[M], and `member`, int32[N], numbered among these."""
    if np.count_nonzero(chosen) == len(chosen):
        return len(chosen), member
    number_of = chosen.cumsum()
    return int(number_of[-1]), number_of.take(member) - 1


def _by_owner(owner: Int32, chosen: Bool) -> Int64:
    """Return the partitions that chosen members own, by owner, then in their own order."""
    held: Int64 | None = None  # all of them
    if np.count_nonzero(chosen) < len(chosen) or int(owner.min(initial=0)) < 0:
        is_chosen = np.zeros(len(chosen) + 1, dtype=np.bool_)  # the last one is for `NOBODY`
        is_chosen[:-1] = chosen
        held = is_chosen.take(owner).nonzero()[0]
        owner = owner[held]
    key: NDArray[np.uint16] | Int32 = owner.astype(np.uint16) if len(chosen) < 1 << 16 else owner
    order = key.argsort(kind="stable")
    return order if held is None else held[order]
