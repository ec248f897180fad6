"""Who consumes each partition, kept from round to round so that only changes are looked at.

Small groups are answered with a list of owners, and what two such lists differ in is what has
changed (`by_number`). Every other answer, and whatever is not sound, is compared member by member
(`by_name`). Both count the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.group_bytes.shares import AssignedShares
from assignors.model import Assignment, Cluster, Group
from assignors.ownership.changes import TopicPartition
from assignors.simulation.rounds.consumption.by_name import ConsumptionByName
from assignors.simulation.rounds.consumption.by_number import (
    ConsumptionByNumber,
    begun_by_number,
)
from assignors.simulation.rounds.consumption.counts import Counts

NO_GROUP = Group(cluster=Cluster(topics={}), members=())


@dataclass(slots=True)
class Consumption:
    """What each member consumes now, and what has changed since the settlement began."""

    by_name: ConsumptionByName = field(default_factory=ConsumptionByName)
    by_number: ConsumptionByNumber | None = None
    """Of this settlement, or of the last one while this one has not been answered."""
    is_by_name: bool = True
    """Whether this settlement is counted by name."""
    start: tuple[Group, Assignment] = (NO_GROUP, {})
    """The group when the settlement began, and what its members consumed."""
    steps: list[tuple[Group, Assignment]] = field(default_factory=list)
    """What was applied since, while it is not counted by name."""

    def begin(self, group: Group, shares: Assignment) -> None:
        """Begin a settlement of the group, whose members consume `shares`. Cost: O(1)."""
        self.start = group, shares
        self.steps = []
        self.is_by_name = False

    def apply(
        self,
        group: Group,
        given: Assignment,
        *,
        is_cooperative: bool,
        answer: Assignment | None = None,
    ) -> tuple[tuple[TopicPartition, ...], bool]:
        """Let every member consume what it is given: its part of `answer`, where that is known.

        Return what was started on a member while another one consumed it, sorted, and whether a
        member had to stop consuming something: neither is asked of an eager protocol, under which
        everybody stops before the round. Cost: that of comparing two lists of owners, in the first
        round O(members and topics) more; by name as `ConsumptionByName`.
        """
        if not self.is_by_name:
            found = None
            if type(answer) is AssignedShares and answer.keys() == given.keys():
                found = self._applied_by_number(group, given, answer, is_cooperative=is_cooperative)
            if found is not None:
                self.steps.append((group, given))
                return found
            self._go_on_by_name(is_cooperative=is_cooperative)
        return self.by_name.apply(group, given, is_cooperative=is_cooperative)

    def counts(self) -> Counts | None:
        """Return the settlement in numbers; `None` where it is not sound."""
        if self.steps and self.by_number is not None:
            return self.by_number.counts()
        if not self.is_by_name:
            self._go_on_by_name(is_cooperative=False)
        return self.by_name.counts()

    def _applied_by_number(
        self, group: Group, given: Assignment, answer: AssignedShares, *, is_cooperative: bool
    ) -> tuple[tuple[TopicPartition, ...], bool] | None:
        """Return what `apply` does; `None` where numbers do not tell all."""
        if not self.steps:
            self.by_number = begun_by_number(*self.start, answer, self.by_number)
        if self.by_number is None:
            return None
        return self.by_number.apply(group, given, answer, is_cooperative=is_cooperative)

    def _go_on_by_name(self, *, is_cooperative: bool) -> None:
        """Count the settlement by name, from its start on."""
        self.is_by_name, self.by_number = True, None
        self.by_name.begin(*self.start)
        for group, given in self.steps:
            self.by_name.apply(group, given, is_cooperative=is_cooperative)
        self.steps = []
