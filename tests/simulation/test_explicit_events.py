"""Groups as they are, and the events that somebody asks for: nothing is drawn.

The oracle is the assignor itself: what a settled event leaves is what the assignor gives a group
that is written down by hand as the event leaves it.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member, assignor_named
from assignors.assignor import Assignor
from assignors.names.assignor_names import BEST
from assignors.simulation.rounds.explicit_events import VERBS, scenario_of_group
from assignors.simulation.rounds.outcome import PlayedEvent, play, play_events
from assignors.simulation.rounds.scenario import GroupEventKind
from assignors.simulation.rounds.settlement import rounds

ASSIGNORS = [*BEST.values(), "java/sticky", "java/cooperative-sticky", "server/uniform"]


def group_of(assignor: Assignor, member_count: int, topics: dict[str, int]) -> Group:
    """Return a group at rest, whose assignment the assignor has made."""
    members = tuple(Member(member_id=f"m{n}", topics=tuple(topics)) for n in range(member_count))
    group = Group(cluster=Cluster.of(topics), members=members, generation=6)
    given = assignor.assign(group).assignment
    settled = tuple(
        replace(member, owned=given[member.member_id], generation=7) for member in members
    )
    return replace(group, members=settled, generation=7)


def played(group: Group, assignor: Assignor, *events: str) -> list[PlayedEvent]:
    """Return the start and the events."""
    return list(play_events(scenario_of_group(group, events), assignor))


@pytest.mark.parametrize("name", ASSIGNORS)
@given(member_count=st.integers(1, 6), first=st.integers(0, 9), second=st.integers(1, 9))
def test_the_start_of_a_group_at_rest_changes_nothing(
    name: str, member_count: int, first: int, second: int
) -> None:
    assignor = assignor_named(name)
    group = group_of(assignor, member_count, {"t": first, "u": second})
    (start,) = played(group, assignor)
    assert (start.outcome.rounds, start.outcome.moved, start.outcome.violations) == (1, 0, 0)
    assert start.before == {member.member_id: member.owned for member in group.members}
    assert _numbers(start) == _numbers(start, before=True)


def _numbers(event: PlayedEvent, *, before: bool = False) -> dict[str, object]:
    assignment = event.before if before else event.after
    return {
        member_id: {topic: sorted(numbers) for topic, numbers in owned.items() if numbers}
        for member_id, owned in assignment.items()
    }


@pytest.mark.parametrize("name", BEST.values())
@given(
    member_count=st.integers(2, 6),
    count=st.integers(1, 20),
    joins=st.integers(1, 5),
    grown=st.integers(0, 9),
)
def test_events_end_where_the_assignor_itself_ends(
    name: str, member_count: int, count: int, joins: int, grown: int
) -> None:
    assignor = assignor_named(name)
    group = group_of(assignor, member_count, {"t": count})
    _, join, leave, resize = played(
        group, assignor, f"join:{joins}", "leave:m1", f"resize:t:{count + grown}"
    )
    new = [f"new-{n}" for n in range(1, joins + 1)]
    old = [f"m{n}" for n in range(member_count)]
    for event, ids, partitions in (
        (join, [*old, *new], count),
        (leave, [one for one in [*old, *new] if one != "m1"], count),
        (resize, [one for one in [*old, *new] if one != "m1"], count + grown),
    ):
        members = tuple(Member(member_id=one, topics=("t",)) for one in ids)
        fresh = assignor.assign(Group(cluster=Cluster.of({"t": partitions}), members=members))
        assert event.after.keys() == fresh.assignment.keys()
        loads = [
            sorted(len(owned.get("t", ())) for owned in answer.values())
            for answer in (event.after, fresh.assignment)
        ]
        assert loads[0] == loads[1]
        given_out = [n for owned in event.after.values() for n in owned.get("t", ())]
        assert sorted(given_out) == list(range(partitions))
        assert event.outcome.moved == sum(
            member_id in event.after and number not in event.after[member_id].get("t", ())
            for member_id, owned in event.before.items()
            for number in owned.get("t", ())
        )
        assert event.outcome.moved >= event.outcome.moves_min
    assert "m1" in leave.before
    assert leave.outcome.kind == "leave"


def test_several_members_join_before_one_rebalance() -> None:
    """Three joins one by one are three rebalances, and a partition may move twice."""
    sticky = assignor_named("sticky")
    group = group_of(sticky, 2, {"t": 12})
    assert len(played(group, sticky, "join:3")) == 2
    assert len(played(group, sticky, "join:1", "join:1", "join:1")) == 4
    _, together = played(group, sticky, "join:3")
    assert (together.outcome.moved, together.outcome.rounds) == (6, 1)


def test_stale_claims_are_claims_and_nobody_consumes_by_them() -> None:
    members = (
        Member(member_id="a", topics=("t",), owned={"t": (0,)}, generation=7),
        Member(member_id="ghost", topics=("t",), owned={"t": (0, 1)}, generation=5),
    )
    group = Group(cluster=Cluster.of({"t": 2}), members=members, generation=7)
    (start,) = played(group, assignor_named("cooperative-sticky"))
    assert start.before == {"a": {"t": (0,)}, "ghost": {}}
    assert start.outcome.violations == 0


def test_claims_of_an_older_generation_than_the_groups_are_stale() -> None:
    members = (Member(member_id="a", topics=("t",), owned={"t": (0, 1)}, generation=5),)
    group = Group(cluster=Cluster.of({"t": 2}), members=members, generation=7)
    cooperative = assignor_named("cooperative-sticky")
    (start,) = played(group, cooperative)
    assert start.before == {"a": {}}
    first = next(iter(rounds(scenario_of_group(group, ()), cooperative)))
    assert first.group.generation == 7
    assert first.group.members[0].generation == 5


def test_without_generations_everybody_consumes_what_it_owns() -> None:
    members = tuple(
        Member(member_id=name, topics=("t",), owned={"t": numbers})
        for name, numbers in (("a", (1, 3)), ("b", (0, 2)))
    )
    group = Group(cluster=Cluster.of({"t": 4}), members=members)
    (start,) = played(group, assignor_named("cooperative-sticky"))
    assert (start.outcome.rounds, start.outcome.moved) == (1, 0)
    assert start.before == start.after == {"a": {"t": (1, 3)}, "b": {"t": (0, 2)}}


def test_what_two_members_consume_at_the_start_counts_as_moved_away_from_one() -> None:
    members = tuple(
        Member(member_id=name, topics=("t",), owned={"t": numbers}, generation=1)
        for name, numbers in (("a", (0, 1, 2, 3)), ("b", (3,)))
    )
    group = Group(cluster=Cluster.of({"t": 4}), members=members)
    (start,) = played(group, assignor_named("sticky"))
    assert start.before == {member.member_id: member.owned for member in members}
    assert start.outcome.moved == 1


@pytest.mark.parametrize("event", ["return:a", "restart:a"])
def test_a_member_that_comes_back_has_another_id_and_consumes_nothing_at_first(event: str) -> None:
    sticky = assignor_named("sticky")
    group = group_of(sticky, 2, {"t": 4})
    members = tuple(
        replace(member, member_id=name, instance_id=f"i-{name}")
        for member, name in zip(group.members, "ab", strict=True)
    )
    _, back = played(replace(group, members=members), assignor_named("cooperative-sticky"), event)
    assert back.outcome.violations == 0
    assert "a" in back.before
    assert "a" not in back.after
    assert sorted(sum(map(len, owned.values())) for owned in back.after.values()) == [2, 2]


def test_new_members_have_names_of_their_own_and_what_the_others_subscribe_to_now() -> None:
    members = (Member(member_id="new-1", topics=("t",)),)
    group = Group(cluster=Cluster.of({"t": 2, "u": 2}), members=members)
    _, join = scenario_of_group(group, ["subscribe:*:u", "join:2"]).events
    assert [(spec.name, spec.topics) for spec in join.members] == [
        ("new-2", ("u",)),
        ("new-3", ("u",)),
    ]


def test_each_verb_has_an_example_that_is_played() -> None:
    texts = [example for verb in VERBS.values() for example in verb.form.split(" or ")]
    members = tuple(
        Member(member_id=f"m{n}", topics=("orders", "payments"), instance_id=f"i-{n}")
        for n in range(3, 6)
    )
    for text in texts:
        topics = {"orders": 6} if text.startswith("new-topic") else {"orders": 6, "payments": 3}
        group = Group(cluster=Cluster.of(topics), members=members)
        start, event = play(scenario_of_group(group, [text]), assignor_named("sticky"))
        assert start.kind == "start"
        assert event.is_settled
    assert {text.partition(":")[0] for text in texts} == VERBS.keys()


def test_every_kind_of_event_but_a_fault_of_clients_can_be_asked_for() -> None:
    members = tuple(Member(member_id=f"m{n}", topics=("t",), instance_id=f"i-{n}") for n in (1, 2))
    group = Group(cluster=Cluster.of({"t": 2}), members=members)
    texts = ["join:1", "leave:new-1", "return:m2", "restart:i-1", "subscribe:*:t", "resize:t:4"]
    events = scenario_of_group(group, [*texts, "resize:t:1", "delete:t"]).events
    assert {event.kind for event in events} == set(GroupEventKind) - {
        GroupEventKind.START,
        GroupEventKind.CLAIM_FUTURE,
    }


REFUSED = [
    ("jion:5", "jion:5: no event 'jion'; did you mean 'join'?"),
    ("explode", "no event 'explode'; known: join, leave,"),
    ("join:0", "0 members, not 1.."),
    ("join:100001", "100001 members, not 1.."),
    ("join:m3", "expected join:5 or"),
    ("join:", "expected join:5 or"),
    ("join:1:order", "no topic 'order'; did you mean 'orders'?"),
    ("leave:checkout-9", "no member 'checkout-9'; did you mean 'checkout-2-def'?"),
    ("leave:till-9", "no member 'till-9'; did you mean 'till-2-xyz'?"),
    ("leave:checkout", "2 members begin with 'checkout': checkout-1-abc, checkout-2-def"),
    ("leave:", "expected leave:m3"),
    ("leave:checkout-1,", "expected leave:m3"),
    ("restart:checkout-1", "has no instance id; without one a restart is leave:checkout-1-abc"),
    ("subscribe:checkout-1", "expected subscribe:m3"),
    ("subscribe:*:orders,", "expected subscribe:m3"),
    ("resize:orders", "expected resize:orders:24"),
    ("resize:order:24", "no topic 'order'; did you mean 'orders'?"),
    ("resize:orders:-1", "expected resize:orders:24"),
    ("resize:orders:1000001", "1000001 partitions, not 0..1000000"),
    ("new-topic:orders:3", "is there already; to change it: resize:orders:3"),
    ("delete:orders,x", "no topic 'x'"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_cannot_happen_is_refused_with_its_event(text: str, words: str) -> None:
    members = tuple(
        Member(member_id=name, topics=("orders",), instance_id=instance)
        for name, instance in (
            ("checkout-1-abc", None),
            ("checkout-2-def", None),
            ("till-2-xyz", "till-2"),
        )
    )
    group = Group(cluster=Cluster.of({"orders": 6}), members=members)
    with pytest.raises(ValueError, match=rf"^{re.escape(text)}: ") as caught:
        scenario_of_group(group, [text])
    assert words in str(caught.value)


def test_what_happened_before_counts() -> None:
    members = (
        Member(member_id="a", topics=("t",)),
        Member(member_id="b", topics=("u",)),
    )
    group = Group(cluster=Cluster.of({"t": 2, "u": 2}), members=members)
    with pytest.raises(ValueError, match="different topics"):
        scenario_of_group(group, ["join:1"])
    assert scenario_of_group(group, ["leave:b", "join:1"]).events[1].members[0].topics == ("t",)
    with pytest.raises(ValueError, match=r"leave:b: no member 'b'"):
        scenario_of_group(group, ["leave:b", "leave:b"])
    with pytest.raises(ValueError, match=r"no topic 'u'"):
        scenario_of_group(group, ["delete:u", "subscribe:a:u"])
