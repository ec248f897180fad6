"""Lead a round: the Subscription bytes of all members in, the Assignment bytes of all members out.

One malformed member never fails the group. A member whose bytes cannot be read at all counts as
one without topics; one whose claims cannot be read is taken to own what this leader assigned to
it last, if the leader knows that this assignment arrived. What is written is what every client
can read: an entry for each member (never zero bytes), each topic once, numbers sorted, no
UserData, no bytes after the end.

What a leader keeps from one round to the next is a value, `Memory`: it goes in and comes out,
and a member that becomes leader starts with an empty one.

A plan, the assignment of a round, may not arrive. The coordinator may refuse it, because a member
joined meanwhile: then all members have what the plan before gave. Or it is stored and some
members get their part, while the answer to the leader is lost, or the next round begins before
the others sent SyncGroup. The leader cannot distinguish these cases and need not: a member has
what one of the plans gave it, so as long as this leader made all of them, the member is taken to
own what any of them gave. That is never less than what it owns, so nothing that it may still
consume is given to another member. A round led by another member in between ends this: the
generations then have a gap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assignors.assignor import Assignor, UserData
from assignors.claims import is_claim_known, last_generation, read_claim
from assignors.group_bytes.assignments import ASSIGNMENT_VERSION, Assigned
from assignors.group_bytes.members import ReadMembers
from assignors.group_bytes.subscriptions import read_members
from assignors.model import Assignment, Cluster, Group, Member, State, member_ids_of
from assignors.options import OnFailure, Options
from assignors.own_assignors.answers import with_checked_answers, with_claims_for
from assignors.rebalance import Rebalance
from assignors.weighting import Weighting
from wire import Decoded, Subscription, TopicPartitions, encode_assignment

REPAIR = Options(on_failure=OnFailure.REPAIR)
"""Where a copy of Kafka's assignor would fail, a real group needs an assignment all the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What one leader keeps of the rounds it has led. No other member has it."""

    plan: Assignment | None = None
    """What each member owns at most: the last plan known to have arrived at all members, and what
    may have arrived since. `None` where no plan is known to have arrived."""
    generation: int | None = None
    """The generation of `plan`, where it is known."""
    state: State = field(default_factory=State)
    """What the assignor itself keeps (`java/sticky`)."""
    followed: tuple[object, ...] | None = None
    """The claims for which a follow-up round was last requested."""

    def in_round(self, joined: int | None) -> Memory:
        """Return the memory for the round that makes generation `joined`.

        Without the plan, if the generations say that other rounds lie in between.
        """
        if self.generation is None or joined is None or joined == self.generation + 1:
            return self
        return replace(self, plan=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Led:
    """The result of one round: the bytes to send, the assignment, and what to keep."""

    assignments: Mapping[str, bytes]
    rebalance: Rebalance
    group: Group = field(compare=False, repr=False)
    """What was read of the members, and the weighting."""
    memory: Memory = field(default_factory=Memory)
    """For the next round, once this plan is known to have arrived at all members."""
    before: Memory = field(default_factory=Memory)
    """The memory with which this plan was made."""
    must_follow_up: bool = False
    """Whether the leader must start the next round itself once this one is over.

    True for `Rebalance.follow_up`, and where a partition waits for a member that does not report
    what it owns, and so will not rejoin after it revoked it. Once for an unchanged set of claims:
    a second round over the same claims would end as the first did. Give the others time to send
    SyncGroup first: a member that must rejoin before it has, never gets its part.
    """

    def memory_in_doubt(self) -> Memory:
        """Return the memory for a round that began before this plan was known to have arrived.

        Without generations it is not known whether another member led in between: then no plan
        is kept. The follow-up that was requested has not been started, either.
        Cost: O(partitions).
        """
        plan = None
        if self.before.plan is not None and self.memory.generation is not None:
            plan = _union(self.before.plan, self.rebalance.assignment)
        return replace(self.memory, plan=plan, followed=self.before.followed)


ClusterOf = Callable[[Sequence[Member]], Cluster]
"""Makes the cluster of the members that were read: what it needs is what they subscribe to."""

WeightingOf = Callable[[Group], Weighting | None]
"""Returns weights, capacities and the budget for a group that was read; `None`: it has none."""


def lead(
    assignor: Assignor,
    cluster: Cluster | ClusterOf,
    subscriptions: Mapping[str, bytes | Decoded[Subscription]],
    *,
    instance_ids: Mapping[str, str] | None = None,
    generation: int | None = None,
    joined: int | None = None,
    memory: Memory | None = None,
    options: Options = REPAIR,
    weighting: WeightingOf | None = None,
) -> Led:
    """Return the Assignment bytes of every member of a group.

    `cluster` has the topics that exist, or makes them of the members once those are read.
    `subscriptions` is member id -> Subscription bytes, or what `decode_subscription` returned for
    them, in the order of the JoinGroup answer (only the Java family looks at the order);
    `instance_ids` has the static members' ids; `generation` is the last one that completed, if
    the leader knows it, and `joined` the one that this round makes: then the highest one claimed
    below it stands for the last.
    `memory` is this leader's `Led.memory` of the round before, or `Led.memory_in_doubt()`. A
    copied reference is repaired where it would fail, unless `options` say otherwise. `weighting`
    is asked for what partitions weigh, by assignors of `weighted` (`Group.weighting`).
    Raises `AssignorError` where an assignor from outside this package raises, or returns what is
    no answer; `ValueError` for an argument that is none. Cost: that of the assignor, plus O(bytes).

    >>> from assignors import assignor_named
    >>> led = lead(
    ...     assignor_named("sticky"),
    ...     Cluster.of({"orders": 2}),
    ...     {"a": bytes.fromhex("00010000000100066f7264657273ffffffff00000000")},
    ... )
    >>> led.assignments["a"].hex()
    '00010000000100066f7264657273000000020000000000000001ffffffff'
    """
    answering = with_checked_answers(assignor)
    _require_kinds(cluster, subscriptions)
    members = read_members(subscriptions, instance_ids)
    known = cluster if isinstance(cluster, Cluster) else cluster(members)
    group = Group(cluster=known, members=members, generation=generation, joined=joined)
    if weighting is not None:
        group = replace(group, weighting=weighting(group))
    before = (memory or Memory()).in_round(joined)
    rebalance, after, must_follow_up = lead_members(
        answering.configured(options), group, memory=before
    )
    return Led(
        assignments=_assignments(members, rebalance.assignment),
        rebalance=rebalance,
        group=group,
        memory=replace(after, generation=joined),
        before=before,
        must_follow_up=must_follow_up,
    )


def _require_kinds(cluster: object, subscriptions: object) -> None:
    """Raise `ValueError` for what is easily taken for a cluster or Subscriptions."""
    if not isinstance(cluster, Cluster) and not callable(cluster):
        words = "expected a Cluster, as Cluster.of({'orders': 6}) returns"
        raise ValueError(f"cluster: {words}, found {cluster!r}")
    if not isinstance(subscriptions, Mapping):
        words = "expected member id -> Subscription bytes"
        raise ValueError(f"subscriptions: {words}, found {type(subscriptions).__name__}")


def lead_members(
    assignor: Assignor, group: Group, *, memory: Memory
) -> tuple[Rebalance, Memory, bool]:
    """Return the assignment of a decoded group, the new memory, and `Led.must_follow_up`.

    Raises what the assignor does; never for what members claim.
    """
    known = group if group.state == memory.state else replace(group, state=memory.state)
    if memory.plan and assignor.user_data is UserData.COOPERATIVE:
        members = _remembered(group, memory.plan)
        known = known if members is known.members else replace(known, members=members)
    rebalance = assignor.assign(with_claims_for(assignor, known))
    must_wait = rebalance.follow_up or _silent_must_let_go(group, known, rebalance.withheld)
    claims = claims_key(known) if must_wait else None
    after = Memory(
        plan=rebalance.assignment, state=rebalance.state or memory.state, followed=claims
    )
    return rebalance, after, claims is not None and claims != memory.followed


def claims_key(group: Group) -> tuple[object, ...]:
    """Return what all members claim, without generations: those change in every round."""
    return tuple(
        sorted(
            (member.member_id, member.owned_known, tuple(sorted(member.owned.items())))
            for member in group.members
        )
    )


def _assignments(members: Sequence[Member], assignment: Assignment) -> dict[str, bytes]:
    """Return everybody's Assignment bytes, in the order of the members."""
    # The optimal family gives nobody what it did not ask for, and nothing twice.
    if isinstance(assignment, Assigned):
        blobs = assignment.written()
        ids = member_ids_of(members)
        return blobs if ids == tuple(blobs) else {each: blobs[each] for each in ids}
    return {
        member.member_id: encode_assignment(
            _applicable(member, assignment.get(member.member_id, {})), version=ASSIGNMENT_VERSION
        )
        for member in members
    }


def _applicable(member: Member, share: TopicPartitions) -> TopicPartitions:
    """Return the share without what some clients fail on.

    Java rejoins without end for a topic it does not subscribe to, Sarama for a repeated number.
    """
    fitting = share
    if not fitting.keys() <= set(member.topics):
        fitting = {topic: share[topic] for topic in share if topic in member.topics}
    if any(len(set(numbers)) < len(numbers) for numbers in fitting.values()):
        fitting = {topic: tuple(dict.fromkeys(numbers)) for topic, numbers in fitting.items()}
    return fitting


def _union(first: Assignment, then: Assignment) -> Assignment:
    """Return what each member of both plans may own, whichever of them it received."""
    return {
        member_id: {
            topic: tuple(sorted({*first[member_id].get(topic, ()), *share.get(topic, ())}))
            for topic in dict.fromkeys((*first[member_id], *share))
        }
        for member_id, share in then.items()
        if member_id in first
    }


def _silent_must_let_go(group: Group, known: Group, withheld: TopicPartitions) -> bool:
    """Return whether a partition waits for a member whose claims come from the leader's memory."""
    if known.members is group.members:
        return False
    return any(
        not set(withheld.get(topic, ())).isdisjoint(numbers)
        for said, member in zip(group.members, known.members, strict=True)
        if said is not member
        for topic, numbers in member.owned.items()
    )


def _remembered(group: Group, plan: Assignment) -> Sequence[Member]:
    """Return the members, with the claims of `plan` for those whose own are not known.

    The plan is taken to be of the group's last completed generation.
    """
    silent = {
        member.member_id
        for member in _with_unknown_claims(group.members)
        if member.member_id in plan
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


def _with_unknown_claims(members: Sequence[Member]) -> list[Member]:
    """Return the members whose bytes do not say what they own; those read together all do."""
    if isinstance(members, ReadMembers):
        return []
    return [
        member
        for member in members
        if (member.version is not None or not member.owned_known) and not is_claim_known(member)
    ]
