"""Members that are assigned something else than they had, in a round that is computed.

An eager one has given up everything, and takes what it is given once its callback is over: that is
arithmetic, whatever it is (`consumption`). So it is for a cooperative one that keeps what it has
and gets more; who loses something goes on by events. Until its assignment arrives nothing of the
member may have changed, if it goes on by events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from assignors.membership import Membership
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.partitions import count, has_all
from assignors.simulation.timed.stages.consumption import Consuming
from assignors.simulation.timed.stages.members import keep
from assignors.simulation.timed.stages.plain import PlainMembers
from assignors.simulation.timed.stages.stage import Round, Stage
from wire import TopicPartitions, decode_assignment


class Unread(NamedTuple):
    """What a member was before it read its assignment."""

    assignment_bytes: bytes | None
    assignment_read: TopicPartitions
    owned: TopicPartitions
    memberships: tuple[Membership, ...]
    generation: int
    chosen: int
    is_leader: bool


def assign(
    stage: Stage, plan: Mapping[str, bytes], plain: PlainMembers, consuming: Consuming
) -> list[int]:
    """Let a plan give members of a stage something else than they had; return who does not get it.

    These go on by events, and nothing of a member changes yet. Cost: O(members + partitions).
    """
    others, members, may_gain = [], stage.members, consuming.may_gain
    for number in stage.changed(plan):
        row, is_eager = stage.rows[number], plain.are_eager[number]
        assignment, before = plan.get(members.ids[row], b""), members.assigned[row]
        # With more partitions it is longer.
        if not is_eager and (before is None or len(assignment) <= len(before)):
            others.append(number)
            continue
        read = decode_assignment(assignment).value
        share = {} if read is None else read.partitions
        if not is_eager:
            gains = may_gain and plain.may_gain[number] and _is_more(share, members.owned[row])
            if not gains or number in stage.entered:
                others.append(number)
                continue
        stage.given[number] = takes = any(share.values())
        members.assigned[row], members.owned[row] = assignment, share
        members.parts[row], members.consumes[row] = None, takes
    return others


def _is_more(share: TopicPartitions, owned: TopicPartitions) -> bool:
    """Return whether a share has all that is owned, and more."""
    return count(share) > count(owned) and has_all(share, owned)


def apply(member: ClassicMember, assignment: bytes, share: TopicPartitions, after: Round) -> Unread:
    """Let a member have read an assignment, with this share; return what it was before."""
    before = Unread(
        member.assignment_bytes,
        member.assignment_read,
        member.owned,
        member.memberships,
        member.generation,
        member.chosen,
        member.is_leader,
    )
    member.assignment_bytes, member.assignment_read, member.owned = assignment, share, share
    keep(member, after)
    return before


def take_back(member: ClassicMember, before: Unread) -> None:
    """Let a member not have read its assignment: that is still on its way."""
    member.assignment_bytes, member.assignment_read, member.owned = before[:3]
    member.memberships, member.generation = before.memberships, before.generation
    member.chosen, member.is_leader = before.chosen, before.is_leader
