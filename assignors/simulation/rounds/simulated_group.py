"""The state of a simulated group between rounds, and what each kind of event changes in it.

What a member really consumes and what it claims to own differ where clients differ from what they
say: a member that rejoins after it was expelled claims what it had, a kafka-python member claims
what it has already stopped consuming.

`changes` checks that an event can happen and returns its changes one by one, because the group
settles after each: a member that is expelled and comes back is two changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from assignors.assignor import Assignor, UserData
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.leader import Memory
from assignors.membership import subscription
from assignors.model import NO_GENERATION, Assignment, Cluster, Group, Member
from assignors.optimal.small.problem import NumberedShare
from assignors.simulation.rounds.scenario import GroupEvent, GroupEventKind, MemberSpec
from wire import TopicPartitions, encode_subscription

FUTURE = 5
"""How many generations ahead of the group a member claims to be (`claim-future`)."""


@dataclass(slots=True)
class SimulatedMember:
    """A member from joining to leaving."""

    spec: MemberSpec
    member_id: str
    topics: tuple[str, ...]
    consuming: TopicPartitions = field(default_factory=dict)
    """What it really consumes."""
    assigned: TopicPartitions = field(default_factory=dict)
    """Its last assignment: the same, unless it had to stop consuming something since."""
    generation: int = NO_GENERATION
    """The generation of its last assignment."""
    stale_claims: TopicPartitions | None = None
    """What it claims instead of what it consumes, until it receives an assignment."""

    def receive(self, given: TopicPartitions, generation: int) -> None:
        """Apply an assignment: revoke what is gone, start what is new."""
        self.consuming = self.assigned = given
        self.generation = generation
        self.stale_claims = None

    def stop_beyond(self, partition_counts: dict[str, int]) -> None:
        """Stop consuming partitions that are not below their topic's count; no count is 0."""
        consuming = self.consuming
        if type(consuming) is NumberedShare and consuming.numbering.is_within(partition_counts):
            return
        for topic, numbers in self.consuming.items():
            if not numbers or max(numbers) >= partition_counts.get(topic, 0):
                break
        else:
            return
        self.consuming = {
            topic: left
            for topic, numbers in self.consuming.items()
            if (left := tuple(n for n in numbers if n < partition_counts.get(topic, 0)))
        }


def new_member(spec: MemberSpec, join_number: int) -> SimulatedMember:
    """Return a member as it joins; the number makes its member id unique.

    It consumes nothing yet, unless it is one that was there before the run (`is_consuming`).
    """
    if spec.is_consuming:
        return SimulatedMember(
            spec=spec,
            member_id=spec.member_id or spec.name,
            topics=spec.topics,
            consuming=spec.owned,
            assigned=spec.owned,
            generation=spec.generation,
        )
    return SimulatedMember(
        spec=spec,
        member_id=spec.member_id or f"{spec.name}-{join_number:04d}",
        topics=spec.topics,
        generation=spec.generation,
        stale_claims=spec.owned or None,
    )


def member_for_leader(simulated: SimulatedMember, kind: UserData) -> Member:
    """Return the member as its leader gets it: directly, or decoded from the bytes it writes.

    `kind` is what the group's assignor wants in UserData.
    """
    spec = simulated.spec
    if spec.blob is not None and not simulated.assigned and simulated.stale_claims is None:
        return member_from_bytes(simulated.member_id, spec.blob, instance_id=spec.instance_id)
    claimed = simulated.stale_claims
    if claimed is None:
        claimed = simulated.assigned if spec.remembers else simulated.consuming
    if spec.version is None:
        return Member(
            member_id=simulated.member_id,
            topics=simulated.topics,
            owned=claimed,
            generation=simulated.generation,
            rack_id=spec.rack_id,
            instance_id=spec.instance_id,
        )
    written = subscription(
        spec.user_data or kind,
        simulated.topics,
        owned=claimed,
        owned_since=simulated.generation,
        generation=simulated.generation,
        rack_id=spec.rack_id,
        version=spec.version,
    )
    return member_from_bytes(
        simulated.member_id, encode_subscription(written), instance_id=spec.instance_id
    )


@dataclass(slots=True)
class SimulatedGroup:
    """Members, topics and the leader's memory."""

    assignor: Assignor
    partition_counts: dict[str, int]
    members: dict[str, SimulatedMember] = field(default_factory=dict)
    """By `MemberSpec.name`; the first one leads."""
    generation: int = 0
    """The last one completed; 0 before the first."""
    memory: Memory = field(default_factory=Memory)
    """What the leader remembers."""
    join_count: int = 0
    known_counts: dict[str, int] = field(default_factory=dict)
    """Partition counts of `known_cluster`."""
    known_cluster: Cluster = field(default_factory=lambda: Cluster(topics={}))
    """The cluster as the leader saw it last: the same one until a topic changes."""

    def add(self, spec: MemberSpec) -> None:
        """Add a member under a new member id."""
        self.join_count += 1
        self.members[spec.name] = new_member(spec, self.join_count)

    def remove(self, name: str) -> None:
        """Remove a member; if it is the leader, its memory is lost."""
        self.forget_if_leader(name)
        del self.members[name]

    def forget_if_leader(self, name: str) -> None:
        """Empty the leader's memory if this member is the leader."""
        if next(iter(self.members)) == name:
            self.memory = Memory()

    def consumed(self) -> Assignment:
        """Return what each member really consumes, by member id."""
        return {member.member_id: member.consuming for member in self.members.values()}

    def for_leader(self) -> Group:
        """Return the group as its leader gets it once all members have joined."""
        kind = self.assignor.user_data
        if self.known_counts != self.partition_counts:
            known, counts = self.known_cluster.topics, dict(self.partition_counts)
            changed = {t: n for t, n in counts.items() if self.known_counts.get(t) != n}
            made = Cluster.of(changed).topics
            self.known_cluster = Cluster(topics={t: made.get(t) or known[t] for t in counts})
            self.known_counts = counts
        return Group(
            cluster=self.known_cluster,
            members=tuple([member_for_leader(member, kind) for member in self.members.values()]),
            generation=self.generation or None,
        )


