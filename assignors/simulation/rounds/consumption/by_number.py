"""Who consumes what in a settlement whose answers are lists of owners, by number of partition.

What has changed is where two lists differ; nothing is looked up by name, and a list of the same
numbers goes on into the next settlement. Only what is sound is counted so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import ne

from assignors.group_bytes.shares import AssignedShares
from assignors.model import Assignment, Group, Topic
from assignors.optimal.small.problem import Numbering, is_numbered
from assignors.ownership.changes import TopicPartition
from assignors.ownership.monitors import started_while_owned
from assignors.problem import NOBODY
from assignors.simulation.rounds.consumption.counts import Asked, Counts, asked_of, new_counts
from wire.constructors import unchecked

Start = tuple[Sequence[int], dict[str, int]]
"""The owner of each partition, and how many each member has, by member id."""


@dataclass(slots=True, kw_only=True)
class ConsumptionByNumber:
    """A settlement of M members and P partitions, numbered as in its answers."""

    answer: AssignedShares
    """One of them: member ids in order, topics, and where their partitions begin."""
    shares: Assignment
    """What each member consumes now."""
    subscriptions: list[tuple[str, ...]]
    """M: of the members when the settlement began, in the order of the group."""
    lists: Mapping[tuple[str, ...], frozenset[str]]
    """Each of these subscriptions once."""
    takes: Mapping[str, frozenset[str]]
    """What members subscribe to, by member id, that do not subscribe to all topics."""
    known: Mapping[str, Topic]
    """The topics of the cluster when the settlement began."""
    asked: Asked
    before: Mapping[str, int]
    """Partitions of each member when the settlement began, by member id."""
    start: Sequence[int]
    """P: who consumed each partition then, `NOBODY` for none."""
    owner: Sequence[int]
    """P: who consumes it now."""
    load: list[int]
    """M + 1: partitions of each member now; the last entry is nobody's."""
    moved: int = 0
    """Partitions that had a consumer then and now have another one, or none."""

    def apply(
        self, group: Group, given: Assignment, answer: AssignedShares, *, is_cooperative: bool
    ) -> tuple[tuple[TopicPartition, ...], bool] | None:
        """Return what `Consumption.apply` does; `None`, and nothing changes, for what is not sound.

        So it is for an answer of other numbers. Cost: O(P).
        """
        if not (_are_numbered_alike(self.answer, answer) and self._is_same_group(group, answer)):
            return None
        had, now = self.owner, answer.owner
        changed = list(compress(range(len(now)), map(ne, had, now)))
        if not self._may_take(changed, now):
            return None
        before, self.shares, self.owner = self.shares, given, now
        first, then = [had[p] for p in changed], [now[p] for p in changed]
        self._count(changed, first, then, is_first=had is self.start)
        if not is_cooperative:
            return (), False
        has_revoked = max(first, default=NOBODY) != NOBODY
        is_handed_on = has_revoked and any(
            NOBODY not in pair for pair in zip(first, then, strict=True)
        )
        return started_while_owned(before, given) if is_handed_on else (), has_revoked

    def counts(self) -> Counts:
        """Return the settlement in numbers."""
        after = dict(zip(self.answer.member_ids, self.load, strict=False))
        return new_counts(asked=self.asked, before=self.before, after=after, moved=self.moved)

    def _is_same_group(self, group: Group, answer: AssignedShares) -> bool:
        """Return whether the members are those of the beginning, and subscribe as they did then."""
        return (
            group.cluster.topics is self.known
            and answer.member_ids == self.answer.member_ids
            and self.subscriptions == [member.topics for member in group.members]
        )

    def _may_take(self, partitions: Iterable[int], owner: Sequence[int]) -> bool:
        """Return whether the owners of these partitions subscribe to their topics."""
        if not self.takes:
            return True
        ids, topics, first = self.answer.member_ids, self.answer.topics, self.answer.first
        takes = [self.takes.get(member_id) for member_id in ids]
        takes.append(None)  # of what is nobody's, which is -1
        for partition in partitions:
            taken = takes[owner[partition]]
            if taken is not None and topics[bisect_right(first, partition) - 1] not in taken:
                return False
        return True

    def _count(
        self, changed: list[int], first: list[int], then: list[int], *, is_first: bool
    ) -> None:
        """Count loads and moves anew, where these partitions have another consumer."""
        load, start = self.load, self.start
        for member in first:
            load[member] -= 1
        for member in then:
            load[member] += 1
        if is_first:
            self.moved = len(first) - first.count(NOBODY)
            return
        for partition, member, receiver in zip(changed, first, then, strict=True):
            of_start = start[partition]
            if of_start != NOBODY:
                self.moved += (receiver != of_start) - (member != of_start)


