"""Events that somebody asks for, `join:5` or `resize:orders:24`, and the group they happen to.

Nothing is drawn at random. The group is there already: members consume what they own in the last
generation, and the start of the run is a rebalance without any change. What several members do in
one event they do before one rebalance.

A word means a `GroupEventKind`; `VERBS` has them all. Members are named by their id, by their
instance id, or by the beginning of their id where only one begins so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from assignors.assignor import UserData
from assignors.claims import Claim, is_claim_known, read_claim
from assignors.model import NO_GENERATION, Group, Member
from assignors.names.nearest import nearest, suggestion
from assignors.simulation.rounds.random_scenarios import LIMITS, Parameters
from assignors.simulation.rounds.scenario import GroupEvent, GroupEventKind, MemberSpec, Scenario

FIRST_GENERATION = 1
"""Generation of a group in which nobody says one."""


def scenario_of_group(group: Group, events: Sequence[str]) -> Scenario:
    """Return the run of a group that is there already, and the events that it is asked for.

    Members of the last generation consume what they own; what others own is a claim. A member whose
    bytes do not say what it owns goes on to write such bytes. Raises
    `ValueError`, which begins with the event, for one that cannot be read or cannot happen. Cost:
    linear in the group, and O(members) for each event.

    >>> from assignors import Cluster
    >>> members = (Member(member_id="a", topics=("t",), owned={"t": (0, 1)}, generation=7),)
    >>> group = Group(cluster=Cluster.of({"t": 2}), members=members)
    >>> scenario_of_group(group, ["join:1", "leave:a"]).events[1].names
    ('a',)
    """
    claims = [_claim(member) for member in group.members]
    highest = max((claim.generation for claim in claims), default=NO_GENERATION)
    last = highest if group.generation is None else group.generation
    generation = max(last, FIRST_GENERATION)
    topics = {name: topic.partition_count for name, topic in group.cluster.topics.items()}
    # Sizes that are too large to play are refused as those of random scenarios are.
    Parameters(
        members=len(group.members),
        topics=len(topics),
        partitions=sum(topics.values()),
        events=len(events),
    )
    members = tuple(
        _spec(member, claim, last, generation)
        for member, claim in zip(group.members, claims, strict=True)
    )
    draft = _Draft(counts=dict(topics), topics={member.name: member.topics for member in members})
    draft.instances = {
        member.instance_id: member.name for member in members if member.instance_id is not None
    }
    return Scenario(
        topics=topics,
        members=members,
        events=tuple(draft.event(text) for text in events),
        generation=generation,
    )


def _claim(member: Member) -> Claim:
    """Return what a member says it owns, in whichever field of its bytes it says so."""
    claim = read_claim(member, UserData.COOPERATIVE)
    if claim.owned or member.version is None:
        return claim
    eager = read_claim(member, UserData.STICKY)
    return eager if eager.owned else claim


def _spec(member: Member, claim: Claim, last: int, generation: int) -> MemberSpec:
    is_current = claim.generation == last
    is_known = is_claim_known(member)
    return MemberSpec(
        name=member.member_id,
        member_id=member.member_id,
        topics=member.topics,
        version=None if is_known else 0,
        user_data=None if is_known or not claim.owned else UserData.STICKY,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        owned=claim.owned,
        generation=generation if is_current else claim.generation,
        is_consuming=is_current,
    )


@dataclass(slots=True)
class _Draft:
    """The group after the events read so far."""

    counts: dict[str, int]
    """Topic -> partition count."""
    topics: dict[str, tuple[str, ...]]
    """Member's name -> its subscription."""
    instances: dict[str, str] = field(default_factory=dict)
    """Instance id -> member's name."""
    joined: int = 0
    """New members so far."""

    def event(self, text: str) -> GroupEvent:
        """Return the event that a text asks for; `ValueError` where it makes no sense here."""
        verb, _, words = text.partition(":")
        known = VERBS.get(verb)
        if known is None:
            raise ValueError(f"{text}: no event {verb!r}{suggestion(verb, VERBS)}")
        try:
            return known.read(self, words)
        except _MisreadError as error:
            raise ValueError(f"{text}: expected {known.form}") from error
        except ValueError as error:
            raise ValueError(f"{text}: {error}") from None

    def join(self, words: str) -> GroupEvent:
        """Read `COUNT` or `COUNT:TOPIC,TOPIC`."""
        digits, _, listed = words.partition(":")
        count = _number(digits)
        room = LIMITS["members"] - len(self.topics)
        if not 1 <= count <= room:
            raise ValueError(f"{count} members, not 1..{room}")
        topics = self.known_topics(listed) if listed else self.common_topics()
        specs: list[MemberSpec] = []
        while len(specs) < count:
            self.joined += 1
            name = f"new-{self.joined}"
            if name not in self.topics:
                self.topics[name] = topics
                specs.append(MemberSpec(name=name, member_id=name, topics=topics))
        return GroupEvent(kind=GroupEventKind.JOIN, members=tuple(specs))

    def leave(self, words: str) -> GroupEvent:
        """Read `MEMBER,MEMBER`; `*` is all of them."""
        names = self.members(words)
        for name in names:
            del self.topics[name]
        return GroupEvent(kind=GroupEventKind.LEAVE, names=names)

    def come_back(self, words: str) -> GroupEvent:
        """Read `MEMBER`."""
        return GroupEvent(kind=GroupEventKind.RETURN, name=self.member(words))

    def restart(self, words: str) -> GroupEvent:
        """Read `MEMBER`, a static one."""
        name = self.member(words)
        if name not in self.instances.values():
            raise ValueError(
                f"{name!r} has no instance id; without one a restart is leave:{name} and join:1"
            )
        return GroupEvent(kind=GroupEventKind.STATIC_RESTART, name=name)

    def subscribe(self, words: str) -> GroupEvent:
        """Read `MEMBER,MEMBER:TOPIC,TOPIC`; `*` is all members."""
        whom, _, listed = words.rpartition(":")
        names, topics = self.members(whom), self.known_topics(listed)
        self.topics.update(dict.fromkeys(names, topics))
        return GroupEvent(kind=GroupEventKind.SUBSCRIBE, names=names, topics=topics)

    def resize(self, words: str) -> GroupEvent:
        """Read `TOPIC:COUNT`. With fewer partitions the topic is deleted and created again."""
        topic, count = self.sized(words)
        (topic,) = self.known_topics(topic)
        shrinks = count < self.counts[topic]
        self.counts[topic] = count
        kind = GroupEventKind.RECREATE if shrinks else GroupEventKind.GROW
        return GroupEvent(kind=kind, topic=topic, partition_count=count)

    def new_topic(self, words: str) -> GroupEvent:
        """Read `TOPIC:COUNT`."""
        topic, count = self.sized(words)
        if topic in self.counts:
            raise ValueError(f"topic {topic!r} is there already; to change it: resize:{words}")
        self.counts[topic] = count
        return GroupEvent(kind=GroupEventKind.GROW, topic=topic, partition_count=count)

    def delete(self, words: str) -> GroupEvent:
        """Read `TOPIC`."""
        (topic,) = self.known_topics(words)
        del self.counts[topic]
        return GroupEvent(kind=GroupEventKind.DELETE, topic=topic)

    def sized(self, words: str) -> tuple[str, int]:
        """Return topic and count, if the count fits the limit of all topics together."""
        topic, _, digits = words.rpartition(":")
        if not topic:
            raise _MisreadError
        count = _number(digits)
        others = sum(self.counts.values()) - self.counts.get(topic, 0)
        room = LIMITS["partitions"] - others
        if not 0 <= count <= room:
            raise ValueError(f"{count} partitions, not 0..{room}")
        return topic, count

    def member(self, word: str) -> str:
        """Return the name of the member that a word means."""
        word = word.strip()
        if not word:
            raise _MisreadError
        if word in self.topics:
            return word
        present = self.instances.get(word)
        if present in self.topics and present is not None:
            return present
        begin = [name for name in self.topics if name.startswith(word)]
        if len(begin) == 1:
            return begin[0]
        if begin:
            raise ValueError(f"{len(begin)} members begin with {word!r}: {', '.join(begin[:5])}")
        raise ValueError(f"no member {word!r}{self.meant(word)}")

    def meant(self, word: str) -> str:
        """Return a question after the member whose id begins most like the word."""
        beginnings = {name[: len(word)]: name for name in reversed(self.topics)}
        near = nearest(word, [*self.instances, *beginnings])
        if near is None:
            return suggestion(word, self.topics)
        return f"; did you mean {beginnings.get(near, near)!r}?"

    def members(self, words: str) -> tuple[str, ...]:
        """Return the names of the members that words with commas between them mean."""
        if words.strip() == "*":
            return tuple(self.topics)
        return tuple(dict.fromkeys(self.member(word) for word in words.split(",")))

    def known_topics(self, words: str) -> tuple[str, ...]:
        """Return topics with commas between them, all of which exist."""
        names = tuple(dict.fromkeys(word.strip() for word in words.split(",")))
        for name in names:
            if not name:
                raise _MisreadError
            if name not in self.counts:
                raise ValueError(f"no topic {name!r}{suggestion(name, self.counts)}")
        return names

    def common_topics(self) -> tuple[str, ...]:
        """Return what all members subscribe to, or all topics where there are no members."""
        lists = {frozenset(topics): topics for topics in self.topics.values()}
        if len(lists) > 1:
            raise ValueError("members subscribe to different topics: say to which, join:1:orders")
        return next(iter(lists.values()), tuple(self.counts))


