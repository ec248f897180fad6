"""Balanced loads when every member may take every partition.

With equal subscriptions the best loads are known before any partition is placed: P
partitions on N members means P // N each, and P % N members carry one more. Giving the
extra ones to members that already own the most keeps the largest number of partitions where
they are, because an extra place is worth one kept partition to a member that owns more than
P // N and nothing to any other. So nothing needs searching here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from assignors.optimal.faces import equal_face
from assignors.optimal.partition_choice import FEW, given_up, receivers
from assignors.optimal.spread import Face, Task, set_of
from assignors.problem import NOBODY, Int32, Int64

NONE: Int64 = np.zeros(0, dtype=np.int64)


class Holdings(NamedTuple):
    """What N members own, one member after the other."""

    partition: Int64
    """int64[C]: the partitions of the first member, in any order, then those of the second."""
    owned_count: Int64
    """int64[N]: how many each member owns."""
    are_of_different_topics: bool
    """Whether no member is known to own two partitions of a topic."""


class Shared(NamedTuple):
    """Who gets what."""

    owner: Int32
    """int32[P]."""
    kept: int
    """Partitions that stay where they are."""
    changed: Int64
    """Those that do not, ascending."""


def share(
    first: Int64, owner: Int32, member_count: int, holdings: Holdings | None = None
) -> Shared:
    """Return who gets each partition, and which ones change hands.

    `first` is int64[T + 1], as in `Problem`; `owner` int32[P], -1 for nobody; `holdings` are the
    same by member, where they are known. There is at least one member. Cost: O(P + N log N).

    >>> share(np.array([0, 4, 6]), np.array([0, 0, 0, 0, -1, -1], dtype=np.int32), 2)
    Shared(owner=array([0, 0, 0, 1, 1, 1], dtype=int32), kept=3, changed=array([3, 4, 5]))
    """
    partition_count = len(owner)
    if holdings is not None:
        owned_count, free_count = holdings.owned_count, partition_count - len(holdings.partition)
    else:
        owned_count = _counted(owner, member_count)
        free_count = partition_count - int(owned_count.sum())
    if free_count == partition_count:
        return Shared(_in_turns(partition_count, member_count), 0, np.arange(partition_count))
    gain = gains(owned_count, partition_count)
    answer, shrinking = owner.copy(), (gain < 0).nonzero()[0]
    given = changed = NONE
    if len(shrinking):
        drop = -gain[shrinking]
        found = None if holdings is None else _given_up_in_turn(holdings, shrinking, drop)
        given = _given_up(first, answer, member_count, shrinking, drop) if found is None else found
        gain[shrinking] = 0
        free_count += len(given)
    if free_count:
        if free_count == len(given) <= FEW:
            changed = np.sort(given)
        else:
            answer[given] = NOBODY
            changed = (answer < 0).nonzero()[0]
        answer[changed] = receivers(gain, free_count)
    return Shared(answer, partition_count - free_count, changed)


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


def _given_up(
    first: Int64, owner: Int32, member_count: int, shrinking: Int64, drop: Int64
) -> Int64:
    """Return what these members give up: of each one as many as `drop` says, at least one."""
    # One place more, so that an owner of -1 finds -1 there.
    number_of = np.full(member_count + 1, NOBODY, dtype=np.int32)
    number_of[shrinking] = np.arange(len(shrinking))
    number = number_of.take(owner)  # as an index of 32 bits it would cost three times as much
    held = (number >= 0).nonzero()[0]
    topic: Int32 | Int64
    if len(held) <= FEW:
        topic = first.searchsorted(held, side="right") - 1
    else:
        topic = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))[held]
    given: Int64 = held[given_up(number[held], topic, drop)]
    return given


def _given_up_in_turn(holdings: Holdings, shrinking: Int64, drop: Int64) -> Int64 | None:
    """Return the same where no member has two partitions of a topic: all are as good.

    Each one starts where the one before it stopped, as in `small.choice.in_turn`. `None` where
    some member has, or where these members do not all have as many partitions.
    """
    if not holdings.are_of_different_topics:
        return None
    partition, count = holdings.partition, holdings.owned_count[shrinking]
    each, size = int(count[0]), partition.itemsize
    if np.count_nonzero(count != each):
        return None
    start = holdings.owned_count.cumsum()[shrinking]
    start -= each
    runs = (len(partition) - each + 1, each)
    held = np.ndarray(runs, partition.dtype, partition, 0, (size, size))[start]
    held.sort()
    if len(drop) <= each and drop[drop.argmax()] == 1:  # so each gives one, from its own place on
        diagonal: Int64 = held.ravel()[: len(drop) * each : each + 1]
        return diagonal
    giver = np.arange(len(drop)).repeat(drop)
    given: Int64 = held[giver, np.arange(len(giver)) % each]
    return given


def equal_task(
    owned_count: Sequence[int], partition_count: int, *, moves_last: bool = False
) -> tuple[Face, Task]:
    """Return what members give up and get, and what is free to choose then; without rows.

    >>> face, task = equal_task([4, 0, 1], 7)
    >>> task.drops, task.gains, task.extras
    ({0: 1}, {1: 2, 2: 1}, 0)
    """
    member_count = len(owned_count)
    floor, spare = divmod(partition_count, member_count)
    rich = [member for member, count in enumerate(owned_count) if count > floor]
    full = set(sorted(rich, key=owned_count.__getitem__, reverse=True)[:spare])
    quota = {member: floor + (member in full) for member in rich}
    face = equal_face(
        rich=set_of(rich),
        full=set_of(full),
        everybody=(1 << member_count) - 1,
        spare=spare,
        moves_last=moves_last,
    )
    return face, Task(
        rows=(),
        drops={m: owned_count[m] - due for m, due in quota.items() if owned_count[m] > due},
        free={},
        gains={m: floor - count for m, count in enumerate(owned_count) if count < floor},
        extras=spare - len(full),
    )


def gains(owned_count: Int64, partition_count: int) -> Int64:
    """Return how many partitions more each member ends with, negative for fewer, int64[N], N >= 1.

    `owned_count` is int64[N]: how many of the partitions each member owns. Of members
    that own as many, those with lower numbers come first. Cost: O(N log N). Source: KIP-54, "as
    balanced as possible".

    >>> gains(np.array([4, 0, 1]), partition_count=7)
    array([-1,  2,  1])
    """
    floor, spare = divmod(partition_count, len(owned_count))
    gain = floor - owned_count
    if spare:
        gain[gain.argsort(kind="stable")[:spare]] += 1
    return gain
