"""A group: topics, members, what each subscribes to and what it claims to own.

Everything here is plain data that a person can write down. It holds what members claim;
which claims count is decided in `claims`. A member comes in one of two forms:

* from bytes (`Member.version` is the version of its Subscription): each assignor reads the
  claims from the field that its protocol uses, OwnedPartitions or UserData;
* as a struct (`Member.version` is `None`): `owned` and `generation` stand for that field,
  whichever it is, so that one description serves every assignor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from operator import attrgetter

from assignors.names.sequences import (
    as_entries,
    as_names,
    as_number,
    as_partitions,
    take,
)
from assignors.weighting import Weighting
from wire import Note, TopicPartitions
from wire.text import utf16_key

Assignment = Mapping[str, TopicPartitions]
"""Member id -> topic -> partition numbers. Every member has an entry."""

NO_GENERATION = -1
"""The generation where there is none; every negative one means the same."""

PARTITION_LIMIT = 10_000_000
"""Most partitions of one group, several times the largest cluster: a typing error in a partition
count is refused, and does not use up the memory of the machine."""

TOO_MANY_PARTITIONS = f"more than {PARTITION_LIMIT} partitions in one group"
"""What is said of a group beyond that limit."""

COUNTED: frozenset[type] = frozenset({int, type(None)})
_ID = attrgetter("member_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic: how many partitions, and for each the racks that hold a replica."""

    partition_count: int
    racks: tuple[tuple[str, ...], ...] = ()
    """Racks of the replicas, one tuple a partition; a replica on a broker without a rack adds
    none. Empty where the racks are not known."""
    topic_id: str | None = None

    def __post_init__(self) -> None:
        """Take lists; `ValueError` for another number of racks, and unless 0 to the limit."""
        if type(self.partition_count) is not int:
            take(self, partition_count=as_number(self.partition_count, "partition_count"))
        if self.partition_count < 0:
            raise ValueError(f"partition_count: {self.partition_count} is negative")
        if self.partition_count > PARTITION_LIMIT:
            words = f"{self.partition_count} partitions, more than {PARTITION_LIMIT}"
            raise ValueError(f"partition_count: {words}")
        if self.racks and len(self.racks) != self.partition_count:
            raise ValueError(
                f"racks: {len(self.racks)} entries for {self.partition_count} partitions"
            )
        if type(self.racks) is not tuple or (self.racks and set(map(type, self.racks)) != {tuple}):
            racks = as_entries(self.racks, Iterable, "racks")  # type: ignore[type-abstract]
            take(self, racks=tuple(as_names(each, "racks of a partition") for each in racks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """The topics that the leader's metadata knows."""

    topics: Mapping[str, Topic]

    def __post_init__(self) -> None:
        """Raise `ValueError` for topics that are none; counts are for `Cluster.of`."""
        topics = self.topics
        if type(topics) is not dict and not isinstance(topics, Mapping):
            raise ValueError(f"topics: expected name -> Topic, found {topics!r}")
        if topics and set(map(type, topics.values())) != {Topic}:
            name, odd = next(each for each in topics.items() if type(each[1]) is not Topic)
            raise ValueError(f"topics[{name!r}]: {odd!r} is no Topic; Cluster.of takes counts")

    @classmethod
    def of(cls, partition_counts: Mapping[str, int]) -> Cluster:
        """Return a cluster without racks.

        Raises `ValueError` for what is no mapping, for a count that cannot be, and for more than
        `PARTITION_LIMIT` partitions in all.

        >>> Cluster.of({"orders": 3}).topics["orders"].partition_count
        3
        """
        if not isinstance(partition_counts, Mapping):
            raise ValueError(
                f"partition_counts: expected topic -> count, found {partition_counts!r}"
            )
        topics = {
            name: Topic(partition_count=partition_count)
            for name, partition_count in partition_counts.items()
        }
        if sum(topic.partition_count for topic in topics.values()) > PARTITION_LIMIT:
            raise ValueError(f"partition_counts: {TOO_MANY_PARTITIONS}")
        return cls(topics=topics)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member as it joins: what it subscribes to and what it claims to own.

    Lists are taken too, and kept as tuples; a type checker wants tuples.
    """

    member_id: str
    topics: tuple[str, ...] = ()
    owned: TopicPartitions = field(default_factory=dict)
    generation: int = NO_GENERATION
    rack_id: str | None = None
    instance_id: str | None = None
    user_data: bytes | None = None
    version: int | None = None
    """Version of the Subscription bytes, `None` for a member given as a struct."""
    owned_known: bool = True
    """False where the bytes do not say what the member owns; it may own anything."""
    notes: tuple[Note, ...] = ()
    """What the decoder reported about its bytes."""

    def __post_init__(self) -> None:
        """Take lists for tuples; `ValueError` for what is neither, as one name for several topics.

        What the decoder read is right already. Of numbers the first of each topic is looked at:
        those of a table's column are all of one type. Cost: 0.1 to 0.2 us, and 30 ns a topic owned.
        """
        if self.version is not None:
            return
        topics, owned = self.topics, self.owned
        if type(topics) is not tuple or (topics and type(topics[0]) is not str):
            take(self, topics=as_names(topics, "topics"))
        if type(owned) is dict:
            if not _are_numbers(owned.values()):
                take(self, owned=as_partitions(owned, "owned"))
        elif not isinstance(owned, Mapping):
            as_partitions(owned, "owned")
        if type(self.generation) is not int:
            take(self, generation=as_number(self.generation, "generation"))
        if type(self.member_id) is not str:
            raise ValueError(f"member_id: expected a name, found {self.member_id!r}")


def _are_numbers(owned: Iterable[object]) -> bool:
    """Return whether these are tuples, and the first entry of each an `int`."""
    for numbers in owned:
        if type(numbers) is not tuple or (numbers and type(numbers[0]) is not int):
            return False
    return True


class LazyMembers(Sequence[Member]):
    """Members of different ids, each made when somebody asks for it."""

    @property
    @abstractmethod
    def member_ids(self) -> tuple[str, ...]:
        """The ids, in order."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | LazyMembers) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.member_ids)

    def __repr__(self) -> str:
        return repr(tuple(self))


def member_ids_of(members: Sequence[Member]) -> tuple[str, ...]:
    """Return the ids of members, without making any. Cost: O(M)."""
    if isinstance(members, LazyMembers):
        return members.member_ids
    return tuple([member.member_id for member in members])


def in_id_order(members: Iterable[Member]) -> list[Member]:
    """Return members in UTF-16 order of their ids. Cost: O(M log M).

    >>> [member.member_id for member in in_id_order([Member(member_id=name) for name in "ba"])]
    ['a', 'b']
    """
    listed = list(members)
    if "".join([member.member_id for member in listed]).isascii():
        return sorted(listed, key=_ID)
    return sorted(listed, key=lambda member: utf16_key(member.member_id))


def with_shared_topics(members: Iterable[Member]) -> tuple[Member, ...]:
    """Return the members, with one tuple for all that list the same topics.

    This saves memory in large groups, and equal lists are found by identity.
    Cost: O(total length of the lists).

    >>> a, b = with_shared_topics(Member(member_id=name, topics=("t", name[:0])) for name in "ab")
    >>> a.topics is b.topics
    True
    """
    lists: dict[tuple[str, ...], tuple[str, ...]] = {}
    shared = []
    for member in members:
        topics = lists.setdefault(member.topics, member.topics)
        shared.append(member if topics is member.topics else replace(member, topics=topics))
    return tuple(shared)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What an assignor of Kafka's Java client keeps from one round to the next."""

    max_generation: int = NO_GENERATION
    """The highest generation that this instance has seen in any member's data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A group at the moment its leader computes an assignment."""

    cluster: Cluster
    members: Sequence[Member]
    """A tuple, except in a group that `lead` reads for an assignor that works on arrays."""
    generation: int | None = None
    """The last generation that completed, where it is known; else see `claims.last_generation`."""
    joined: int | None = None
    """The generation that this round makes, where it is known; the last one is below it."""
    state: State = field(default_factory=State)
    """What the leader's assignor keeps; only the sticky assignors of `java` read it."""
    weighting: Weighting | None = None
    """What partitions weigh and members carry; only assignors of `weighted` read it."""
    also_assigned: TopicPartitions = field(default_factory=dict)
    """Partitions that count as assigned though no member owns them; only `server/uniform` reads it.

    Kafka's coordinator passes its assignors who owns what twice, by member and by partition, and
    the two may differ (`GroupSpec.isPartitionAssigned`).
    """

    def __post_init__(self) -> None:
        """Take lists; `ValueError` for two members with one id: they would share one entry.

        And for weights of partitions that do not exist, and a generation that is no number.
        """
        if type(self.generation) not in COUNTED:
            take(self, generation=as_number(self.generation, "generation"))
        if self.generation is not None and self.generation < NO_GENERATION:
            take(self, generation=NO_GENERATION)
        if type(self.joined) not in COUNTED:
            take(self, joined=as_number(self.joined, "joined"))
        if self.weighting is not None:
            topics = self.cluster.topics
            self.weighting.require_fits({name: t.partition_count for name, t in topics.items()})
        members = self.members
        if type(members) is not tuple and isinstance(members, LazyMembers):
            return
        if type(members) is not tuple or (members and type(members[0]) is not Member):
            take(self, members=as_entries(self.members, Member, "members"))
        if not isinstance(self.cluster, Cluster):
            raise ValueError(f"cluster: expected a Cluster, found {self.cluster!r}")
        ids = [member.member_id for member in self.members]
        if len(set(ids)) < len(ids):
            place = {member_id: at for at, member_id in enumerate(ids)}  # the last one
            twice = next(member_id for at, member_id in enumerate(ids) if place[member_id] > at)
            raise ValueError(f"member {twice!r} stands twice in the group")


def require_group(group: object) -> None:
    """Raise `ValueError` for what is no group, such as the dictionary that describes one.

    >>> require_group({"topics": {}, "members": []})  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: group: expected a Group; ...
    """
    if not isinstance(group, Group):
        words = "expected a Group; documents.groups.group_from_document makes one of a document"
        raise ValueError(f"group: {words}, found {type(group).__name__}")


class MemberNoteCode(StrEnum):
    """Codes of notes on members and groups; those on a member's bytes are `wire.NoteCode`."""

    CLAIMS_NOT_KNOWN = "claims-not-known"
    """The member's bytes do not say what it owns: it may still consume anything."""
    GENERATION_IN_THE_FUTURE = "generation-in-the-future"
    """A member claims with a generation above the group's last; its claims count as old ones."""
    UNKNOWN_TOPIC = "unknown-topic"
    """A member claims partitions of a topic that the cluster does not know; they are dropped."""
    PARTITION_OUT_OF_RANGE = "partition-out-of-range"
    """A member claims partitions that the topic does not have; they are dropped."""
    REPAIRED = "repaired"
    """Kafka's assignor would fail; what made it fail was left out (`--on-failure repair`)."""
    TOPIC_ID_MADE = "topic-id-made"
    """Topics came without their ids, which may decide ties in the broker: made from the names."""
    ASSIGNOR_FAILED = "assignor-failed"
    """In a leader's client: the assignor raised, and another one answered this round."""
    TOPIC_NOT_DESCRIBED = "topic-not-described"
    """Members subscribe to a topic that the document does not have: nobody gets any of it."""
    KEY_UNUSED = "key-unused"
    """The document has a key that is for another command, and has no effect here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberNote:
    """A remark on one member, or on the group where `member_id` is `None`."""

    code: str
    text: str
    member_id: str | None = None
    offset: int | None = None
    """Byte offset in the member's Subscription, for a remark on its bytes."""
