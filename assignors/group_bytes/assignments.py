"""Who holds what as an array, its names when somebody asks, and everybody's Assignment bytes.

An answer of the `optimal` family is `owner[partition]`. A leader writes its bytes from that
array, and never makes the tuples in between; whoever reads the answer as a mapping gets them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int32, Int64
from assignors.group_bytes.names import NAME_BYTES_MAX
from assignors.model import Assignment, member_ids_of
from assignors.problem import NOBODY, Problem, assignment_of
from wire import TopicPartitions
from wire.text import encode_utf8
from wire.writing import SHORT_LISTS, int32_list_bytes, string_bytes

ASSIGNMENT_VERSION = 1
"""Read alike by every client: all versions have the same bytes, and 0 marks very old writers."""
PREFIX = struct.pack(">h", ASSIGNMENT_VERSION)
NO_USER_DATA = b"\xff\xff\xff\xff"
WORD = 8
PARTITIONS_MIN = 200
"""Smaller answers are written member by member: numpy's calls would cost more than they save."""


class AssignedPartitions(Mapping[str, TopicPartitions]):
    """`assignment_of(problem, owner)`, made when it is first read."""

    __slots__ = ("_named", "owner", "problem")

    def __init__(self, problem: Problem, owner: Int32) -> None:
        """Look at `owner`, int32[P], `NOBODY` where a partition goes to no member. Cost: O(1)."""
        self.problem = problem
        self.owner = owner
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


class AssignedShares(dict[str, dict[str, tuple[int, ...]]]):
    """Member id -> topic -> partition numbers: the answer for a small group.

    Topics stand in UTF-16 order and numbers ascend; nobody has what it did not ask for.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Everybody's Assignment bytes, and what they say."""

    assigned: AssignedPartitions
    blobs: Mapping[str, bytes]
    headers: tuple[NDArray[np.uint64], Int64] | None
    """Those of the topics (`_headers`)."""


def assignment_bytes(assigned: AssignedPartitions | AssignedShares) -> Mapping[str, bytes]:
    """Return everybody's Assignment: the bytes that `encode_assignment` gives, version 1.

    Raises `WireError` as that does for a topic that cannot be written. Cost: O(P log P + M) with
    a constant of a few nanoseconds; memory: about three times the bytes.
    """
    if isinstance(assigned, AssignedShares):
        return _bytes_of_shares(assigned)
    return written_bytes(assigned).blobs


def written_bytes(assigned: AssignedPartitions, *, before: Written | None = None) -> Written:
    """Return the same bytes, to be passed in as `before` with the next assignment.

    Then only members whose partitions have changed are written. Cost and errors: those of
    `assignment_bytes`; O(P + M) where nothing has changed.
    """
    problem = assigned.problem
    changed = None if before is None else _changed_members(assigned, before.assigned)
    if before is None or before.headers is None or changed is None:
        names = [encode_utf8(topic) for topic in problem.topics]
        is_small = problem.partition_count < PARTITIONS_MIN
        if is_small or max(map(len, names), default=0) > NAME_BYTES_MAX:
            return Written(assigned=assigned, blobs=_bytes_of_shares(assigned), headers=None)
        headers = _headers(names)
        every = np.ones(problem.member_count, dtype=np.bool_)
        return Written(
            assigned=assigned, blobs=_bytes_of_members(assigned, headers, every), headers=headers
        )
    fresh = _bytes_of_members(assigned, before.headers, changed) if changed.any() else {}
    ids = member_ids_of(problem.members)
    blobs = {member_id: fresh.get(member_id) or before.blobs[member_id] for member_id in ids}
    return Written(assigned=assigned, blobs=blobs, headers=before.headers)


