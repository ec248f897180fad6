"""Who holds what as an array, its names when somebody asks, and everybody's Assignment bytes.

An answer of the `optimal` family is `owner[partition]`. A leader writes its bytes from that
array, and never makes the tuples in between; whoever reads the answer as a mapping gets them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int32, Int64
from assignors.group_bytes.claim_rows import ClaimSections
from assignors.group_bytes.entries.places import cut, view_of
from assignors.group_bytes.names import NAME_BYTES_MAX, column
from assignors.group_bytes.shares import (
    ASSIGNMENT_VERSION,
    NO_USER_DATA,
    PREFIX,
    AssignedShares,
    bytes_of_shares,
)
from assignors.model import member_ids_of
from assignors.problem import NOBODY, Problem, assignment_of
from wire import TopicPartitions
from wire.text import encode_utf8

LENGTH_SIZE, COUNT_AND_NUMBER = 2, 8
ONE = (1).to_bytes(4, "big")
COMPARED_MIN = 100
"""Partitions a member from which on others are looked for by name, where members have changed."""
PARTITIONS_MIN = 200
"""Smaller answers are written member by member: numpy's calls would cost more than they save."""


class AssignedPartitions(Mapping[str, TopicPartitions]):
    """`assignment_of(problem, owner)`, made when it is first read."""

    __slots__ = ("_named", "claimed", "owner", "problem")

    def __init__(
        self, problem: Problem, owner: Int32, claimed: ClaimSections | None = None
    ) -> None:
        """Look at `owner`, int32[P], `NOBODY` where a partition goes to no member. Cost: O(1).

        `claimed` is what members own as they wrote it: who keeps all of it gets the same bytes.
        """
        self.problem = problem
        self.owner = owner
        self.claimed = claimed
        self._named: Mapping[str, TopicPartitions] | None = None

    def __getitem__(self, member_id: str) -> TopicPartitions:
        """Return what a member gets; `KeyError` where the group has none of that name."""
        return self._read()[member_id]

    def __iter__(self) -> Iterator[str]:
        return iter(member_ids_of(self.problem.members))

    def __len__(self) -> int:
        return self.problem.member_count

    def __repr__(self) -> str:
        return repr(self._read())

    def _read(self) -> Mapping[str, TopicPartitions]:
        if self._named is None:
            self._named = assignment_of(self.problem, self.owner)
        return self._named


class _Headers(NamedTuple):
    """What an entry of each topic begins with."""

    start: NDArray[np.uint8]
    """uint8[T, W]: length and name, a count of 1, and zeros."""
    size: Int64
    """int64[T]: bytes of length and name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Everybody's Assignment bytes, and what they say."""

    assigned: AssignedPartitions
    blobs: Mapping[str, bytes]
    headers: _Headers | None
    """Those of the topics."""


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
    is_small = len(partition) < PARTITIONS_MIN
    headers = headers or (None if is_small else _headers(problem.topics))
    if is_small or headers is None:
        fresh = list(bytes_of_shares(_shares(assigned, chosen, partition)).values())
    else:
        fresh = _bytes_of_members(assigned, headers, chosen, partition)
    if len(fresh) == len(blobs):
        blobs = fresh
    else:
        for place, blob in zip(np.flatnonzero(chosen).tolist(), fresh, strict=True):
            blobs[place] = blob
    ids = member_ids_of(problem.members)
    return Written(assigned=assigned, blobs=dict(zip(ids, blobs, strict=True)), headers=headers)


def _known_bytes(assigned: AssignedPartitions, before: Written | None) -> tuple[list[bytes], Bool]:
    """Return everybody's bytes as far as they are known, and whose are not, bool[M].

    Those of `before`, which is of the same topics, or those in which members wrote what they own.
    """
    ids = member_ids_of(assigned.problem.members)
    changed = None if before is None else _changed_members(assigned, before.assigned)
    if before is not None and changed is not None:
        return [before.blobs.get(member_id, b"") for member_id in ids], changed
    claimed = assigned.claimed
    if claimed is None or not len(claimed.member):
        return [b""] * len(ids), np.ones(len(ids), dtype=np.bool_)
    is_kept = claimed.is_kept(assigned.owner)
    return claimed.messages(PREFIX, NO_USER_DATA, is_kept), ~is_kept


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
        had = places[had]
        changed[:] = True
        changed[places] = False
    differs = np.flatnonzero(had != assigned.owner)
    changed[had[differs]] = True
    changed[assigned.owner[differs]] = True
    return changed[:-1]