_new = unchecked(ConsumptionByNumber)


def begun_by_number(
    group: Group, shares: Assignment, answer: AssignedShares, last: ConsumptionByNumber | None
) -> ConsumptionByNumber | None:
    """Return a settlement of the group, whose members consume `shares`, before its first answer.

    `last` is the settlement before. `None` where members consume what they must not, or numbers
    do not say it. Cost: O(P + members and topics).
    """
    known = group.cluster.topics
    is_alike = last is not None and _are_numbered_alike(last.answer, answer)
    if not (is_alike and last is not None and last.known is known) and not _exist(answer, known):
        return None
    carried = _carried(last, shares, answer) if is_alike and last is not None else None
    found = _listed(shares, answer) if carried is None else carried
    if found is None:
        return None
    start, before = found
    subscriptions = [member.topics for member in group.members]
    made = {} if last is None else last.lists
    lists = {names: made.get(names) or frozenset(names) for names in set(subscriptions)}
    some = {names: taken for names, taken in lists.items() if not taken.issuperset(answer.topics)}
    takes = {m.member_id: some[m.topics] for m in group.members if m.topics in some} if some else {}
    if not all(names.issuperset(shares[member_id]) for member_id, names in takes.items()):
        return None
    return _new(
        answer=answer,
        shares=shares,
        subscriptions=subscriptions,
        lists=lists,
        takes=takes,
        known=known,
        asked=asked_of(group, subscriptions, lists),
        before=before,
        start=start,
        owner=start,
        load=[*before.values(), 0],
    )


def _are_numbered_alike(first: AssignedShares, then: AssignedShares) -> bool:
    return first.topics == then.topics and first.first == then.first


def _exist(answer: AssignedShares, known: Mapping[str, Topic]) -> bool:
    """Return whether topics have as many partitions as an answer says."""
    return all(
        topic in known and known[topic].partition_count == end - begin
        for topic, begin, end in zip(answer.topics, answer.first, answer.first[1:], strict=False)
    )


def _carried(last: ConsumptionByNumber, shares: Assignment, answer: AssignedShares) -> Start | None:
    """Return the owner of each partition, and how many each member has, of numbers as before.

    `None` where a member does not consume what the last answer gave it.
    """
    given = last.shares
    for member_id, share in shares.items():
        if share is not given.get(member_id) and (share or member_id in given):
            return None
    ids, earlier = answer.member_ids, last.answer.member_ids
    counted = dict(zip(earlier, last.load, strict=False))
    before = {member_id: counted.get(member_id, 0) for member_id in ids}
    if ids == earlier:
        return last.owner, before
    place = dict(zip(ids, range(len(ids)), strict=True))
    places = [place.get(member_id, NOBODY) for member_id in earlier]
    places.append(NOBODY)  # of what is nobody's, which is -1
    return [places[member] for member in last.owner], before


def _listed(shares: Assignment, answer: AssignedShares) -> Start | None:
    """Return the same from what each member consumes; `None` for what is not there, or twice."""
    place = {
        topic: (begin, end)
        for topic, begin, end in zip(answer.topics, answer.first, answer.first[1:], strict=False)
    }
    owner = [NOBODY] * answer.first[-1]
    before = {}
    numbering = Numbering(tuple(answer.topics), tuple(answer.first))
    for member, member_id in enumerate(answer.member_ids):
        share = shares[member_id]
        if is_numbered(share, numbering):
            numbering = share.numbering
            before[member_id] = len(share.partitions)
            for partition in share.partitions:
                owner[partition] = member
            continue
        before[member_id] = sum(map(len, share.values()))
        for topic, numbers in share.items():
            begin, end = place.get(topic, (0, 0))
            for number in numbers:
                if not 0 <= number < end - begin:
                    return None
                owner[begin + number] = member
    held = len(owner) - owner.count(NOBODY)
    return (owner, before) if held == sum(before.values()) else None
