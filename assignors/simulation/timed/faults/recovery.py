"""How long a group needs after its coordinator was lost, and what the next one has to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.protocols.effects import MILLISECOND, Response
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeatResponse,
    ErrorCode,
    HeartbeatResponse,
)
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.sides import Sides


@dataclass(slots=True, kw_only=True)
class Recovery:
    """One failover. Times are microseconds since the run began; `None`: not yet."""

    began: int
    loaded: int | None = None
    heartbeat: int | None = None
    """When a member first got an answer to a heartbeat."""
    rest: int | None = None
    """When everybody had got an answer, and the group was at rest."""


@dataclass(slots=True, kw_only=True)
class Recoveries:
    """The failovers of a run."""

    sides: Sides
    meter: Meter
    numbers: Mapping[str, int]
    """Member name -> its number."""
    groupless: frozenset[int]
    """Members outside the group, who need not hear anything."""
    awaited: set[int] = field(default_factory=set)
    """Members that have not heard of the present coordinator yet."""
    is_heartbeat_awaited: bool = False
    """Whether the present coordinator has answered no heartbeat yet."""
    listed: list[Recovery] = field(default_factory=list)
    heard_at: int = 0
    """When a member was last heard for the first time."""
    replayed: int = 0
    """Records that coordinators have read, each as often as it was read."""
    lost: int = 0
    """Records that were not replicated."""

    @classmethod
    def of(cls, scenario: Scenario, sides: Sides, meter: Meter) -> Recoveries:
        """Return those of a run that begins."""
        members = list(enumerate(scenario.members))
        return cls(
            sides=sides,
            meter=meter,
            numbers={each.name: number for number, each in members},
            groupless=frozenset(number for number, each in members if each.assign),
        )

    def begin(self, now: int, lost: int) -> None:
        """Note that a coordinator is lost; `lost` is how many records are. Cost: O(members)."""
        self.lost += lost
        self.listed.append(Recovery(began=now))
        self.is_heartbeat_awaited = True
        running = {n for n, each in enumerate(self.sides.members) if each.is_up}
        self.awaited = running - self.groupless

    def load(self, now: int, replayed: int) -> None:
        """Note that the next one has read the log."""
        self.replayed += replayed
        for each in self._open():
            each.loaded = now

    def may_rest(self, member: int) -> bool:
        """Return whether it makes no difference when a member hears of the coordinator again."""
        return not self.is_heartbeat_awaited and member not in self.awaited

    def hear(self, now: int, member: int, response: Response) -> None:
        """Note that a member has got an answer from the coordinator. Cost: O(open failovers)."""
        if member in self.awaited:
            self.awaited.discard(member)
            self.heard_at = now
        if self.is_heartbeat_awaited and _is_welcome(response):
            self.is_heartbeat_awaited = False
            for each in self.listed:
                each.heartbeat = now if each.heartbeat is None else each.heartbeat

    def look_at(self, member: int) -> None:
        """Look at a member after its step: one whose process has ended need not hear anything."""
        if member in self.awaited and not self.sides.members[member].is_up:
            self.awaited.discard(member)
        self.look()

    def look(self) -> None:
        """Look whether the group is at rest again; O(members) while it may be, else O(1)."""
        if self.awaited or not self.listed or self.listed[-1].rest is not None:
            return
        waiting = self._open()
        if not all(each.loaded for each in waiting):
            return
        if self.meter.is_at_rest(self.sides, self.numbers):
            for each in waiting:
                each.rest = max(each.loaded or 0, self.heard_at, self.meter.settled_at)

    def figures(self) -> dict[str, Any]:
        """Return what a result says of them."""
        self.look()
        listed = self.listed
        return {
            "failovers": len(listed),
            "recovery_ms": _longest([(each.began, each.rest) for each in listed]),
            "first_heartbeat_ms": _longest([(each.began, each.heartbeat) for each in listed]),
            "records_replayed": self.replayed,
            "records_lost": self.lost,
        }

    def _open(self) -> list[Recovery]:
        return [each for each in self.listed if each.rest is None]


def _is_welcome(response: Response) -> bool:
    if isinstance(response, HeartbeatResponse):
        return response.error is ErrorCode.NONE
    if isinstance(response, ConsumerHeartbeatResponse):
        return response.error is ErrorCode.NONE
    return False


def _longest(times: list[tuple[int, int | None]]) -> float | None:
    """Return the longest of these times in milliseconds; `None` where one has no end."""
    found = [None if end is None else end - began for began, end in times]
    whole = [each for each in found if each is not None]
    return max(whole) / MILLISECOND if whole and len(whole) == len(found) else None
