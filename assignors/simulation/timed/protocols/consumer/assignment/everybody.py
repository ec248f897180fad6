"""The members that a target is computed for, and the target before."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import NamedTuple

from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup, ConsumerMember
from wire import TopicPartitions


class Everybody(NamedTuple):
    """The members that a target is computed for, as they will be after the request."""

    ids: list[str]
    """In the order of Kafka's map."""
    known: Mapping[str, ConsumerMember]
    """Those that the group has already, by id."""
    asking: ConsumerMember
    """The member whose request it is."""
    replaced: str | None
    """The id of the static member in whose place it comes."""
    is_homogeneous: bool
    """Whether all subscribe to the same topics, as Kafka sees it."""
    assignor: str | None
    """What most members would like."""
    before: Mapping[str, TopicPartitions]
    """The target as it is, with that of a static member for the one in its place; of others too."""
    hidden: TopicPartitions
    """The target that the asking member had itself, where that of a static member hides it: Kafka
    counts these partitions as assigned, and its uniform assignor gives them to nobody."""

    def member(self, member_id: str) -> ConsumerMember:
        """Return one of them."""
        return self.asking if member_id == self.asking.member_id else self.known[member_id]


def target_before(
    group: ConsumerGroup, asking: str, replaced: str | None
) -> Mapping[str, TopicPartitions]:
    """Return the target as it is, with that of a static member for the one in its place.

    Where the static member has none yet, the one in its place keeps its own. Cost: O(1).
    """
    if replaced is not None and replaced in group.target:
        return ChainMap({asking: group.target[replaced]}, group.target)
    return group.target


def hidden_target(group: ConsumerGroup, asking: str, replaced: str | None) -> TopicPartitions:
    """Return the asking member's own target, if it comes in the place of a static member.

    A dynamic member does so that joins again under its id, with the instance id of a member that is
    away. By member its target is that of the static one then; by partition Kafka still looks at the
    targets as they are in the log (`ModernGroup.invertedTargetAssignment`).
    """
    if replaced is None or replaced == asking or replaced not in group.target:
        return {}
    return group.target.get(asking, {})
