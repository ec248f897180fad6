"""A consumer that takes partitions by itself (`assign()`): it is in no group and tells nobody.

It may still commit under the group's id: the coordinator takes that as long as the group has no
members.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.effects import (
    Command,
    Consume,
    Effect,
    MemberEvent,
)
from assignors.simulation.timed.scenario import MemberConfig
from wire import TopicPartitions


@dataclass(slots=True, kw_only=True)
class ManualMember:
    """A consumer outside any group."""

    config: MemberConfig
    topics: tuple[str, ...] = ()
    member_id: str = ""
    generation: int = -1
    is_up: bool = False
    owned: TopicPartitions = field(default_factory=dict)

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs: it has nothing else to do."""
        return self.is_up


def step(state: ManualMember, event: MemberEvent) -> list[Effect]:
    """Return what it does about an event; `state` is changed in place. Cost: O(1)."""
    if event is Command.START and not state.is_up:
        state.is_up, state.owned = True, state.config.assign
        return [Consume(state.owned, "assigned")]
    if event in {Command.STOP, Command.CRASH} and state.is_up:
        state.is_up, state.owned = False, {}
        return [Consume({}, "revoked" if event is Command.STOP else "crashed")]
    return []