Change = Callable[[], None]


def changes(group: SimulatedGroup, event: GroupEvent) -> Iterator[Change]:
    """Yield the changes of an event, to be made one by one; the group settles after each.

    Raises `ValueError` for an event that cannot happen to this group now.
    """
    return _CHANGES[event.kind](group, event)


def _join(group: SimulatedGroup, event: GroupEvent) -> Iterator[Change]:
    specs = event.members or ((event.member,) if event.member is not None else ())
    names = [spec.name for spec in specs]
    if not specs or len(set(names)) < len(names) or not group.members.keys().isdisjoint(names):
        raise ValueError(f"join: {event.name or ', '.join(names)!r} is no new member")

    def join() -> None:
        for spec in specs:
            group.add(spec)

    yield join


def _leave(group: SimulatedGroup, event: GroupEvent) -> Iterator[Change]:
    names = [member.spec.name for member in _all_present(group, event)]

    def leave() -> None:
        for name in names:
            group.remove(name)

    yield leave


def _return(group: SimulatedGroup, event: GroupEvent) -> Iterator[Change]:
    """Expel a member; once the others have settled, add it again with the claims it had."""
    member = _present(group, event, event.name)
    yield lambda: group.remove(member.spec.name)

    def come_back() -> None:
        group.add(_again(member))
        again = group.members[member.spec.name]
        again.stale_claims, again.generation = member.assigned, member.generation

    yield come_back


def _restart(group: SimulatedGroup, event: GroupEvent) -> Iterator[Change]:
    """Replace a static member by one with a new member id and no claims, at the same place."""
    member = _present(group, event, event.name)

    def restart() -> None:
        group.join_count += 1
        group.forget_if_leader(member.spec.name)
        group.members[member.spec.name] = replace(
            new_member(_again(member), group.join_count),
            stale_claims=None,
        )

    yield restart


def _subscribe(group: SimulatedGroup, event: GroupEvent) -> Iterator[Change]:
    members = _all_present(group, event)
    left = {t: count for t, count in group.partition_counts.items() if t in event.topics}

    def subscribe() -> None:
        for member in members:
            member.topics = event.topics
            member.stop_beyond(left)

    yield subscribe


def _resize(group: SimulatedGroup, event: GroupEvent) -> Iterator[Change]:
    if event.topic is None:
        raise ValueError(f"{event.kind}: no topic")
    topic, count = event.topic, event.partition_count

    def resize() -> None:
        if event.kind is GroupEventKind.DELETE:
            group.partition_counts.pop(topic, None)
        else:
            group.partition_counts[topic] = count
        for member in group.members.values():
            member.stop_beyond(group.partition_counts)

    yield resize


def _claim_future(group: SimulatedGroup, event: GroupEvent) -> Iterator[Change]:
    member = _present(group, event, event.name)

    def claim() -> None:
        member.generation = group.generation + FUTURE

    yield claim


def _all_present(group: SimulatedGroup, event: GroupEvent) -> list[SimulatedMember]:
    """Return the members of `names`, without repetition, or the one of `name`."""
    names = dict.fromkeys(event.names) or (event.name,)
    return [_present(group, event, name) for name in names]


def _again(member: SimulatedMember) -> MemberSpec:
    """Return the member as it joins again: with its present topics, under another member id."""
    return replace(member.spec, topics=member.topics, is_consuming=False, member_id=None)


def _present(group: SimulatedGroup, event: GroupEvent, name: str | None) -> SimulatedMember:
    member = group.members.get(name or "")
    if member is None:
        raise ValueError(f"{event.kind}: {name!r} is not in the group")
    return member


_CHANGES: dict[GroupEventKind, Callable[[SimulatedGroup, GroupEvent], Iterator[Change]]] = {
    GroupEventKind.JOIN: _join,
    GroupEventKind.LEAVE: _leave,
    GroupEventKind.RETURN: _return,
    GroupEventKind.STATIC_RESTART: _restart,
    GroupEventKind.SUBSCRIBE: _subscribe,
    GroupEventKind.GROW: _resize,
    GroupEventKind.DELETE: _resize,
    GroupEventKind.RECREATE: _resize,
    GroupEventKind.CLAIM_FUTURE: _claim_future,
}