def _changed_members(assigned: AssignedPartitions, before: AssignedPartitions) -> Bool | None:
    """Return which members had other partitions before, bool[M]; `None` with other topics."""
    problem, old = assigned.problem, before.problem
    if problem.topics != old.topics or not np.array_equal(problem.first, old.first):
        return None
    ids, old_ids = member_ids_of(problem.members), member_ids_of(old.members)
    had = before.owner
    # One entry more than members, for `NOBODY`.
    changed = np.zeros(len(ids) + 1, dtype=np.bool_)
    if ids != old_ids:
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
    assigned: AssignedPartitions, headers: tuple[NDArray[np.uint64], Int64], chosen: Bool
) -> dict[str, bytes]:
    """Return the Assignments of some members, bool[M], written together."""
    problem, owner = assigned.problem, assigned.owner
    member_count = problem.member_count
    partition = _by_owner(owner, chosen)
    member, topic = owner[partition], problem.topic_of[partition]
    is_first = np.ones(len(partition), dtype=np.bool_)
    is_first[1:] = (member[1:] != member[:-1]) | (topic[1:] != topic[:-1])
    first = np.flatnonzero(is_first)
    count = np.diff(first, append=len(partition))
    entry_topic, entry_member = topic[first], member[first]
    header, header_size = headers
    size = header_size[entry_topic] + 4 + 4 * count
    entry_count = np.bincount(entry_member, minlength=member_count)
    # Ten bytes a member beside its entries: version, their number, and the null UserData.
    length = 10 + np.bincount(entry_member, weights=size, minlength=member_count).astype(np.int64)
    end = np.cumsum(length)
    place = np.cumsum(size) - size + 6 + 10 * entry_member.astype(np.int64)
    out = np.zeros(int(end[-1]) + WORD if member_count else WORD, dtype=np.uint8)
    int16, int32 = _view(out, ">i2"), _view(out, ">i4")
    int16[end - length] = ASSIGNMENT_VERSION
    int32[end - length + 2] = entry_count
    int32[end - 4] = -1
    _scatter(_view(out, "<u8"), place, header, header_size, entry_topic)
    behind = place + header_size[entry_topic]
    int32[behind] = count
    number = (partition - problem.first[topic]).astype(np.int32)
    if len(first) == len(partition):
        int32[behind + 4] = number
    else:
        into = np.repeat(behind + 4 - 4 * first, count) + 4 * np.arange(len(partition))
        int32[into] = number
    whole = out.tobytes()
    ids = member_ids_of(problem.members)
    bounds = zip(ids, chosen.tolist(), (end - length).tolist(), end.tolist(), strict=True)
    return {member_id: whole[start:stop] for member_id, asked, start, stop in bounds if asked}


def _bytes_of_shares(shares: Assignment) -> dict[str, bytes]:
    """Return everybody's Assignment, one after the other; topics and numbers are sorted."""
    headers: dict[str, bytes] = {}
    written = {}
    for member_id, share in shares.items():
        chunks = [PREFIX, len(share).to_bytes(4, "big")]
        for topic, numbers in share.items():
            if topic not in headers:
                headers[topic] = string_bytes(topic)
            chunks.append(headers[topic])
            count = len(numbers)
            if count < len(SHORT_LISTS):  # without one more call, a third faster
                chunks.append(SHORT_LISTS[count](count, *numbers))
            else:
                chunks.append(int32_list_bytes(numbers))
        chunks.append(NO_USER_DATA)
        written[member_id] = b"".join(chunks)
    return written


def _by_owner(owner: Int32, chosen: Bool) -> Int64:
    """Return the partitions that chosen members own, by owner, then in their own order."""
    held = np.flatnonzero(np.append(chosen, np.False_)[owner])  # the last one is for `NOBODY`
    of_held = owner[held]
    key: NDArray[np.uint16] | Int32 = (
        of_held.astype(np.uint16) if len(chosen) < 1 << 16 else of_held
    )
    return held[np.argsort(key, kind="stable")]


def _headers(names: Sequence[bytes]) -> tuple[NDArray[np.uint64], Int64]:
    """Return length and name of each topic as words, uint64[W, T], and their size in bytes.

    Word k stands at byte min(8 k, size - 8); a header shorter than a word has zeros behind it.
    """
    headers = [struct.pack(">h", len(name)) + name for name in names]
    size = np.array([len(header) for header in headers], dtype=np.int64)
    width = -(-max(map(len, headers), default=1) // WORD)
    words = np.zeros((width, len(headers)), dtype=np.uint64)
    for topic, header in enumerate(headers):
        padded = header.ljust(WORD, b"\0")
        for k in range(width):
            at = min(WORD * k, len(padded) - WORD)
            words[k, topic] = int.from_bytes(padded[at : at + WORD], "little")
    return words, size


def _scatter(
    view: NDArray[np.uint64],
    place: Int64,
    header: NDArray[np.uint64],
    header_size: Int64,
    topic: Int32,
) -> None:
    """Write headers at their places; what stands behind a short one is written later."""
    last = np.maximum(header_size[topic] - WORD, 0)
    for k in range(len(header)):
        view[place + np.minimum(WORD * k, last)] = header[k][topic]


def _view(buffer: NDArray[np.uint8], dtype: str) -> NDArray[Any]:
    size = np.dtype(dtype).itemsize
    return np.ndarray((len(buffer) - size + 1,), dtype, buffer.data, strides=(1,))
