"""Who may commit, fetch and delete offsets: the rules of classic and of consumer groups.

A classic group takes a commit from a member of the present generation, but not between the two
barriers of a rebalance. A consumer group looks at each partition: a member may commit what it has
been assigned under the epoch that it names, or before (KIP-1251); under its present epoch it may
commit anything. Consumers that are in no group (`assign()`) commit with generation -1, which a
group takes as long as it has no members; the first such commit makes the group.

Source: `ClassicGroup.validateOffsetCommit`, `ConsumerGroup.validateOffsetCommit`,
`OffsetMetadataManager` of Kafka 4.4.
"""

from __future__ import annotations

from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.messages import CONSUMER, UNKNOWN_MEMBER_ID
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.consumer.coordinator_state import ConsumerCoordinator
from assignors.simulation.timed.protocols.consumer.group import ConsumerMember
from assignors.simulation.timed.protocols.offsets.messages import (
    CommitError,
    OffsetCommit,
    OffsetFetch,
)

PER_PARTITION_VERSION = 9
"""From this version of OffsetCommit on members of consumer groups can commit (KIP-848)."""


def missing_group_refusal(request: OffsetCommit) -> CommitError:
    """Return why a commit is refused where there is no group; from outside any group it is not."""
    if request.generation < 0:
        return CommitError.NONE
    is_old = not request.is_transactional and request.version < PER_PARTITION_VERSION
    return CommitError.ILLEGAL_GENERATION if is_old else CommitError.GROUP_ID_NOT_FOUND


def classic_commit_refusal(group: ClassicGroup, request: OffsetCommit) -> CommitError:
    """Return why a classic group refuses a commit, `NONE` if it does not. Cost: O(1)."""
    if request.generation < 0 and group.state is GroupState.EMPTY:
        return CommitError.NONE
    is_member = request.member_id != UNKNOWN_MEMBER_ID or request.instance_id is not None
    if request.generation >= 0 or is_member:
        refusal = group.refusal(request.member_id, request.instance_id)
        if refusal:
            return CommitError(refusal)
        if request.generation != group.generation:
            return CommitError.ILLEGAL_GENERATION
    elif not request.is_transactional:
        return CommitError.UNKNOWN_MEMBER_ID
    if not request.is_transactional and group.state is GroupState.COMPLETING_REBALANCE:
        return CommitError.REBALANCE_IN_PROGRESS
    return CommitError.NONE


def classic_delete_refusal(group: ClassicGroup) -> CommitError:
    """Return why no offset of a classic group may be deleted: members that are no consumers."""
    is_free = group.state is GroupState.EMPTY or group.protocol_type == CONSUMER
    return CommitError.NONE if is_free else CommitError.NON_EMPTY_GROUP


def consumer_commit_refusal(state: ConsumerCoordinator, request: OffsetCommit) -> CommitError:
    """Return why a consumer group refuses a commit. Cost: O(partitions of the commit)."""
    group = state.group
    if request.generation < 0 and not group.members:
        return CommitError.NONE
    is_outside = not request.member_id and request.generation == -1 and request.instance_id is None
    if request.is_transactional and is_outside:
        return CommitError.NONE
    member = group.members.get(request.member_id)
    if member is None:
        return CommitError.UNKNOWN_MEMBER_ID
    is_old = not request.is_transactional and request.version < PER_PARTITION_VERSION
    if is_old and member.classic is None:
        return CommitError.UNSUPPORTED_VERSION
    if request.generation == member.epoch or _had_all(member, request):
        return CommitError.NONE
    return _stale(member)


def _stale(member: ConsumerMember) -> CommitError:
    """Return how a member learns that its epoch is not the right one, in its protocol's words."""
    is_classic = member.classic is not None
    return CommitError.ILLEGAL_GENERATION if is_classic else CommitError.STALE_MEMBER_EPOCH


def _had_all(member: ConsumerMember, request: OffsetCommit) -> bool:
    """Return whether the member has all partitions at least since the epoch of the commit."""
    if request.generation > member.epoch:
        return False
    for topic, number, _ in request.offsets:
        epoch = member.assigned.get(topic, {}).get(number)
        if epoch is None:
            epoch = member.revoking.get(topic, {}).get(number)
        if epoch is None or request.generation < epoch:
            return False
    return True


def consumer_fetch_refusal(state: ConsumerCoordinator, request: OffsetFetch) -> CommitError:
    """Return why a consumer group answers a fetch of offsets with an error. Cost: O(1)."""
    if request.member_id is None and request.epoch < 0:
        return CommitError.NONE
    member = state.group.members.get(request.member_id or "")
    if member is None:
        return CommitError.UNKNOWN_MEMBER_ID
    return CommitError.NONE if member.epoch == request.epoch else _stale(member)
