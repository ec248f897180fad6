"""Who consumes what, whatever an assignor answers: what each member has, topic by topic.

A member is compared with what it consumed a step before, topic by topic, and most topics of most
members are as they were. Counts of a settlement are kept as long as it is sound: no partition is
consumed twice, each exists, and its consumer subscribes to it. What is not sound occurs only where
an assignor is wrong; whoever wants its figures counts them from the members' mappings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from assignors.model import Assignment, Group, Topic
from assignors.ownership.changes import TopicPartition, changed_topics
from assignors.ownership.monitors import started_while_owned
from assignors.simulation.rounds.counts import (
    NOTHING_ASKED,
    Asked,
    Counts,
    asked_of,
    new_counts,
)
from wire import TopicPartitions

NOTHING: TopicPartitions = {}

Difference = tuple[str, str, int]
"""Member id, topic, number."""


@dataclass(slots=True)
class Consumption:
    """What each member consumes now, and what has changed since the settlement began."""

    shares: Assignment = field(default_factory=dict)
    consumers: defaultdict[str, dict[int, str]] = field(default_factory=lambda: defaultdict(dict))
    """Topic -> number -> member id, while `is_single`."""
    load: dict[str, int] = field(default_factory=dict)
    """Partitions of each member."""
    is_single: bool = True
    """Whether nothing has been consumed twice since the settlement began."""
    is_sound: bool = True
    """Whether that, and each partition exists and its consumer subscribes to it."""
    before: Mapping[str, int] = field(default_factory=dict)
    """`load` when the settlement began."""
    first: dict[TopicPartition, str] = field(default_factory=dict)
    """The consumer at the beginning, of each partition that was taken from it since."""
    started: defaultdict[str, set[int]] = field(default_factory=lambda: defaultdict(set))
    """Topic -> numbers that some member started since the beginning."""
    topics: list[tuple[str, ...]] = field(default_factory=list)
    """Subscriptions of the members when the settlement began."""
    subscribed: dict[str, frozenset[str]] = field(default_factory=dict)
    """The same by member id."""
    lists: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    """Each of these subscriptions once."""
    known: Mapping[str, Topic] = field(default_factory=dict)
    """The topics of the cluster when the settlement began."""
    asked: Asked = NOTHING_ASKED

    def begin(self, group: Group, shares: Assignment) -> None:
        """Begin a settlement of the group, whose members consume `shares`.

        Cost: O(members and topics + partitions that have changed); O(partitions) after one that
        was not sound.
        """
        was_sound, subscribed, known = self.is_sound, self.subscribed, group.cluster.topics
        if not self.is_single:
            self.shares, self.load = {}, {}
            self.consumers.clear()
        self.is_single = True
        _, started, _ = self._change(shares)
        self.first.clear()
        self.started.clear()
        self.before = dict(self.load)
        self.topics = [member.topics for member in group.members]
        lists = {names: self.lists.get(names) or frozenset(names) for names in set(self.topics)}
        self.asked = asked_of(group, self.topics, lists)
        self.subscribed = {member.member_id: lists[member.topics] for member in group.members}
        self.lists = lists
        # What was sound, and is as it was, is not looked at again.
        is_kept = was_sound and not started
        checked = subscribed if is_kept else {}
        to_check = [
            (name, names)
            for name, names in self.subscribed.items()
            if checked.get(name) is not names
        ]
        self.is_sound = (
            self.is_single
            and all(names.issuperset(shares[name]) for name, names in to_check)
            and (
                (is_kept and self.known is known)
                or all(
                    not numbers
                    or (topic in known and _is_within(numbers, known[topic].partition_count))
                    for topic, numbers in self.consumers.items()
                )
            )
        )
        self.known = known

    def apply(
        self, group: Group, given: Assignment, *, is_cooperative: bool
    ) -> tuple[tuple[TopicPartition, ...], bool]:
        """Let every member consume what it is given.

        Return what was started on a member while another one consumed it, sorted, and whether a
        member had to stop consuming something: neither is asked of an eager protocol, under which
        everybody stops before the round. Cost: O(members and topics + partitions that change).
        """
        before = self.shares
        taken, started, was_consumed = self._change(given)
        self.is_sound = (
            self.is_sound
            and self.is_single
            and self.topics == [member.topics for member in group.members]
            and self._are_sound(started, group.cluster.topics)
        )
        if not is_cooperative:
            return (), False
        return started_while_owned(before, given) if was_consumed else (), bool(taken)

    def _are_sound(self, started: Iterable[Difference], known: Mapping[str, Topic]) -> bool:
        """Return whether these partitions exist, and their new consumers subscribe to them."""
        subscribed = self.subscribed
        for member_id, topic, number in started:
            if topic not in subscribed.get(member_id, ()) or topic not in known:
                return False
            if not 0 <= number < known[topic].partition_count:
                return False
        return True

    def counts(self) -> Counts | None:
        """Return the settlement in numbers; `None` where it is not sound."""
        if not self.is_sound:
            return None
        moved = sum(
            self.consumers[topic].get(number) != member_id
            for (topic, number), member_id in self.first.items()
        )
        return new_counts(asked=self.asked, before=self.before, after=dict(self.load), moved=moved)

    def _change(self, shares: Assignment) -> tuple[list[Difference], list[Difference], bool]:
        """Take `shares` over; return what was taken and started, and if that was consumed then.

        It counts as consumed as well once anything has been consumed twice.
        """
        taken, started = self._differences(shares)
        self.shares = shares
        consumers, since = self.consumers, self.started
        freed = {(topic, number) for _, topic, number in taken} if started else set()
        for member_id, topic, number in taken:
            if number not in since[topic]:
                self.first.setdefault((topic, number), member_id)
            consumers[topic].pop(number, None)
        was_consumed = False
        for member_id, topic, number in started:
            of_topic = consumers[topic]
            if number in of_topic:
                self.is_single = False
            elif (topic, number) in freed:
                was_consumed = True
            of_topic[number] = member_id
            since[topic].add(number)
        return taken, started, was_consumed or not self.is_single

    def _differences(self, shares: Assignment) -> tuple[list[Difference], list[Difference]]:
        """Return what each member no longer consumes, and what it starts to; count the new loads.

        A number that a member has twice counts as consumed twice.
        """
        taken: list[Difference] = []
        started: list[Difference] = []
        for member_id in self.shares.keys() - shares.keys():
            taken += [(member_id, t, n) for t, had in self.shares[member_id].items() for n in had]
            del self.load[member_id]
        for member_id, share in shares.items():
            had = self.shares.get(member_id)
            if had is None:
                had = NOTHING
            elif had is share:
                continue
            self.load[member_id] = sum(map(len, share.values()))
            given = dict(share.items())  # a dictionary is looked up faster
            for topic, before, after in changed_topics(dict(had.items()), given):
                self.is_single &= len(after) == len(given.get(topic, ()))
                taken += [(member_id, topic, number) for number in before - after]
                started += [(member_id, topic, number) for number in after - before]
        return taken, started


def _is_within(numbers: Collection[int], partition_count: int) -> bool:
    return min(numbers) >= 0 and max(numbers) < partition_count
