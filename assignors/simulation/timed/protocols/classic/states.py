"""The states of a classic group and of its members, and which follow which.

    EMPTY --join--> PREPARING_REBALANCE --all joined--> COMPLETING_REBALANCE --synced--> STABLE

and from the last two back to PREPARING_REBALANCE whenever a member joins, leaves or changes.
`TRANSITIONS` is the whole table; a pair that is not in it is a fault of the simulator.
"""

from __future__ import annotations

from enum import StrEnum


class GroupState(StrEnum):
    """The states of a classic group, named as Kafka describes them."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


TRANSITIONS: frozenset[tuple[GroupState, GroupState]] = frozenset(
    {
        (GroupState.EMPTY, GroupState.PREPARING_REBALANCE),
        (GroupState.STABLE, GroupState.PREPARING_REBALANCE),
        (GroupState.COMPLETING_REBALANCE, GroupState.PREPARING_REBALANCE),
        (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE),
        (GroupState.PREPARING_REBALANCE, GroupState.EMPTY),
        (GroupState.COMPLETING_REBALANCE, GroupState.STABLE),
        *((state, GroupState.DEAD) for state in GroupState),
    }
)
"""(from, to): everything that a classic group can do."""


class MemberState(StrEnum):
    """Where a member is in the protocol."""

    DOWN = "down"
    REVOKING = "revoking"
    """Its callback runs; it joins or leaves once that is over."""
    JOINING = "joining"
    """Its JoinGroup waits for an answer."""
    SYNCING = "syncing"
    """It leads and computes, or its SyncGroup waits for an answer."""
    STABLE = "stable"
