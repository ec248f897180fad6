"""What members of an eager group give up and take in a round that they go through together.

Each gives up everything at a poll before it joins, and takes what it is given once its callback is
over. When it does so is arithmetic, as all else. Nobody looks meanwhile, and nobody else consumes
these partitions, or else the members go on by events: so the ledger may learn of it later, with the
times at which it happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.moment import ASSIGNED, Consumption
from assignors.simulation.timed.monitors.watch import Watch
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.stages.flight import Int64
from wire import TopicPartitions

Marks = dict[str, bytearray]
"""Topic -> 1 for each partition that is somebody's."""
NEVER_TAKES = -1


@dataclass(slots=True, kw_only=True)
class Consuming:
    """What members consume, as the ledger and the monitors have it."""

    members: Sequence[ClassicMember]
    meter: Meter
    watch: Watch | None
    at: dict[int, int] = field(default_factory=dict)
    """Member number -> when it takes what it is given, of those who are still to be recorded."""
    marks: Marks = field(default_factory=dict)
    """What is theirs."""
    _order: list[int] = field(default_factory=list)
    """Their numbers in the order of these times, the last one first."""

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return self.meter.ledger

    def give_up(self, numbers: Sequence[int], at: Sequence[int]) -> None:
        """Record that members have given up everything, each at its time. Cost: O(partitions)."""
        ledger, pauses = self.ledger, self.meter.pauses
        nothing = Consumption()
        for number, gives_up in zip(numbers, at, strict=True):
            name = self.members[number].config.name
            ledger.consume(gives_up, name, {}, "revoked")
            pauses.consume(name, {})
            if self.watch is not None:
                self.watch.does[number] = nothing

    def take_later(self, numbers: Int64, takes: Int64, marks: Marks) -> None:
        """Let members take what they are given, each at its time, int64[N]; `NEVER_TAKES`: never.

        Nobody is still to be recorded. Cost: O(n log n).
        """
        rows = np.flatnonzero(takes != NEVER_TAKES)
        rows = rows[np.argsort(takes[rows], kind="stable")]
        listed = numbers[rows].tolist()
        self.at = dict(zip(listed, takes[rows].tolist(), strict=True))
        self._order, self.marks = listed[::-1], marks

    def record(self, now: int) -> None:
        """Record who has taken what it was given before a moment. Cost: O(their partitions)."""
        order, at = self._order, self.at
        while order:
            takes = at.get(order[-1])
            if takes is not None and takes >= now:
                return
            number = order.pop()
            if takes is not None:
                self._take(number, takes)

    def is_met_by(self, owned: TopicPartitions, now: int) -> bool:
        """Return whether a partition is one that somebody is still to take. Cost: O(partitions)."""
        if not self.at:
            return False
        self.record(now)
        return any(
            number < len(marks) and marks[number]
            for topic, numbers in owned.items()
            for marks in [self.marks.get(topic, bytearray())]
            for number in numbers
        )

    def marked(self, shares: Iterable[TopicPartitions]) -> Marks | None:
        """Return these partitions, marked; `None` if somebody has one, or it stands there twice.

        Cost: O(partitions).
        """
        if self.watch is not None and self.watch.committed_by:
            return None
        partitions = self.ledger.partitions
        marks = {topic: bytearray(len(listed)) for topic, listed in partitions.items()}
        for share in shares:
            for topic, numbers in share.items():
                own, listed = marks.get(topic), partitions.get(topic)
                if own is None or listed is None or max(numbers, default=0) >= len(listed):
                    return None
                for number in numbers:
                    if own[number] or listed[number].consumers:
                        return None
                    own[number] = 1
        return marks

    def is_consumed(self, owned: TopicPartitions, name: str) -> bool:
        """Return whether another member than this one consumes one of these partitions.

        Cost: O(partitions).
        """
        partitions = self.ledger.partitions
        return any(
            number < len(partitions[topic])
            and any(each != name for each in partitions[topic][number].consumers)
            for topic, numbers in owned.items()
            if topic in partitions
            for number in numbers
        )

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
            self._take(number, takes)
            return None
        del self.at[number]
        if not has_come:
            return None
        if self.watch is not None:
            self.watch.does[number] = Consumption(callbacks=frozenset({ASSIGNED}))
        return takes

    def _take(self, number: int, at: int) -> None:
        del self.at[number]
        member = self.members[number]
        self.ledger.consume(at, member.config.name, member.owned, "assigned")
        if self.watch is not None:
            self.watch.does[number] = Consumption(consumed=member.owned)
