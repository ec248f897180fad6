"""Eager members that are assigned something else than they had, in a round that is computed.

Each has given up everything, and takes what it is given once its callback is over: that is
arithmetic, whatever it is (`consumption`). Until its assignment arrives nothing of the member may
have changed, if it goes on by events.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from assignors.membership import Membership
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.stages.members import keep
from assignors.simulation.timed.stages.stage import Round, Stage
from wire import TopicPartitions, decode_assignment


class Unread(NamedTuple):
    """What a member was before it read its assignment."""

    assignment_bytes: bytes | None
    assignment_read: TopicPartitions
    memberships: tuple[Membership, ...]
    generation: int
    chosen: int
    is_leader: bool


def give(stage: Stage, number: int, plan: Mapping[str, bytes]) -> None:
    """Let a plan give an eager member of a stage something else than it had.

    Nothing of the member changes yet. Cost: O(its partitions).
    """
    row, members = stage.rows[number], stage.members
    assignment = plan.get(members.ids[row], b"")
    read = decode_assignment(assignment).value
    share = {} if read is None else read.partitions
    stage.given[number] = takes = any(share.values())
    members.assigned[row], members.owned[row] = assignment, share
    members.parts[row], members.consumes[row] = None, takes


def apply(member: ClassicMember, assignment: bytes, share: TopicPartitions, after: Round) -> Unread:
    """Let a member have read an assignment, with this share; return what it was before."""
    before = Unread(
        member.assignment_bytes,
        member.assignment_read,
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
    member.assignment_bytes, member.assignment_read = before[:2]
    member.memberships, member.generation = before.memberships, before.generation
    member.chosen, member.is_leader = before.chosen, before.is_leader
