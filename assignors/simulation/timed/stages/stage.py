"""How far the members are that go through a round together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.timed.plain_heartbeats import Resting
from assignors.simulation.timed.queue import Moment
from assignors.simulation.timed.random_streams import Delays
from assignors.simulation.timed.stages.consumption import Shares
from assignors.simulation.timed.stages.flight import Flight, Int64
from assignors.simulation.timed.stages.joins import Joins
from assignors.simulation.timed.stages.stage_members import StageMembers

NOTHING: Int64 = np.zeros(0, dtype=np.int64)


class Step(Enum):
    """What they do."""

    JOINING = "joining"
    """They learn of the rebalance, and send JoinGroup."""
    WAITING = "waiting"
    """They have joined."""
    SYNCING = "syncing"
    """They are answered, send SyncGroup, and wait for their assignment."""


class StageDue(NamedTuple):
    """An event: the last member of a stage is due, or their requests are about to be given up."""


@dataclass(slots=True, kw_only=True)
class Stage:
    """The members that go through a round together. Times are microseconds, arrays int64[N]."""

    step: Step
    began: Moment
    """From where what they have done is played once more."""
    rows: dict[int, int]
    """Member number -> row, of those that are still together."""
    joins: Joins
    flight: Flight
    """Their JoinGroups, or their SyncGroups."""
    members: StageMembers
    gives_up: NDArray[np.bool_]
    """bool[N]: who gives up something before it joins."""
    led: list[int]
    """Numbers of those that led a round, as they know it themselves."""
    answered: Int64 = field(default_factory=lambda: NOTHING)
    """When the answer to its JoinGroup reaches each."""
    synced: Int64 = field(default_factory=lambda: NOTHING)
    """When the SyncGroup of each reaches the coordinator."""
    is_last_due: bool = False
    """The last JoinGroup comes at this moment, after all else."""
    tokens: int = 0
    """So many appends the coordinator had asked for."""
    appended_at: int = -1
    """When it asked for the last one."""
    shares: Shares = field(default_factory=Shares)
    """What those are given who have given up something."""
    given: dict[int, bool] = field(default_factory=dict)
    """Who is given something else than it had, by number; whether it takes something."""
    entered: frozenset[int] = frozenset()
    """Who has joined by events (`joining`)."""

    @property
    def takes(self) -> NDArray[np.bool_]:
        """Who of those still together takes something once its callback is over, bool[N]."""
        takes = np.zeros(len(self.gives_up), dtype=np.bool_)
        rows = np.fromiter(self.rows.values(), np.int64, len(self.rows))
        takes[rows] = self.gives_up[rows]
        for number in self.given.keys() & self.rows.keys():
            takes[self.rows[number]] = self.given[number]
        return takes

    def resting(self, rows: Int64, delays: Delays, now: int) -> Resting:
        """Return some of them as they rest once the plan is delivered, now. Cost: O(those)."""
        joins, answered = self.joins.chosen(rows), self.answered[rows]
        back = delays.come_back(joins.numbers, np.full(len(rows), now))
        return Resting(
            numbers=joins.numbers,
            due=answered + joins.every,
            every=joins.every,
            session_timeout=joins.session_timeout,
            arrived=self.synced[rows],
            returned=np.maximum(back, answered),
        )

    def late(self, now: int) -> list[int]:
        """Return whose SyncGroups come after the plan. Cost: O(members)."""
        comes_first = (self.synced == now) & (self.answered >= self.appended_at)
        # A heartbeat that was due before the plan came is an event, too.
        is_due = self.answered + self.joins.every <= now
        late = ((self.synced > now) | comes_first | is_due).tolist()
        return [number for number, row in self.rows.items() if late[row]]

    def changed(self, plan: Mapping[str, bytes]) -> list[int]:
        """Return who gets something else than it had. Cost: O(members)."""
        ids, assigned = self.members.ids, self.members.assigned
        return [n for n, row in self.rows.items() if assigned[row] != plan.get(ids[row], b"")]


class Round(NamedTuple):
    """A round that is over."""

    generation: int
    protocol: str | None
    order: int
    """Of the queue, when its plan was delivered."""
