"""Lists where tuples are wanted are taken; one name where several are wanted is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from assignors import Cluster, Group, Member, OnFailure, Options, Topic, assignor_named
from assignors.simulation.rounds import GroupEvent, MemberSpec, Scenario, play
from assignors.simulation.timed.scenario import Action, MemberConfig
from assignors.simulation.timed.scenario import Scenario as TimedScenario

ONE = Cluster.of({"t": 2})
A = Member(member_id="a", topics=("t",), owned={"t": (0, 1)}, generation=3)
SPEC = MemberSpec(name="a", topics=("t",))


def of(made: Any, /, **values: Any) -> Callable[[], object]:
    return lambda: made(**values)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (
            of(Member, member_id="a", topics=["t"], owned={"t": [0, 1]}, generation=np.int64(3)),
            lambda: A,
        ),
        (
            of(Member, member_id="a", topics={"t"}, owned={"t": np.arange(2)}, generation=3),
            lambda: A,
        ),
        (
            of(Member, member_id="a", topics={"v", "u", "t"}),
            of(Member, member_id="a", topics=("t", "u", "v")),
        ),
        (
            of(Group, cluster=ONE, members=[A], generation=np.int64(7), joined=np.int64(8)),
            of(Group, cluster=ONE, members=(A,), generation=7, joined=8),
        ),
        (
            of(Group, cluster=ONE, members=(A,), generation=-3),
            of(Group, cluster=ONE, members=(A,), generation=-1),
        ),
        (of(Options, on_failure="repair"), of(Options, on_failure=OnFailure.REPAIR)),
        (of(Group, cluster=ONE, members=[A]), of(Group, cluster=ONE, members=(A,))),
        (
            of(Topic, partition_count=np.int32(1), racks=[["r"]]),
            of(Topic, partition_count=1, racks=(("r",),)),
        ),
        (
            of(Topic, partition_count=1, racks=(["r"],)),
            of(Topic, partition_count=1, racks=(("r",),)),
        ),
        (of(MemberSpec, name="a", topics=["t"]), lambda: SPEC),
        (
            of(GroupEvent, kind="subscribe", name="a", topics=["u"]),
            of(GroupEvent, kind="subscribe", name="a", topics=("u",)),
        ),
        (
            of(Scenario, topics={"t": 1}, members=[SPEC], events=[]),
            of(Scenario, topics={"t": 1}, members=(SPEC,)),
        ),
        (
            of(MemberConfig, name="a", topics=["t"], assignors=["java/range"]),
            of(MemberConfig, name="a", topics=("t",), assignors=("java/range",)),
        ),
        (
            of(Action, at_ms=1, do="subscribe", topics=["t"]),
            of(Action, at_ms=1, do="subscribe", topics=("t",)),
        ),
        (
            of(TimedScenario, until_ms=1, topics={}, members=[], plan=[], faults=[], arrivals=[]),
            of(TimedScenario, until_ms=1, topics={}, members=()),
        ),
    ],
)
def test_what_can_only_mean_one_thing_is_taken_as_tuples(
    written: Callable[[], Any], meant: Callable[[], Any]
) -> None:
    found, expected = written(), meant()
    assert found == expected
    for field in fields(found):
        value, other = getattr(found, field.name), getattr(expected, field.name)
        assert type(value) is type(other), field.name
        assert repr(value) == repr(other)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (of(Member, member_id="a", topics="orders"), "topics: 'orders' is one name"),
        (of(Member, member_id="a", topics=7), "topics: expected a tuple of str, found 7"),
        (of(Member, member_id="a", topics=(7,)), "topics: expected str, found 7"),
        (of(Member, member_id="a", topics=["t", None]), "topics: expected str, found None"),
        (of(Member, member_id="a", owned=[["t", [0]]]), "owned: expected topic -> partition"),
        (of(Member, member_id="a", owned={"t": "01"}), r"owned\['t'\]: expected a tuple of numb"),
        (of(Member, member_id="a", owned={"t": 0}), r"owned\['t'\]: expected a tuple of numbers"),
        (of(Member, member_id="a", owned={"t": [0.5]}), r"owned\['t'\]: expected an integer"),
        (of(Member, member_id="a", owned={"t": [True]}), "expected an integer, found True"),
        (of(Member, member_id="a", owned={"t": (0.0, 1.0)}), "expected an integer, found 0.0"),
        (of(Member, member_id="a", owned={"t": (), "u": ("0",)}), r"owned\['u'\]: expected an int"),
        (of(Group, cluster=ONE, members=(), generation="7"), "generation: expected an integer"),
        (of(Group, cluster=ONE, members=(), joined=7.0), "joined: expected an integer"),
        (of(Options, jdk=11), r"jdk: expected one of \(17, 25\), found 11"),
        (of(Options, on_failure="fix"), "'fix' is not a valid OnFailure"),
        (of(Member, member_id="a", generation="7"), "generation: expected an integer"),
        (of(Member, member_id=7), "member_id: expected a name, found 7"),
        (of(Topic, partition_count="6"), "partition_count: expected an integer"),
        (of(Topic, partition_count=1, racks=("r",)), "racks of a partition: 'r' is one name"),
        (of(Topic, partition_count=1, racks="r"), "racks: expected a tuple"),
        (of(Cluster, topics={"t": 3}), r"topics\['t'\]: 3 is no Topic; Cluster.of takes counts"),
        (of(Cluster, topics=["t"]), "topics: expected name -> Topic"),
        (of(Group, cluster={"t": 1}, members=()), "cluster: expected a Cluster"),
        (of(Group, cluster=ONE, members="a"), "members: expected a tuple of Member"),
        (of(Group, cluster=ONE, members=("a",)), "members: expected Member, found 'a'"),
        (of(Group, cluster=ONE, members={"a": A}), "members: expected a tuple of Member"),
        (of(MemberSpec, name="a", topics="t"), "topics: 't' is one name"),
        (of(GroupEvent, kind="joins"), "kind: 'joins' is none of an event; did you mean 'join'"),
        (of(GroupEvent, kind="subscribe", topics="t"), "topics: 't' is one name"),
        (of(Scenario, topics=["t"], members=()), "topics: expected name -> partition count"),
        (of(Scenario, topics={}, members=[A]), "members: expected MemberSpec"),
        (of(Scenario, topics={}, members=(), events=["join"]), "events: expected GroupEvent"),
        (of(MemberConfig, name="a", topics="t"), "topics: 't' is one name"),
        (of(MemberConfig, name="a", topics=(), assignors="java/range"), "assignors: 'java/range'"),
        (of(Action, at_ms=1, do="subscribe", topics="t"), "topics: 't' is one name"),
        (of(TimedScenario, until_ms=1, topics={}, members=["a"]), "members: expected MemberConf"),
    ],
)
def test_what_may_mean_something_else_is_a_value_error(
    written: Callable[[], object], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        written()


def test_a_group_of_lists_is_assigned_and_played_as_one_of_tuples() -> None:
    listed: Any = [{"member_id": name, "topics": ["t"], "owned": {"t": []}} for name in "ab"]
    group = Group(cluster=ONE, members=[Member(**each) for each in listed])
    for name in ("range", "sticky", "java/cooperative-sticky", "server/uniform"):
        assert sum(map(len, assignor_named(name).assign(group).assignment.values())) == 2
    event = GroupEvent(kind="leave", name="a")  # type: ignore[arg-type]  # a word for the kind
    scenario = Scenario(topics={"t": 2}, members=[SPEC], events=[event])  # type: ignore[arg-type]
    assert [row.kind for row in play(scenario, assignor_named("sticky"))] == ["start", "leave"]


@pytest.mark.parametrize("counts", [["orders"], "orders", 3, None, {"orders": "3"}])
def test_partition_counts_that_are_none_are_a_value_error(counts: Any) -> None:
    """A list of names ended with an `AttributeError`."""
    with pytest.raises(ValueError, match="expected"):
        Cluster.of(counts)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"t": 10**9}, "partition_count: 1000000000 partitions, more than 10000000"),
        ({"t": 9_999_999, "u": 2}, "partition_counts: more than 10000000 partitions in one group"),
    ],
)
def test_partition_counts_have_the_bound_that_documents_have(
    counts: dict[str, int], words: str
) -> None:
    """A typing error used up the memory of the machine as the group was assigned."""
    with pytest.raises(ValueError, match=words):
        Cluster.of(counts)


def test_numpys_counts_of_32_bits_have_that_bound_too() -> None:
    """Their sum began again at negative numbers, so that it was below the bound."""
    counts: dict[str, Any] = {f"t{number}": np.int32(10_000_000) for number in range(300)}
    with pytest.raises(ValueError, match="more than 10000000 partitions in one group"):
        Cluster.of(counts)