def _bytes_of_members(
    assigned: AssignedPartitions,
    headers: _Headers,
    chosen: Bool,
    partition: Int64,
) -> list[bytes]:
    """Return the Assignments of some members, bool[M], which are given `partition`, by owner."""
    problem = assigned.problem
    member_count, member = _chosen_alone(assigned.owner[partition], chosen)
    topic = problem.topic_of[partition].astype(np.int64)
    number = partition - problem.first[topic]
    is_first = np.ones(len(partition), dtype=np.bool_)
    is_first[1:] = (member[1:] != member[:-1]) | (topic[1:] != topic[:-1])
    first: Int64 | None = None  # each partition is an entry
    count: Int64 | int = 1
    entry_topic, entry_member = topic, member
    if not is_first.all():
        first = np.flatnonzero(is_first)
        count = np.diff(first, append=len(partition))
        entry_topic, entry_member = topic[first], member[first]
    shortest = int(headers.size.min(initial=1 << 30))
    header_end: Int64 | int = shortest  # of each entry, from its first byte
    if shortest < int(headers.size.max(initial=0)):
        header_end = headers.size[entry_topic]
    size = header_end + 4 + 4 * count
    entry_count = np.bincount(entry_member, minlength=member_count)
    if isinstance(size, int):
        entries_end = np.arange(size, size * len(entry_topic) + 1, size)
    else:
        entries_end = size.cumsum()
    # Ten bytes a member beside its entries: version, their number, and the null UserData.
    bounds = np.append(0, entries_end)[np.append(0, entry_count.cumsum())]
    bounds += np.arange(0, 10 * len(bounds), 10)
    start, end = bounds[:-1], bounds[1:]
    place = entries_end
    place -= size
    place += np.arange(6, 10 * member_count + 6, 10).repeat(entry_count)
    out = np.empty(int(bounds[-1]) + headers.start.shape[1], dtype=np.uint8)
    int16, int32 = view_of(out, ">i2"), view_of(out, ">i4")
    # In ascending order: what is written beyond an entry is written anew for what follows it.
    if isinstance(size, int):
        _write_entries(out, place, headers, entry_topic, size, number=number)
    else:
        _write_entries(out, place, headers, entry_topic, headers.start.shape[1])
        place += header_end
        if not isinstance(count, int):
            int32[place] = count
        place += 4
        if first is not None:
            place -= 4 * first
            place = np.repeat(place, count)
            place += np.arange(0, 4 * len(number), 4)
        int32[place] = number
    int16[start] = ASSIGNMENT_VERSION
    int32[start + 2] = entry_count
    int32[end - 4] = -1
    return cut(out, start, end)


def _chosen_alone(member: Int32, chosen: Bool) -> tuple[int, Int32 | Int64]:
    """Return how many members are chosen, bool[M], and `member`, int32[N], numbered among these."""
    if chosen.all():
        return len(chosen), member
    number_of = np.cumsum(chosen)
    return int(number_of[-1]), number_of[member] - 1


def _by_owner(owner: Int32, chosen: Bool) -> Int64:
    """Return the partitions that chosen members own, by owner, then in their own order."""
    held: Int64 | None = None  # all of them
    if not chosen.all() or int(owner.min(initial=0)) < 0:
        held = np.flatnonzero(np.append(chosen, np.False_)[owner])  # the last one is for `NOBODY`
        owner = owner[held]
    key: NDArray[np.uint16] | Int32 = owner.astype(np.uint16) if len(chosen) < 1 << 16 else owner
    order = np.argsort(key, kind="stable")
    return order if held is None else held[order]


def _headers(topics: Sequence[str]) -> _Headers | None:
    """Return what entries of these topics begin with; `None` where a name is too long."""
    names = list(map(encode_utf8, topics))
    length = np.fromiter(map(len, names), np.int64, len(names))
    longest = int(length.max(initial=0))
    if longest > NAME_BYTES_MAX:
        return None
    width = LENGTH_SIZE + longest + COUNT_AND_NUMBER
    prefixes = length.astype(">i2").tobytes()
    prefixed = zip(pairwise(range(0, 2 * len(names) + 2, 2)), names, strict=True)
    padded = [(prefixes[at:to] + name + ONE).ljust(width, b"\0") for (at, to), name in prefixed]
    start = np.frombuffer(b"".join(padded), dtype=np.uint8).reshape(len(names), width)
    return _Headers(start, length + LENGTH_SIZE)


def _write_entries(
    out: NDArray[np.uint8],
    place: Int64,
    headers: _Headers,
    topic: Int64,
    size: int,
    *,
    number: Int64 | None = None,
) -> None:
    """Write so many bytes of the entries' beginnings at their places, which ascend.

    With a number behind the count, where all have one and `size` says so.
    """
    if not len(topic):
        return
    record = f"V{size}"
    records = np.ascontiguousarray(headers.start[:, :size]).view(record).ravel()[topic]
    if number is not None:
        column(records.view(np.uint8).reshape(-1, size), ">i4", size - 4)[:] = number
    view_of(out, record)[place] = records
