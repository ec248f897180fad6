"""Balanced loads when every member may take every partition.

With equal subscriptions the best loads are known before any partition is placed: P
partitions on N members means P // N each, and P % N members carry one more. Giving the
extra ones to members that already own the most keeps the largest number of partitions where
they are, because an extra place is worth one kept partition to a member that owns more than
P // N and nothing to any other. So nothing needs searching here.
"""

from __future__ import annotations

import numpy as np

from assignors.optimal.partition_choice import FEW, given_up, receivers
from assignors.problem import NOBODY, Int32, Int64


def share(
    first: Int64, owner: Int32, member_count: int, owned_count: Int64 | None = None
) -> tuple[Int32, int]:
    """Return who gets each partition, int32[P], and how many stay where they are.

    `first` is int64[T + 1], as in `Problem`; `owner` int32[P], -1 for nobody; `owned_count`,
    int64[N], how many each member owns, is counted where it is not given. There is at least one
    member. Cost: O(P + N log N).

    >>> share(np.array([0, 4, 6]), np.array([0, 0, 0, 0, -1, -1], dtype=np.int32), 2)
    (array([0, 0, 0, 1, 1, 1], dtype=int32), 3)
    """
    partition_count = len(owner)
    if owned_count is None:
        owned_count = _counted(owner, member_count)
    free_count = partition_count - int(owned_count.sum())
    if free_count == partition_count:
        return _in_turns(partition_count, member_count), 0
    gain = quotas(owned_count, partition_count)
    gain -= owned_count
    answer = owner.copy()
    shrinking = (gain < 0).nonzero()[0]
    if len(shrinking):
        drop = -gain[shrinking]
        free_count += int(drop.sum())
        _give_up(first, answer, member_count, shrinking, drop)
        gain[shrinking] = 0
    if free_count:
        answer[(answer < 0).nonzero()[0]] = receivers(gain[None, :])
    return answer, partition_count - free_count


def _counted(owner: Int32, member_count: int) -> Int64:
    """Return how many partitions each member owns, int64[N]."""
    if int(owner.max(initial=NOBODY)) < 0:
        return np.zeros(member_count, dtype=np.int64)
    number = owner.astype(np.int64)  # numpy counts these three times as fast
    number += 1
    counted: Int64 = np.bincount(number, minlength=member_count + 1)[1:]
    return counted


def _in_turns(partition_count: int, member_count: int) -> Int32:
    """Return the members in turns, int32[P]: who gets what where nobody owns anything."""
    turns = np.empty((-(-partition_count // member_count), member_count), dtype=np.int32)
    turns[:] = np.arange(member_count, dtype=np.int32)
    return turns.ravel()[:partition_count]


def _give_up(first: Int64, answer: Int32, member_count: int, shrinking: Int64, drop: Int64) -> None:
    """Take partitions from these members, of each one as many as `drop` says, at least one."""
    # One place more, so that an owner of -1 finds -1 there.
    number_of = np.full(member_count + 1, NOBODY, dtype=np.int32)
    number_of[shrinking] = np.arange(len(shrinking))
    number = number_of[answer]
    held = (number >= 0).nonzero()[0]
    topic: Int32 | Int64
    if len(held) <= FEW:
        topic = first.searchsorted(held, side="right") - 1
    else:
        topic = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))[held]
    answer[held[given_up(number[held], topic, drop)]] = NOBODY


def quotas(owned_count: Int64, partition_count: int) -> Int64:
    """Return how many partitions each member ends with, int64[N], N >= 1.

    `owned_count` is int64[N]: how many of the partitions each member owns. Of members
    that own as many, those with lower numbers come first. Cost: O(N log N). Source: KIP-54, "as
    balanced as possible".

    >>> quotas(np.array([4, 0, 1]), partition_count=7)
    array([3, 2, 2])
    """
    member_count = len(owned_count)
    floor, spare = divmod(partition_count, member_count)
    quota = np.full(member_count, floor, dtype=np.int64)
    if spare:
        quota[(-owned_count).argsort(kind="stable")[:spare]] += 1
    return quota
