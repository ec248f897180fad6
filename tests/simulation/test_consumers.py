"""What is read from arrays equals what members' mappings say, whatever an assignor does."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import (
    Assignor,
    Cluster,
    Group,
    Member,
    Rebalance,
    RebalanceProtocol,
    UserData,
)
from assignors.checks.validity import validity
from assignors.group_bytes.assignments import AssignedPartitions
from assignors.model import Assignment
from assignors.optimal.bounds import optimum
from assignors.ownership.monitors import started_while_owned
from assignors.problem import NOBODY, lawful_owners, owners, problem_of
from assignors.registry import assignor_named
from assignors.simulation.dice import Dice
from assignors.simulation.rounds import Outcome, Round, Scenario, play, rounds
from assignors.simulation.rounds.consumers import consumers, single_owners
from assignors.testing import scenarios
from wire import TopicPartitions

COOPERATIVE = assignor_named("cooperative-sticky")


def careless(fault: int) -> Assignor:
    """Return cooperative-sticky that makes mistakes: with `fault` in a hundred numbers it gives.

    A number is left out, given to other members too, made a larger one, which may not exist, or
    called withheld though it is given; a member is given a topic or a number of its own making; a
    stranger gets something. With 0 the answers are those of cooperative-sticky, as mappings.
    """

    def assign(group: Group) -> Rebalance:
        answer = COOPERATIVE.assign(group)
        dice = Dice(len(group.members) + 7 * (group.generation or 0))
        given: dict[str, dict[str, tuple[int, ...]]] = {m.member_id: {} for m in group.members}
        withheld = dict(answer.withheld)
        everyone = [*given, "stranger"]
        topics = [*group.cluster.topics, "no such topic"]
        for member_id, share in answer.assignment.items():
            for topic, number in listed(share):
                receivers, name, wrong = [member_id], topic, number
                if dice.chance(fault):
                    receivers = dice.sample([*everyone, member_id], dice.below(3))
                    name = topic if dice.chance(60) else dice.pick(topics)
                    wrong = number + dice.below(2) * dice.below(3)
                    if dice.chance(20):
                        withheld[topic] = (number,)
                for receiver in receivers:
                    mine = given.setdefault(receiver, {})
                    mine[name] = (*mine.get(name, ()), wrong)
        return replace(answer, assignment=given, withheld=withheld)

    return Assignor(
        family="test",
        name="careless",
        assign=assign,
        protocols=frozenset({RebalanceProtocol.COOPERATIVE}),
        user_data=UserData.COOPERATIVE,
    )


@given(scenarios(), st.sampled_from((0, 5, 30)))
def test_arrays_say_what_mappings_say_or_nothing(scenario: Scenario, fault: int) -> None:
    for step in rounds(scenario, careless(fault)):
        held = Counter(pair for share in step.after.values() for pair in listed(share))
        asked = asked_partitions(step.group)
        is_plain = held.keys() <= asked and max(held.values(), default=0) <= 1
        assert step.started_twice == started_while_owned(step.before, step.after)
        if step.consumers is None:
            continue
        assert is_plain
        assert np.count_nonzero(step.consumers.after == NOBODY) == len(asked) - len(held)
        assert step.consumers.has_started_twice == bool(step.started_twice)
        assert bool(step.consumers.is_taken.any()) == any(
            not set(listed(share)) <= set(listed(step.after[member_id]))
            for member_id, share in step.before.items()
        )


@given(scenarios(), st.sampled_from((0, 5, 30)))
def test_figures_are_those_counted_from_mappings(scenario: Scenario, fault: int) -> None:
    assignor = careless(fault)
    steps = list(rounds(scenario, assignor))
    for row in play(scenario, assignor):
        assert counted(row, steps) == row


def of(cluster: dict[str, int], **topics: str) -> Group:
    """Return a group of members by id, each with its topics, a letter each."""
    members = tuple(Member(member_id=name, topics=tuple(asked)) for name, asked in topics.items())
    return Group(cluster=Cluster.of(cluster), members=members)


OTHERS = [
    of({"t": 2, "u": 2}, a="tu", b="t"),
    of({"t": 2, "v": 2}, a="tv", b="t"),
    of({"t": 3, "u": 1}, a="tu", b="t"),
    of({"t": 2, "u": 2}, a="tu", c="t"),
]


@pytest.mark.parametrize("other", OTHERS)
def test_owners_of_another_group_are_numbered_again(other: Group) -> None:
    problem, answered = problem_of(OTHERS[0]), problem_of(other)
    assigned = AssignedPartitions(answered, np.array([0, 1, 0, 0], dtype=np.int32))
    found, named = single_owners(problem, assigned), single_owners(problem, dict(assigned))
    assert found is named is None or np.array_equal(found, named)
    assert (found is assigned.owner) == (other is OTHERS[0])


def test_a_group_with_other_subscriptions_than_in_the_round_before_is_read_again() -> None:
    first, then = of({"t": 1, "u": 1}, a="t", b="t"), of({"t": 1, "u": 1}, a="t", b="tu")
    before, after = {"a": {"t": (0,)}}, {"a": {"t": (0,)}, "b": {"u": (0,)}}
    last = consumers(first, before, before, None)
    known = consumers(then, before, after, last)
    assert last is not None
    assert known is not None
    assert known.problem.topics == ("t", "u")
    assert (known.before.tolist(), known.after.tolist()) == ([0, -1], [0, 1])


@given(scenarios())
def test_an_answer_as_a_mapping_is_the_answer(scenario: Scenario) -> None:
    as_array, as_mapping = COOPERATIVE, careless(0)
    assert [untimed(row) for row in play(scenario, as_array)] == [
        untimed(row) for row in play(scenario, as_mapping)
    ]


def untimed(row: Outcome) -> Outcome:
    return replace(row, cpu_ms=0.0, assignor="")


def listed(share: TopicPartitions) -> list[tuple[str, int]]:
    return [(topic, number) for topic, numbers in share.items() for number in numbers]


def asked_partitions(group: Group) -> set[tuple[str, int]]:
    known = group.cluster.topics
    return {
        (topic, number)
        for member in group.members
        for topic in member.topics
        if topic in known
        for number in range(known[topic].partition_count)
    }


def counted(row: Outcome, played: list[Round]) -> Outcome:
    """Return the figures of an event again, from the mappings of its rounds and nothing else."""
    steps = [step for step in played if step.event_number == row.event]
    earlier = [step for step in played if step.event_number < row.event]
    consumed: Assignment = earlier[-1].after if earlier else {}
    unassigned = sum(
        len(asked_partitions(step.group)) - sum(len(listed(share)) for share in step.after.values())
        for step in steps
    )
    violations = sum(len(started_while_owned(step.before, step.after)) for step in steps)
    moved = moves_min = 0
    for phase in sorted({step.phase for step in steps}):
        last = next(step for step in reversed(steps) if step.phase == phase)
        problem = problem_of(last.group)
        before, after = lawful_owners(problem, consumed), owners(problem, last.after)
        best = optimum(problem.first, problem.takes, problem.class_of, before)
        moved += int(np.count_nonzero((before != NOBODY) & (before != after)))
        moves_min += best.moves_min
        answer = last.rebalance
        violations += len(validity(last.group, answer.assignment, answer.withheld))
        consumed = last.after
    load = np.bincount(after[after != NOBODY], minlength=len(last.group.members))
    return replace(
        row,
        rounds=len(steps),
        moved=moved,
        moves_min=moves_min,
        withheld_rounds=sum(step.rebalance.withheld != {} for step in steps),
        unassigned_partition_rounds=unassigned,
        withheld_left=len(listed(last.rebalance.withheld)),
        load_min=int(min(load, default=0)),
        load_max=int(max(load, default=0)),
        load_square_sum=int(load @ load),
        optimum=best.load_square_sum,
        violations=violations,
    )
