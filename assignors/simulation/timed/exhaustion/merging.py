"""What no later step reads, taken out of states: worlds that differ in nothing else are one.

A state that a step has led to is brought into one form. What stands for a process that has ended
for good is that of one that never began. None of it is an abstraction: every step and every monitor
does the same in both worlds, so a search that visits one of them has visited the other.
"""

from __future__ import annotations

from typing import Any

from assignors.simulation.timed.protocols.classic.coordinator_state import ClassicCoordinator
from assignors.simulation.timed.protocols.consumer.assignment.shares import LastTarget
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.step import WaitingCoordinator


def merge_member(state: Any) -> None:  # noqa: ANN401 - of any protocol
    """Count the assignments of a KIP-848 member from 0; `state` changes in place.

    Only whether two of them are the same is ever asked for, and a new one is above them all. That
    of an assignment on the way counts while the member is on its way.
    """
    if not isinstance(state, ConsumerClient):
        return
    if state.going_for is None:
        state.going_number = state.confirmed_number
    numbers = sorted({state.confirmed_number, state.going_number, state.target_number})
    state.confirmed_number = numbers.index(state.confirmed_number)
    state.going_number = numbers.index(state.going_number)
    state.target_number = numbers.index(state.target_number)


def merge_coordinator(state: object) -> None:
    """Drop what a coordinator keeps for a run alone, or keeps so as not to compute it again.

    A run asks who was removed, who has news and how often something has changed, which nobody does
    here. `state` changes in place.
    """
    if isinstance(state, ClassicCoordinator):
        state.group.removed = []
        state.group.transitions = state.group.changes = 0
    elif isinstance(state, WaitingCoordinator):
        coordinator, group = state.coordinator, state.coordinator.group
        coordinator.news, coordinator.news_epoch, group.removed = set(), None, []
        coordinator.last, group.changed_since = LastTarget(), set()
        _ = group.is_homogeneous  # it is kept from now on
        if group.refreshed_in <= group.epoch:
            group.refreshed_in = 0
