"""What a leader remembers stays safe whatever becomes of its plans.

A plan may be refused, arrive at some members and not at others, or be made by somebody else while
our leader is away. Members of version 0 say nothing of what they have, so the leader's memory is
all there is for them. The model has the truth: what each member consumes until it is told
otherwise, and in any order, since an answer takes its time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from hypothesis import given, settings
from hypothesis import strategies as st

from assignors import Cluster
from assignors.leader import Led, Memory, lead
from tests.laws.laws import COOPERATIVE
from wire import Subscription, decode_assignment, encode_subscription

CLUSTER = Cluster.of({"t": 6})
SETTLES_IN = 5
CASES = settings().max_examples
"""`make deep` asks for more."""

Owned = frozenset[int]


class Speech(Enum):
    """What a member's bytes say of what it has."""

    ALL = "what it has, since when"
    NO_GENERATION = "what it has"
    NOTHING = "nothing"


@dataclass(slots=True)
class Follower:
    """A member that does what it is told, when it hears it."""

    speech: Speech
    owned: Owned = frozenset()
    generation: int = -1

    def says(self) -> bytes:
        owned = {"t": tuple(sorted(self.owned))}
        if self.speech is Speech.ALL:
            said = Subscription(topics=("t",), owned=owned, generation=self.generation)
        elif self.speech is Speech.NO_GENERATION:
            said = Subscription(version=1, topics=("t",), owned=owned)
        else:
            said = Subscription(version=0, topics=("t",))
        return encode_subscription(said)


@dataclass(frozen=True, kw_only=True, slots=True)
class Fate:
    """What becomes of one round's plan."""

    is_ours: bool = True
    """Whether our leader makes it; away, it comes back as a new member that leads again."""
    is_confirmed: bool = True
    """Whether whoever made it hears of it."""
    deaf: frozenset[int] = frozenset()
    """Places of the members that do not hear of it."""
    joins: Speech | None = None
    leaves: int | None = None
    renamed: int | None = None
    """Place of a member that is taken for a new one, and consumes on."""


@dataclass(slots=True)
class Played:
    """A group, with the memories of our leader and of the one that leads while it is away."""

    members: dict[str, Follower]
    memory: Memory = field(default_factory=Memory)
    rival: Memory = field(default_factory=Memory)
    generation: int = 0
    births: int = 0

    def join(self, speech: Speech) -> None:
        self.births += 1
        self.members[f"m{self.births}"] = Follower(speech)

    def play(self, fate: Fate) -> Led:
        """Play a round; no partition may have two consumers, in whatever order they hear."""
        self.change(fate)
        self.generation += 1
        blobs = {name: member.says() for name, member in self.members.items()}
        memory = self.memory if fate.is_ours else self.rival
        led = lead(COOPERATIVE, CLUSTER, blobs, joined=self.generation, memory=memory)
        self.apply(led, self.deaf(fate))
        after = led.memory if fate.is_confirmed else led.memory_in_doubt()
        if fate.is_ours:
            self.memory = after
        else:
            self.rival = after
            self.members["leader"] = Follower(Speech.ALL)
        return led

    def change(self, fate: Fate) -> None:
        """Let members come and go."""
        names = [name for name in self.members if name != "leader"]
        if fate.leaves is not None and names:
            del self.members[names.pop(fate.leaves % len(names))]
        if fate.renamed is not None and names:
            self.births += 1
            self.members[f"m{self.births}"] = self.members.pop(names[fate.renamed % len(names)])
        if fate.joins is not None:
            self.join(fate.joins)
        if not fate.is_ours:
            del self.members["leader"]
            self.join(Speech.ALL)

    def deaf(self, fate: Fate) -> set[str]:
        """Who does not hear. A plan that its leader hears of arrives where nothing is said: what
        remains otherwise is the window that `clients.common.client_session` keeps small."""
        found = {name for place, name in enumerate(self.members) if place in fate.deaf}
        for name, member in self.members.items():
            if name == "leader":
                found = found - {name} if fate.is_confirmed else found | {name}
            elif member.speech is Speech.NOTHING and fate.is_confirmed:
                found -= {name}
        return found

    def apply(self, led: Led, deaf: set[str]) -> None:
        plan = {name: numbers_of(blob) for name, blob in led.assignments.items()}
        for name in plan.keys() - deaf:
            for other, member in self.members.items():
                if other != name:
                    assert not plan[name] & member.owned, (name, other)
                    assert other in deaf or not plan[name] & plan[other], (name, other)
        for name in plan.keys() - deaf:
            self.members[name].owned = plan[name]
            self.members[name].generation = self.generation


