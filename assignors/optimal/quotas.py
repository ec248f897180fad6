"""Balanced loads when every member may take every partition.

With equal subscriptions the best loads are known before any partition is placed: P
partitions on N members means P // N each, and P % N members carry one more. Giving the
extra ones to members that already own the most keeps the largest number of partitions where
they are, because an extra place is worth one kept partition to a member that owns more than
P // N and nothing to any other. So nothing needs searching here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assignors.optimal.faces import equal_face
from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.table import bit_sets
from assignors.optimal.partition_choice import dealt, given_up
from assignors.optimal.spread import Face, Task, set_of
from assignors.optimal.topic_choice import CHANGES_MAX, Chosen, TopicRows, choose
from assignors.problem import NOBODY, Int32, Int64

PARTITIONS_MAX = 1_000
"""What changes hands in smaller groups is chosen one by one, however much it is."""
NONE: Int64 = np.zeros(0, dtype=np.int64)


def share(
    first: Int64,
    owner: Int32,
    member_count: int,
    *,
    effort: Effort | None = None,
    moves_last: bool = False,
) -> Chosen:
    """Return who gets each partition, and which ones change hands.

    `first` is int64[T + 1], as in `Problem`; `owner` int32[P], -1 for nobody.
    There is at least one member.
    Cost: O(P + N log N), and that of `spread.least_spread`.

    >>> owner = np.array([0, 0, 0, 0, -1, -1], dtype=np.int32)
    >>> share(np.array([0, 4, 6]), owner, 2)
    Chosen(owner=array([0, 0, 0, 1, 1, 1], dtype=int32), changed=array([3, 4, 5]), is_best=True)
    """
    partition_count = len(owner)
    effort = effort or Effort()
    owned_count = _counted(owner, member_count)
    if not np.count_nonzero(owned_count):
        in_turns = _in_turns(partition_count, member_count)
        return Chosen(in_turns, np.arange(partition_count), is_best=True)
    face, task = equal_task(owned_count.tolist(), partition_count, moves_last=moves_last)
    rows, free = TopicRows(bounds=first), NONE
    if partition_count > int(owned_count.sum()):
        free = np.flatnonzero(owner < 0)
    elif not task.drops and task.extras >= 0 and not moves_last:
        return Chosen(owner, NONE, is_best=True)
    change_count = len(free) + sum(task.drops.values()) + max(-task.extras, 0)
    if partition_count <= PARTITIONS_MAX or change_count <= CHANGES_MAX:
        task = task._replace(rows=range(len(first) - 1), free=rows.count(free))
        return choose(rows, owner, member_count, face, tasks=[task], effort=effort)
    given, full = _in_bulk(first, owner, owned_count)
    flexible = face.up | face.down
    face = face._replace(up=flexible & ~full, down=flexible & full)
    return choose(rows, owner, member_count, face, given=given, effort=effort)


def _in_bulk(first: Int64, owner: Int32, owned_count: Int64) -> tuple[Int32, int]:
    """Return an answer that is best but for the spread, and the members that have one more."""
    member_count, answer = len(owned_count), owner.copy()
    gain = gains(owned_count, len(owner))
    load = owned_count + gain
    shrinking = (gain < 0).nonzero()[0]
    if len(shrinking):
        drop = -gain[shrinking]
        answer[_given_up(first, answer, member_count, shrinking, drop)] = NOBODY
    free = (answer < 0).nonzero()[0]
    growing = (gain > 0).nonzero()[0]
    answer[free] = dealt(np.zeros_like(growing), growing, gain[growing], 1)
    return answer, bit_sets((load > len(owner) // member_count)[None, :])[0]


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
    topic = np.repeat(np.arange(len(first) - 1, dtype=np.int32), np.diff(first))[held]
    given: Int64 = held[given_up(number[held], topic, drop)]
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
    rich = {member: count for member, count in enumerate(owned_count) if count > floor}
    face = equal_face(
        rich=set_of(rich), everybody=(1 << member_count) - 1, spare=spare, moves_last=moves_last
    )
    most = floor + (spare > 0)
    return face, Task(
        rows=(),
        drops={member: count - most for member, count in rich.items() if count > most},
        free={},
        gains={m: floor - count for m, count in enumerate(owned_count) if count < floor},
        extras=spare - len(rich) if spare else 0,
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
