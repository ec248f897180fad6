"""What of members that go through rounds together stays from one round to the next, row by row.

As long as a member rests it subscribes to the same, owns the same, and is the same to its
coordinator. So what a round needs of it is read once and kept in lists, and no round looks at each
member anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.timed.protocols.classic.group import GroupMember
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.stages.subscriptions import Parts
from wire import TopicPartitions

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class StageMembers:
    """N members, a row each."""

    ids: list[str]
    known: list[GroupMember]
    """As the coordinator knows each."""
    assigned: list[bytes | None]
    """Its last Assignment; `None` where it owns something else."""
    owned: list[TopicPartitions]
    """What that gives it."""
    consumes: NDArray[np.bool_]
    """bool[N]: whether it consumes anything."""
    parts: list[Parts | None]
    """Its Subscription around the generation; `None`: it is still to be written, or has others."""

    @classmethod
    def of(
        cls,
        members: Collection[ClassicMember],
        known: Mapping[str, GroupMember],
        consumed: Mapping[str, TopicPartitions],
    ) -> StageMembers:
        """Return these members, as the coordinator knows them by id. Cost: O(n)."""
        ids = [each.member_id for each in members]
        return cls(
            ids=ids,
            known=[known[each] for each in ids],
            assigned=[
                each.assignment_bytes if each.owned is each.assignment_read else None
                for each in members
            ],
            owned=[each.assignment_read for each in members],
            consumes=np.array([bool(consumed.get(each.config.name)) for each in members], bool),
            parts=[None] * len(ids),
        )

    def chosen(self, rows: NDArray[np.int64]) -> StageMembers:
        """Return some of them. Cost: O(those), O(1) for all."""
        if len(rows) == len(self.ids) and (np.diff(rows) > 0).all():
            return self
        chosen = _chosen(rows)
        return StageMembers(
            ids=chosen(self.ids),
            known=chosen(self.known),
            assigned=chosen(self.assigned),
            owned=chosen(self.owned),
            consumes=self.consumes[rows],
            parts=chosen(self.parts),
        )

    def and_also(self, others: StageMembers) -> StageMembers:
        """Return these and others. Cost: O(all)."""
        return StageMembers(
            ids=self.ids + others.ids,
            known=self.known + others.known,
            assigned=self.assigned + others.assigned,
            owned=self.owned + others.owned,
            consumes=np.concatenate([self.consumes, others.consumes]),
            parts=self.parts + others.parts,
        )


def _chosen(rows: NDArray[np.int64]) -> Callable[[list[T]], list[T]]:
    """Return what picks these rows of a list."""
    listed = rows.tolist()
    if len(listed) < 2:
        return lambda values: [values[row] for row in listed]
    pick = itemgetter(*listed)
    return lambda values: list(pick(values))
