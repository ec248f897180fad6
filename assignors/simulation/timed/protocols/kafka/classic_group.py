"""A classic group as its coordinator knows it: members, generation, state.

    EMPTY --join--> PREPARING_REBALANCE --all joined--> COMPLETING_REBALANCE --synced--> STABLE

and from the last two back to PREPARING_REBALANCE whenever a member joins, leaves or changes.
`TRANSITIONS` is the whole table; a pair that is not in it is a fault of the simulator.

Members are kept in the order of a Java `HashMap`, as in Kafka: it decides who becomes leader, and
the order in which the leader learns of members.

Source: `ClassicGroup` of Kafka 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from assignors.jvm.hash_order import HashOrder, string_hash
from assignors.simulation.timed.protocols.effects import MILLISECOND, Schedule
from assignors.simulation.timed.protocols.kafka.messages import (
    CONSUMER,
    ErrorCode,
    JoinedMember,
    Protocol,
)

SESSION = "heartbeat"
"""Begins the key of the timer by which a member must have sent its next heartbeat."""


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


@dataclass(slots=True, kw_only=True)
class GroupMember:
    """A member as its coordinator knows it."""

    member_id: str
    instance_id: str | None
    client_id: str
    protocols: tuple[Protocol, ...]
    session_timeout_ms: int
    rebalance_timeout_ms: int
    assignment: bytes = b""
    waiting_join: int | None = None
    """Number of the JoinGroup request that waits for an answer."""
    waiting_sync: int | None = None
    """Number of the SyncGroup request that waits for an answer."""
    generation: int = 0
    """The last generation it joined. A static member that was late for one stays in the group."""
    is_new: bool = False
    """It has not been in a generation yet: a timeout removes it even while it waits."""
    session: Schedule | None = field(default=None, repr=False, compare=False)
    """What starts its session timer; every heartbeat does."""

    def session_timer(self) -> Schedule:
        """Return what starts its session timer anew. Cost: O(1)."""
        after_us, known = self.session_timeout_ms * MILLISECOND, self.session
        if known is None or known.after_us != after_us:
            self.session = known = Schedule((SESSION, self.member_id), after_us)
        return known

    def metadata(self, protocol: str) -> bytes:
        """Return its Subscription under a protocol that it supports."""
        first = self.protocols[0]
        if first.name == protocol:
            return first.metadata
        return next(each.metadata for each in self.protocols if each.name == protocol)


@dataclass(slots=True, kw_only=True)
class ClassicGroup:
    """A classic group; `classic` is what changes it."""

    state: GroupState = GroupState.EMPTY
    previous: GroupState = GroupState.DEAD
    generation: int = 0
    protocol: str | None = None
    protocol_type: str | None = None
    leader: str | None = None
    members: dict[str, GroupMember] = field(default_factory=dict)
    static_ids: dict[str, str] = field(default_factory=dict)
    """Instance id -> member id."""
    pending_ids: set[str] = field(default_factory=set)
    """Ids that were given out and have not been used yet (KIP-394)."""
    pending_syncs: set[str] = field(default_factory=set)
    """Members of this generation that have not sent SyncGroup yet."""
    joins_waiting: int = 0
    """Members whose JoinGroup waits for an answer."""
    has_new_member: bool = False
    """Somebody joined while the first rebalance was delayed."""
    supported: Counter[str] = field(default_factory=Counter)
    """Protocol name -> how many members support it."""
    order: HashOrder = field(default_factory=HashOrder)
    known_order: tuple[str, ...] | None = field(default=None, compare=False)
    """The ids in `order`, where these have been asked for since a member came or went."""
    since_ms: int = field(default=-1, compare=False)
    """When the group came into its state, by the broker's clock; -1: unknown."""
    subscriptions: tuple[bytes, ...] | None = field(default=None, compare=False, repr=False)
    """The members' Subscriptions as of the generation; `None`: not those of consumers."""
    changes: int = 0
    """How often rebalances have begun, and members have been removed or replaced."""
    removed: list[str] = field(default_factory=list)
    """Members removed since `taken_removed` was called last."""

    def in_order(self) -> Iterator[GroupMember]:
        """Yield the members in the order of Kafka's map. Cost: O(members)."""
        if self.known_order is None:
            self.known_order = tuple(map(str, self.order))
        return map(self.members.__getitem__, self.known_order)

    def may_move_to(self, state: GroupState) -> bool:
        """Return whether the state may follow on the present one."""
        return (self.state, state) in TRANSITIONS

    def move_to(self, state: GroupState, now_ms: int) -> None:
        """Change the state along `TRANSITIONS`."""
        assert self.may_move_to(state), f"{self.state} never becomes {state}"
        self.previous, self.state = self.state, state
        self.since_ms = now_ms
        self.changes += state is GroupState.PREPARING_REBALANCE

    def note_subscriptions(self) -> None:
        """Keep what the members of the generation subscribe to."""
        self.subscriptions = None
        if self.protocol_type == CONSUMER:
            protocol, members = self.protocol, self.members.values()
            known = () if protocol is None else [each.metadata(protocol) for each in members]
            self.subscriptions = tuple(known)

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of a member."""
        return max((each.rebalance_timeout_ms for each in self.members.values()), default=0)

    @property
    def have_all_joined(self) -> bool:
        """Whether everybody waits for the next generation, and nobody is expected."""
        return len(self.members) == self.joins_waiting and not self.pending_ids

    def refusal(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """Return why a request of this member is refused, `NONE` if it is not."""
        if instance_id is not None:
            known = self.static_ids.get(instance_id)
            if known is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
            if known != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def supports(self, protocol_type: str, names: Sequence[str]) -> bool:
        """Return whether a member with these protocols can be in the group."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type) and bool(names)
        if protocol_type != self.protocol_type:
            return False
        supported, count = self.supported, len(self.members)
        for name in names:  # noqa: SIM110 - every JoinGroup comes through here
            if supported[name] == count:
                return True
        return False

    def add(self, member: GroupMember, protocol_type: str = CONSUMER) -> None:
        """Add a member; the first one is the leader."""
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        if not self.members:
            self.protocol_type = protocol_type
        if self.leader is None:
            self.leader = member.member_id
        self._insert(member)
        self.joins_waiting += member.waiting_join is not None
        self.pending_ids.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Remove a member or an id that was given out; another member becomes leader."""
        member = self._take_out(member_id)
        if member is not None:
            self.joins_waiting -= member.waiting_join is not None
            if member.instance_id is not None:
                self.static_ids.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next((each.member_id for each in self.in_order()), None)
        self.pending_ids.discard(member_id)
        self.pending_syncs.discard(member_id)

    def replace_static(self, old: GroupMember, member_id: str) -> GroupMember:
        """Put a static member that has come back in the place of the one it was."""
        assert old.instance_id is not None
        self._take_out(old.member_id)
        new = GroupMember(
            member_id=member_id,
            instance_id=old.instance_id,
            client_id=old.client_id,
            protocols=old.protocols,
            session_timeout_ms=old.session_timeout_ms,
            rebalance_timeout_ms=old.rebalance_timeout_ms,
            assignment=old.assignment,
            generation=self.generation,
        )
        self._insert(new)
        if self.leader == old.member_id:
            self.leader = member_id
        self.static_ids[old.instance_id] = member_id
        return new

    def update(
        self, member: GroupMember, protocols: tuple[Protocol, ...], waiting: int | None
    ) -> None:
        """Take over what a member says when it joins again."""
        if [each.name for each in member.protocols] != [each.name for each in protocols]:
            self.supported.subtract(each.name for each in member.protocols)
            self.supported.update(each.name for each in protocols)
        member.protocols = protocols
        self.joins_waiting += (waiting is not None) - (member.waiting_join is not None)
        member.waiting_join = waiting

    def taken_removed(self) -> list[str]:
        """Return the members removed since the last call. Cost: O(1)."""
        removed = self.removed
        if removed:
            self.removed = []
        return removed

    def selected_protocol(self) -> str:
        """Return the protocol that most members prefer of those that all support.

        Each member votes for the first of its own list. Of those with as many votes Kafka takes the
        first in the order of a Java map.
        """
        candidates = {name for name, count in self.supported.items() if count == len(self.members)}
        if len(candidates) == 1:
            return candidates.pop()
        votes = Counter(
            next(each.name for each in member.protocols if each.name in candidates)
            for member in self.members.values()
        )
        order = HashOrder()
        for name in votes:
            order.add(name, string_hash(name))
        return max((str(name) for name in order), key=lambda name: votes[name])

    def elect_joined_leader(self) -> bool:
        """Make a member leader that has joined; return False if nobody has."""
        if self.leader is None:
            return False
        if self.members[self.leader].waiting_join is not None:
            return True
        for member in self.in_order():
            if member.waiting_join is not None:
                self.leader = member.member_id
                return True
        return False

    def joined_members(self) -> tuple[JoinedMember, ...]:
        """Return what the leader is told: everybody's Subscription under the chosen protocol."""
        assert self.protocol is not None
        protocol = self.protocol
        listed = []
        for each in self.in_order():
            first = each.protocols[0]
            blob = first.metadata if first.name == protocol else each.metadata(protocol)
            listed.append(JoinedMember(each.member_id, each.instance_id, blob))
        return tuple(listed)

    def _insert(self, member: GroupMember) -> None:
        self.members[member.member_id] = member
        self.known_order = None
        self.order.add(member.member_id, string_hash(member.member_id))
        self.supported.update(each.name for each in member.protocols)

    def _take_out(self, member_id: str) -> GroupMember | None:
        member = self.members.pop(member_id, None)
        if member is not None:
            self.changes += 1
            self.known_order = None
            self.removed.append(member_id)
            self.order.remove(member_id, string_hash(member_id))
            self.supported.subtract(each.name for each in member.protocols)
        return member
