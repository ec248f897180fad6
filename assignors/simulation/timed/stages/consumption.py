"""What members of an eager group give up and take in a round that they go through together.

Each gives up everything at a poll before it joins, and takes what it is given once its callback is
over. When it does so is arithmetic, as all else. Nobody looks meanwhile, and nobody else consumes
these partitions, or else the members go on by events: so the ledger may learn of it later, with the
times at which it happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from assignors.ownership.changes import TopicPartition, changed_topics
from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.moment import ASSIGNED, Consumption
from assignors.simulation.timed.monitors.watch import Watch
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.stages.flight import Int64
from wire import TopicPartitions

NEVER_TAKES = -1


class Shares(NamedTuple):
    """What members are given who have given up something."""

    away: frozenset[str] = frozenset()
    """Names of those who get what they gave up, and nobody has had to do with it since."""
    others: frozenset[TopicPartition] = frozenset()
    """The partitions of the others."""


@dataclass(slots=True, kw_only=True)
class Consuming:
    """What members consume, as the ledger and the monitors have it."""

    members: Sequence[ClassicMember]
    meter: Meter
    watch: Watch | None
    at: dict[int, int] = field(default_factory=dict)
    """Member number -> when it takes what it is given, of those who are still to be recorded."""
    shares: Shares = field(default_factory=Shares)
    """What they are given."""
    did: dict[int, Consumption] = field(default_factory=dict)
    """Member number -> what it did before it gave up everything, as the monitors have it."""
    _order: list[int] = field(default_factory=list)
    """Their numbers in the order of these times, the last one first."""

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return self.meter.ledger

    @property
    def may_gain(self) -> bool:
        """Whether members may begin to consume something without anybody looking."""
        return not (self.ledger.deleted or (self.watch and self.watch.committed_by))

    def give_up(self, numbers: Sequence[int], at: Sequence[int]) -> None:
        """Record that members have given up everything, each at its time. Cost: O(members)."""
        names, pauses = [self.members[number].config.name for number in numbers], self.meter.pauses
        self.ledger.give_up(at, names)
        for name in names if pauses.paused else ():
            pauses.lose(name, {})
        if self.watch is not None:
            does, nothing = self.watch.does, Consumption()
            self.did.update((number, does[number]) for number in numbers)
            for number in numbers:
                does[number] = nothing

    def take_later(self, numbers: Int64, takes: Int64, shares: Shares) -> None:
        """Let members take what they are given, each at its time, int64[N]; `NEVER_TAKES`: never.

        Nobody is still to be recorded. Cost: O(n log n).
        """
        rows = np.flatnonzero(takes != NEVER_TAKES)
        rows = rows[np.argsort(takes[rows], kind="stable")]
        listed = numbers[rows].tolist()
        self.at = dict(zip(listed, takes[rows].tolist(), strict=True))
        self._order, self.shares = listed[::-1], shares

    def record(self, now: int) -> None:
        """Record who has taken what it was given before a moment. Cost: O(their partitions)."""
        order, at, taking = self._order, self.at, []
        while order:
            takes = at.get(order[-1])
            if takes is not None and takes >= now:
                break
            number = order.pop()
            if takes is not None:
                taking.append(number)
        self._take(taking)

    def is_met_by(self, owned: TopicPartitions, now: int) -> bool:
        """Return whether a partition is one that somebody is still to take. Cost: O(partitions)."""
        if not self.at:
            return False
        self.record(now)
        away, others = self.shares
        return any(
            (topic, number) in others or not away.isdisjoint(self._consumers(topic, number))
            for topic, numbers in owned.items()
            for number in numbers
        )

    def given(self, numbers: Sequence[int], shares: Sequence[TopicPartitions]) -> Shares | None:
        """Return what members are given who have given up something, or get more than they have.

        `None` if somebody has one of these partitions, or it is given twice. Cost: O(members), of
        those who have not given up just that O(partitions).
        """
        if self.watch is not None and self.watch.committed_by:
            return None
        same, others, fresh = set[str](), set[TopicPartition](), []
        away, consumed = self.ledger.away, self.ledger.consumed
        for number, share in zip(numbers, shares, strict=True):
            name = self.members[number].config.name
            if name in away and away[name].owned is share:
                same.add(name)
            else:
                fresh.append((name, share))
        for name, share in fresh:
            for topic, old, new in changed_topics(consumed.get(name, {}), share):
                for number in new - old:
                    had, one = self._consumers(topic, number), (topic, number)
                    is_given_up = all(each in away and each not in same for each in had)
                    if one in others or not self._exists(topic, number) or not is_given_up:
                        return None
                    others.add(one)
        return Shares(frozenset(same), frozenset(others))

    def is_consumed(self, owned: TopicPartitions, name: str) -> bool:
        """Return whether another member than this one consumes one of these partitions.

        Cost: O(partitions).
        """
        away = self.ledger.away
        return any(
            each != name and each not in away
            for topic, numbers in owned.items()
            for number in numbers
            for each in self._consumers(topic, number)
        )

    def _exists(self, topic: str, number: int) -> bool:
        return number < len(self.ledger.partitions.get(topic, ()))

    def _consumers(self, topic: str, number: int) -> Sequence[str]:
        """Return who consumes a partition, or has given it up and is away."""
        if not self._exists(topic, number):
            return ()
        return self.ledger.partitions[topic][number].consumers

    def left(self) -> list[int]:
        """Return who is still to take what it is given; the rest must have been recorded."""
        return list(self.at)

    def wake(self, number: int, now: int, *, has_come: bool) -> int | None:
        """Let one member go on by events; return when its callback is over, if it runs.

        `has_come`: whether it has its assignment.
        """
        takes = self.at.get(number)
        if takes is None:
            return None
        if takes < now:
            self._take([number])
            return None
        del self.at[number]
        if not has_come:
            return None
        if self.watch is not None:
            does = self.watch.does[number]
            self.watch.does[number] = replace(does, callbacks=frozenset({ASSIGNED}))
        return takes

    def _take(self, numbers: Sequence[int]) -> None:
        members = [self.members[number] for number in numbers]
        times = list(map(self.at.pop, numbers))
        owned = [each.owned for each in members]
        self.ledger.take(times, [each.config.name for each in members], owned)
        if self.watch is not None:
            for number, share in zip(numbers, owned, strict=True):
                self.watch.does[number] = self._does(number, share)

    def _does(self, number: int, owned: TopicPartitions) -> Consumption:
        """Return what a member does that consumes this: most do what they did before."""
        did = self.did.get(number)
        is_same = did is not None and did.consumed is owned
        if did is None or not is_same or did.committing or did.callbacks:
            return Consumption(consumed=owned)
        return did