def numbers_of(blob: bytes) -> Owned:
    return frozenset(decode_assignment(blob).require().partitions.get("t", ()))


def played(speeches: list[Speech]) -> Played:
    made = Played(members={"leader": Follower(Speech.ALL)})
    for speech in speeches:
        made.join(speech)
    return made


speeches = st.sampled_from(Speech)
fates = st.builds(
    Fate,
    is_ours=st.sampled_from((True, True, True, False)),
    is_confirmed=st.booleans(),
    deaf=st.frozensets(st.integers(0, 4), max_size=4),
    joins=st.none() | speeches,
    leaves=st.none() | st.integers(0, 3),
    renamed=st.none() | st.integers(0, 3),
)


@settings(max_examples=3 * CASES)
@given(st.lists(speeches, min_size=1, max_size=3), st.lists(fates, max_size=8))
def test_nothing_is_consumed_twice_whatever_becomes_of_plans(
    members: list[Speech], story: list[Fate]
) -> None:
    group = played(members)
    for fate in story:
        group.play(fate)


@settings(max_examples=2 * CASES)
@given(st.lists(speeches, min_size=1, max_size=3), st.lists(fates, max_size=8))
def test_a_group_rests_with_everything_given_once_plans_arrive_again(
    members: list[Speech], story: list[Fate]
) -> None:
    group = played(members)
    for fate in story:
        group.play(fate)
    for _ in range(SETTLES_IN):
        before = consumed(group)
        led = group.play(Fate())
        lets_go = any(before[name] - member.owned for name, member in group.members.items())
        if not led.must_follow_up and not lets_go:
            break
    assert frozenset().union(*consumed(group).values()) == frozenset(range(6))


def consumed(group: Played) -> Mapping[str, Owned]:
    return {name: member.owned for name, member in group.members.items()}


def test_a_refused_round_costs_a_silent_member_nothing() -> None:
    """One more member joined while the leader was assigning: the coordinator refused the plan,
    and members of version 0 were left with nothing for a round."""
    group = played([Speech.NOTHING, Speech.NO_GENERATION])
    for _ in range(3):
        group.play(Fate())
    silent = group.members["m1"]
    had = silent.owned
    assert len(had) == 2
    refused = Fate(is_confirmed=False, deaf=frozenset(range(5)))
    group.play(refused)
    group.play(refused)
    group.play(Fate())
    assert silent.owned == had


def test_what_may_have_been_given_is_not_given_to_another() -> None:
    """The plan was stored and the silent member has its part; only the leader's answer is lost."""
    group = played([Speech.NOTHING])
    for _ in range(2):
        group.play(Fate())
    silent = group.members["m1"]
    had = silent.owned
    group.play(Fate(is_confirmed=False, joins=Speech.ALL))
    assert silent.owned < had
    led = group.play(Fate(is_confirmed=False, deaf=frozenset({1})))
    assert not had & numbers_of(led.assignments["m2"]), "for all the leader knows m1 has it"
    group.play(Fate())
    group.play(Fate())
    assert [len(member.owned) for member in group.members.values()] == [2, 2, 2]


def test_what_another_leader_gave_counts_for_more_than_an_old_memory() -> None:
    """Our leader was away, frozen for longer than its session, and leads again as a new member."""
    group = played([Speech.NOTHING])
    for _ in range(2):
        group.play(Fate())
    for _ in range(3):
        group.play(Fate(is_ours=False))
    silent = group.members["m1"]
    assert silent.owned
    led = group.play(Fate(leaves=1))
    assert numbers_of(led.assignments["leader"]) == frozenset(), "nobody knows what is free"


def test_without_numbers_of_rounds_no_plan_is_remembered_in_doubt() -> None:
    blobs = {name: Follower(Speech.NOTHING).says() for name in "ab"}
    first = lead(COOPERATIVE, CLUSTER, blobs)
    again = lead(COOPERATIVE, CLUSTER, blobs, memory=first.memory)
    assert again.memory.plan is not None
    assert again.memory_in_doubt().plan is None
