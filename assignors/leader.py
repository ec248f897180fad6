"""What a group's leader does: everybody's Subscription bytes in, everybody's Assignment bytes out.

One odd member never fails the group. A member whose bytes cannot be read at all is a member
without topics; one whose claims cannot be read is covered by what this leader gave it last,
if the leader knows that plan arrived (`memory`). What is written is what every client in the
field can read: an entry for each member (never zero bytes), each topic once, numbers sorted,
no UserData, nothing after the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assignors.assignor import Assignor, UserData
from assignors.claims import read_claim
from assignors.model import NO_GENERATION, Assignment, Cluster, Group, Member, State
from assignors.options import OnFailure, Options
from assignors.rebalance import Rebalance
from wire import decode_subscription, encode_assignment

ASSIGNMENT_VERSION = 1
"""Read alike by every client: all versions have the same bytes, and 0 marks very old writers."""

REPAIR = Options(on_failure=OnFailure.REPAIR)
"""A real group must go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Led:
    """One round led: what to send, how it came about, and what to remember."""

    assignments: Mapping[str, bytes]
    rebalance: Rebalance
    memory: Assignment = field(default_factory=dict)
    """This plan. Hand it to the next round only if the plan is known to have arrived."""
    state: State = field(default_factory=State)
    """What the assignor itself remembers: hand it to this leader's next round, whatever came."""


def lead(
    assignor: Assignor,
    cluster: Cluster,
    subscriptions: Mapping[str, bytes],
    *,
    instance_ids: Mapping[str, str] | None = None,
    generation: int | None = None,
    memory: Assignment | None = None,
    state: State | None = None,
    options: Options = REPAIR,
) -> Led:
    """Return the Assignment bytes of every member of a group.

    `subscriptions` is member id -> Subscription bytes, in the order of the JoinGroup answer
    (only the Java family looks at the order); `instance_ids` has the static members' ids;
    `generation` is the last one that completed, if the leader knows it; `memory` is the
    `Led.memory` of the leader's last plan, if that plan arrived; `state` is the last `Led.state`.
    A copied reference is repaired where it would fail, unless `options` say otherwise.
    Cost: that of the assignor, plus O(bytes).
    """
    named = instance_ids or {}
    members = tuple(
        member_from_bytes(member_id, blob, instance_id=named.get(member_id))
        for member_id, blob in subscriptions.items()
    )
    remembered = state or State()
    group = Group(cluster=cluster, members=members, generation=generation, state=remembered)
    rebalance = rebalance_members(assignor.configured(options), group, memory=memory)
    assignments = {
        member_id: encode_assignment(partitions, version=ASSIGNMENT_VERSION)
        for member_id, partitions in rebalance.assignment.items()
    }
    return Led(
        assignments=assignments,
        rebalance=rebalance,
        memory=rebalance.assignment,
        state=rebalance.state or remembered,
    )


def rebalance_members(
    assignor: Assignor, group: Group, *, memory: Assignment | None = None
) -> Rebalance:
    """Return the answer for members that have been read; `memory` as in `lead`."""
    if memory and assignor.user_data is UserData.COOPERATIVE:
        group = replace(group, members=_remembered(group, memory))
    return assignor.assign(group)


def member_from_bytes(member_id: str, blob: bytes, *, instance_id: str | None = None) -> Member:
    """Return the member that `blob` describes, as far as it can be read. Never raises.

    >>> member_from_bytes("a", b"").owned_known
    False
    """
    decoded = decode_subscription(blob)
    read = decoded.value
    if read is None:
        return Member(
            member_id=member_id,
            instance_id=instance_id,
            version=0,
            owned_known=False,
            notes=decoded.notes,
        )
    return Member(
        member_id=member_id,
        topics=read.topics,
        owned=read.owned,
        generation=read.generation,
        rack_id=read.rack_id,
        instance_id=instance_id,
        user_data=read.user_data,
        version=read.version,
        owned_known=read.owned_known,
        notes=decoded.notes,
    )


def _remembered(group: Group, memory: Assignment) -> tuple[Member, ...]:
    """Return the members, those with unknown claims claiming what they were last given.

    The plan that gave it to them was the group's last completed generation.
    """
    read = [read_claim(member, UserData.COOPERATIVE) for member in group.members]
    highest = max((claim.generation for claim in read), default=NO_GENERATION)
    last = highest if group.generation is None else group.generation
    return tuple(
        replace(
            member,
            version=None,
            owned=memory[member.member_id],
            generation=last,
            user_data=None,
            owned_known=True,
        )
        if not claim.is_known and member.member_id in memory
        else member
        for member, claim in zip(group.members, read, strict=True)
    )
