"""The states of a partition at the coordinator, and which follow which.

    UNOWNED --moved--> INFORMING --awaited--> REMOVING --granted--> OWNED --moved--> INFORMING
                           |                                          ^
                           +------------------granted-----------------+

A change of plan leads back to INFORMING from everywhere. `NEXT` is the whole table; a pair that is
not in it is a fault of the simulator.
"""

from __future__ import annotations

from enum import StrEnum


class PartitionState(StrEnum):
    """Where a partition is on its way from one owner to the next."""

    UNOWNED = "unowned"
    """No member has it or shall have it."""
    INFORMING = "informing"
    """The brokers are informed of the next owner, and have not all acknowledged."""
    REMOVING = "removing"
    """The old owner is asked to give it up, and its notification is outstanding."""
    OWNED = "owned"
    """Its owner has been granted it."""


class PartitionEvent(StrEnum):
    """What happens to a partition."""

    MOVED = "moved"
    """Another owner is chosen, or none."""
    AWAITED = "awaited"
    """All brokers have acknowledged; the old owner has to commit first."""
    GRANTED = "granted"
    """All brokers have acknowledged, and nobody else has it: the owner may start."""
    ENDED = "ended"
    """Nobody has it any more, and nobody shall have it."""


IN_MOTION = (PartitionState.INFORMING, PartitionState.REMOVING)

NEXT: dict[tuple[PartitionState, PartitionEvent], PartitionState] = {
    (PartitionState.UNOWNED, PartitionEvent.MOVED): PartitionState.INFORMING,
    (PartitionState.INFORMING, PartitionEvent.MOVED): PartitionState.INFORMING,
    (PartitionState.REMOVING, PartitionEvent.MOVED): PartitionState.INFORMING,
    (PartitionState.OWNED, PartitionEvent.MOVED): PartitionState.INFORMING,
    (PartitionState.INFORMING, PartitionEvent.AWAITED): PartitionState.REMOVING,
    (PartitionState.INFORMING, PartitionEvent.GRANTED): PartitionState.OWNED,
    (PartitionState.INFORMING, PartitionEvent.ENDED): PartitionState.UNOWNED,
    (PartitionState.REMOVING, PartitionEvent.GRANTED): PartitionState.OWNED,
    (PartitionState.REMOVING, PartitionEvent.ENDED): PartitionState.UNOWNED,
    # An owner was refused a fetch and gave the partition up; meanwhile it became its owner again.
    (PartitionState.OWNED, PartitionEvent.GRANTED): PartitionState.OWNED,
}
"""(state, what happens) -> the next state: all that can happen to a partition."""
