"""What a group's leader does: everybody's Subscription bytes in, everybody's Assignment bytes out.

One odd member never fails the group. A member whose bytes cannot be read at all is a member
without topics; one whose claims cannot be read is covered by what this leader gave it last,
if the leader knows that plan arrived. What is written is what every client in the field can
read: an entry for each member (never zero bytes), each topic once, numbers sorted, no UserData,
nothing after the end.

What a leader remembers from one round to the next is a value, `Memory`: it goes in and comes
out, and whoever takes over the lead starts with an empty one.

A plan need not arrive. The coordinator may refuse it, because somebody joined meanwhile: then
everybody has what the plan before gave. Or it is stored and some members get their part, while
the answer to the leader is lost, or the next round begins before the others asked for theirs. A
leader cannot tell these apart, and need not: a member has what one of the plans gave it, so as
long as the leader made all of them it is taken to have what any of them gave. That is never less
than what it has, so nothing that it may still consume is given away, and it loses nothing by it. A
round that somebody else led in between ends this: the generations then have a gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from assignors.assignor import Assignor, UserData
from assignors.claims import is_claim_known, last_generation, read_claim
from assignors.model import Assignment, Cluster, Group, Member, State
from assignors.options import OnFailure, Options
from assignors.rebalance import Rebalance
from wire import Decoded, Subscription, TopicPartitions, decode_subscription, encode_assignment

ASSIGNMENT_VERSION = 1
"""Read alike by every client: all versions have the same bytes, and 0 marks very old writers."""

REPAIR = Options(on_failure=OnFailure.REPAIR)
"""A real group must go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What one leader knows of its rounds so far. Nobody else has it."""

    plan: Assignment | None = None
    """What each member has at most: the last plan known to have arrived at everybody, and whatever
    may have arrived since. `None` where no plan is known to have arrived."""
    generation: int | None = None
    """The round in which this was so, where its number is known."""
    state: State = field(default_factory=State)
    """What the assignor itself remembers (`java/sticky`)."""
    followed: tuple[object, ...] | None = None
    """The claims for which a follow-up round was last asked."""

    def in_round(self, joined: int | None) -> Memory:
        """Return what of it still holds in that round: no plan, if rounds were led in between."""
        if self.generation is None or joined is None or joined == self.generation + 1:
            return self
        return replace(self, plan=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Led:
    """One round led: what to send, how it came about, and what to remember."""

    assignments: Mapping[str, bytes]
    rebalance: Rebalance
    memory: Memory = field(default_factory=Memory)
    """For the next round, once this plan is known to have arrived at everybody."""
    before: Memory = field(default_factory=Memory)
    """What was remembered when this plan was made."""
    must_follow_up: bool = False
    """Start the next round oneself once this one is over: nobody else has a reason to.

    `Rebalance.follow_up`, or something waits for a member that says nothing of what it has, and
    so will not join again once it let go. Once per unchanged set of claims: a second round over
    the same claims would end as the first did. Leave the others time to ask for their part first:
    who is told to join again before it has, never gets it.
    """

    def memory_in_doubt(self) -> Memory:
        """Return the memory for a round that began before this plan was known to have arrived.

        Without numbers of rounds nobody can say that no other leader came in between: then no
        plan is remembered. The follow-up that was asked for has not been started, either.
        Cost: O(partitions).
        """
        plan = None
        if self.before.plan is not None and self.memory.generation is not None:
            plan = _union(self.before.plan, self.rebalance.assignment)
        return replace(self.memory, plan=plan, followed=self.before.followed)


def lead(
    assignor: Assignor,
    cluster: Cluster,
    subscriptions: Mapping[str, bytes | Decoded[Subscription]],
    *,
    instance_ids: Mapping[str, str] | None = None,
    generation: int | None = None,
    joined: int | None = None,
    memory: Memory | None = None,
    options: Options = REPAIR,
) -> Led:
    """Return the Assignment bytes of every member of a group.

    `subscriptions` is member id -> Subscription bytes, or what `decode_subscription` returned for
    them, in the order of the JoinGroup answer (only the Java family looks at the order);
    `instance_ids` has the static members' ids; `generation` is the last one that completed, if
    the leader knows it, and `joined` the one that this round makes: then the highest one claimed
    below it stands for the last.
    `memory` is this leader's `Led.memory` of the round before, or `Led.memory_in_doubt()`. A
    copied reference is repaired where it would fail, unless `options` say otherwise.
    Cost: that of the assignor, plus O(bytes).
    """
    named = instance_ids or {}
    members = tuple(
        member_from_bytes(member_id, blob, instance_id=named.get(member_id))
        for member_id, blob in subscriptions.items()
    )
    group = Group(cluster=cluster, members=members, generation=generation, joined=joined)
    before = (memory or Memory()).in_round(joined)
    rebalance, after, must_follow_up = lead_members(
        assignor.configured(options), group, memory=before
    )
    assignments = {
        member.member_id: encode_assignment(
            _applicable(member, rebalance.assignment.get(member.member_id, {})),
            version=ASSIGNMENT_VERSION,
        )
        for member in members
    }
    return Led(
        assignments=assignments,
        rebalance=rebalance,
        memory=replace(after, generation=joined),
        before=before,
        must_follow_up=must_follow_up,
    )


def lead_members(
    assignor: Assignor, group: Group, *, memory: Memory
) -> tuple[Rebalance, Memory, bool]:
    """Return the answer for members that have been read, the new memory, `Led.must_follow_up`."""
    known = replace(group, state=memory.state)
    if memory.plan and assignor.user_data is UserData.COOPERATIVE:
        known = replace(known, members=_remembered(group, memory.plan))
    rebalance = assignor.assign(known)
    must_wait = rebalance.follow_up or _silent_must_let_go(group, known, rebalance.withheld)
    claims = claims_key(known) if must_wait else None
    after = Memory(
        plan=rebalance.assignment, state=rebalance.state or memory.state, followed=claims
    )
    return rebalance, after, claims is not None and claims != memory.followed


def claims_key(group: Group) -> tuple[object, ...]:
    """Return what all members claim, generations aside: those of the living change every round."""
    return tuple(
        sorted(
            (member.member_id, member.owned_known, tuple(sorted(member.owned.items())))
            for member in group.members
        )
    )


def member_from_bytes(
    member_id: str, blob: bytes | Decoded[Subscription], *, instance_id: str | None = None
) -> Member:
    """Return the member that `blob` describes, as far as it can be read. Never raises.

    `blob` is the bytes of a Subscription, or what `decode_subscription` returned for them.

    >>> member_from_bytes("a", b"").owned_known
    False
    """
    decoded = blob if isinstance(blob, Decoded) else decode_subscription(blob)
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


def _applicable(member: Member, share: TopicPartitions) -> TopicPartitions:
    """Return the share without what a follower would stumble over.

    Java joins for ever over a topic it did not ask for, Sarama over a number that stands twice.
    """
    fitting = share
    if not fitting.keys() <= set(member.topics):
        fitting = {topic: share[topic] for topic in share if topic in member.topics}
    if any(len(set(numbers)) < len(numbers) for numbers in fitting.values()):
        fitting = {topic: tuple(dict.fromkeys(numbers)) for topic, numbers in fitting.items()}
    return fitting


def _union(first: Assignment, then: Assignment) -> Assignment:
    """Return what each member of both plans has, whichever of them it follows."""
    return {
        member_id: {
            topic: tuple(sorted({*first[member_id].get(topic, ()), *share.get(topic, ())}))
            for topic in dict.fromkeys((*first[member_id], *share))
        }
        for member_id, share in then.items()
        if member_id in first
    }


def _silent_must_let_go(group: Group, known: Group, withheld: TopicPartitions) -> bool:
    """Return whether something waits for a member for which the leader's memory speaks."""
    return any(
        not set(withheld.get(topic, ())).isdisjoint(numbers)
        for said, member in zip(group.members, known.members, strict=True)
        if said is not member
        for topic, numbers in member.owned.items()
    )


def _remembered(group: Group, plan: Assignment) -> tuple[Member, ...]:
    """Return the members, those with unknown claims claiming what they were last given.

    The plan that gave it to them was the group's last completed generation.
    """
    silent = {
        member.member_id
        for member in group.members
        if member.member_id in plan and not is_claim_known(member)
    }
    if not silent:
        return group.members
    read = [read_claim(member, UserData.COOPERATIVE) for member in group.members]
    last = last_generation(group, read)
    return tuple(
        replace(
            member,
            version=None,
            owned=plan[member.member_id],
            generation=last,
            user_data=None,
            owned_known=True,
        )
        if member.member_id in silent
        else member
        for member in group.members
    )