class _MisreadError(ValueError):
    """The words of an event do not have its form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """How one kind of event is written."""

    form: str
    """As an example has it."""
    what: str
    """What happens."""
    read: Callable[[_Draft, str], GroupEvent]


VERBS: Mapping[str, Verb] = {
    "join": Verb(
        form="join:5 or join:5:orders,payments",
        what="new members join together",
        read=_Draft.join,
    ),
    "leave": Verb(form="leave:m3 or leave:m3,m4", what="members leave", read=_Draft.leave),
    "crash": Verb(
        form="crash:m3",
        what="members fall silent, and are removed: in rounds the same as leave",
        read=_Draft.leave,
    ),
    "return": Verb(
        form="return:m3",
        what="a member is removed, and comes back with the claims it had",
        read=_Draft.come_back,
    ),
    "restart": Verb(
        form="restart:m3", what="a static member comes back without claims", read=_Draft.restart
    ),
    "subscribe": Verb(
        form="subscribe:m3:orders,payments or subscribe:*:orders",
        what="members change their subscription",
        read=_Draft.subscribe,
    ),
    "resize": Verb(
        form="resize:orders:24",
        what="a topic gets more partitions; fewer: it is deleted and created again",
        read=_Draft.resize,
    ),
    "new-topic": Verb(
        form="new-topic:payments:12",
        what="a topic is created; subscribe says who reads it",
        read=_Draft.new_topic,
    ),
    "delete": Verb(form="delete:orders", what="a topic is deleted", read=_Draft.delete),
}
"""Verb of an event -> how it is written and what it does."""


def _number(digits: str) -> int:
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 9:
        raise _MisreadError
    return int(digits)
