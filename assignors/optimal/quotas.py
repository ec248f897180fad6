"""Balanced loads when every member may take every partition.

With equal subscriptions the best loads are known before any partition is placed: P
partitions on N members means P // N each, and P % N members carry one more. Giving the
extra ones to members that already own the most keeps the largest number of partitions where
they are, because an extra place is worth one kept partition to a member that owns more than
P // N and nothing to any other. So nothing needs searching here.
"""

from __future__ import annotations

import numpy as np

from assignors.optimal.partition_choice import given_up, receivers
from assignors.problem import NOBODY, Int32, Int64


def share(first: Int64, owner: Int32, member_count: int) -> tuple[Int32, int]:
    """Return who gets each partition, int32[P], and how many stay where they are.

    `first` is int64[T + 1], as in `Problem`; `owner` int32[P], -1 for nobody. There is at
    least one member. Cost: O(P + N log N).

    >>> share(np.array([0, 4, 6]), np.array([0, 0, 0, 0, -1, -1], dtype=np.int32), 2)
    (array([0, 0, 0, 1, 1, 1], dtype=int32), 3)
    """
    partition_count = len(owner)
    owned_count = np.bincount(owner + 1, minlength=member_count + 1)[1:]
    quota = quotas(owned_count, partition_count)
    answer = owner.copy()
    drop = owned_count - quota
    if drop.max() > 0:
        # One place more, so that an owner of -1 finds False there.
        is_over = np.zeros(member_count + 1, dtype=np.bool_)
        np.greater(drop, 0, out=is_over[:-1])
        shrinking = np.flatnonzero(is_over[owner])
        topic_of = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))
        np.maximum(drop, 0, out=drop)
        answer[shrinking[given_up(owner[shrinking], topic_of[shrinking], drop)]] = NOBODY
    free = np.flatnonzero(answer < 0)
    if len(free):
        gain = quota - np.minimum(owned_count, quota)
        answer[free] = receivers(gain[None, :])
    return answer, partition_count - len(free)


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
        quota[np.argsort(-owned_count, kind="stable")[:spare]] += 1
    return quota
