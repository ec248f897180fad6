"""What is kept from round to round equals what members' mappings say, whatever an assignor does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from hypothesis import example, given
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
from assignors.model import Assignment
from assignors.optimal.bounds import optimum
from assignors.ownership.monitors import started_while_owned
from assignors.problem import NOBODY, lawful_owners, owners, problem_of
from assignors.registry import assignor_named
from assignors.simulation.dice import Dice
from assignors.simulation.rounds import (
    GroupEvent,
    GroupEventKind,
    MemberSpec,
    Outcome,
    Round,
    Scenario,
    play,
    rounds,
)
from assignors.simulation.rounds.consumption import consumed
from assignors.testing import scenarios
from tests.conftest import cases
from wire import TopicPartitions

Place = tuple[str, str, int]
COOPERATIVE = assignor_named("cooperative-sticky")


FAULTS: dict[str, Callable[[Dice, list[str], Place], list[Place]]] = {
    "none": lambda _dice, _members, place: [place],
    "left out": lambda _dice, _members, _place: [],
    "another's": lambda dice, members, place: [(dice.pick(members), *place[1:])],
    "given twice": lambda dice, members, place: [place, (dice.pick(members), *place[1:])],
    "larger number": lambda dice, _, place: [(*place[:2], place[2] + 1 + dice.below(2))],
    "no such topic": lambda _dice, _members, place: [(place[0], "none", place[2])],
    "a stranger's": lambda _dice, _members, place: [place, ("stranger", *place[1:])],
}
"""What a mistake makes of one place: member, topic, number."""


def careless(fault: str, percent: int) -> Assignor:
    """Return cooperative-sticky that makes this mistake with so many of the numbers it gives.

    With "withheld" it also says of them that they are withheld. Answers are mappings.
    """

    def assign(group: Group) -> Rebalance:
        answer = COOPERATIVE.assign(group)
        dice = Dice(len(group.members) + 7 * (group.generation or 0))
        given: dict[str, dict[str, tuple[int, ...]]] = {m.member_id: {} for m in group.members}
        members = list(given)
        withheld = dict(answer.withheld)
        for member_id, share in answer.assignment.items():
            for topic, number in listed(share):
                made = fault if dice.chance(percent) else "none"
                if made == "withheld":
                    withheld[topic], made = (number,), "none"
                for receiver, name, wrong in FAULTS[made](
                    dice, members, (member_id, topic, number)
                ):
                    mine = given.setdefault(receiver, {})
                    mine[name] = (*mine.get(name, ()), wrong)
        return replace(answer, assignment=given, withheld=withheld)

    return cooperative(assign)


def cooperative(assign: Callable[[Group], Rebalance]) -> Assignor:
    return Assignor(
        family="test",
        name="careless",
        assign=assign,
        protocols=frozenset({RebalanceProtocol.COOPERATIVE}),
        user_data=UserData.COOPERATIVE,
    )


careless_assignors = st.builds(
    careless, st.sampled_from(["withheld", *FAULTS]), st.sampled_from((3, 20, 60))
)


@given(scenarios(), st.just(COOPERATIVE) | careless_assignors)
def test_counts_are_those_of_mappings_and_none_where_something_is_wrong(
    scenario: Scenario, assignor: Assignor
) -> None:
    start: Assignment = {}
    is_sound = True
    settlement = None
    for step in rounds(scenario, assignor):
        if settlement != (step.event_number, step.phase):
            settlement, start, is_sound = (step.event_number, step.phase), step.before, True
            is_sound = is_allowed(step.group, step.before)
        is_sound = is_sound and is_allowed(step.group, step.after)
        assert step.started_twice == started_while_owned(step.before, step.after)
        assert step.counts.is_sound == is_sound
        assert step.counts.unassigned == len(
            asked_partitions(step.group).difference(*map(listed, step.after.values()))
        )
        if is_sound:
            assert step.counts.before == loads_of(start)
            assert step.counts.after == loads_of(step.after)
            assert step.counts.moved == sum(
                len(set(listed(share)) - set(listed(step.after[member_id])))
                for member_id, share in start.items()
            )


@given(scenarios(), careless_assignors)
def test_a_round_follows_when_a_member_has_to_revoke_something(
    scenario: Scenario, assignor: Assignor
) -> None:
    for step in rounds(scenario, assignor):
        if any(
            not set(listed(share)) <= set(listed(step.after[member_id]))
            for member_id, share in step.before.items()
        ):
            assert not step.is_settled


def is_allowed(group: Group, consumed: Assignment) -> bool:
    """Return whether each partition is consumed once, exists, and its consumer asked for it."""
    held = Counter(pair for share in consumed.values() for pair in listed(share))
    return (
        max(held.values(), default=0) <= 1
        and held.keys() <= asked_partitions(group)
        and all(consumed[m.member_id].keys() <= set(m.topics) for m in group.members)
    )


def loads_of(consumed: Assignment) -> dict[str, int]:
    return {member_id: len(listed(share)) for member_id, share in consumed.items()}


def twice_at_the_start(group: Group) -> Rebalance:
    """Give everything to `a` and to `b` in the first round, then answer as it should be."""
    answer = COOPERATIVE.assign(group)
    if group.generation is not None:
        return answer
    everything = {"t": tuple(range(4))}
    given = {m.member_id: everything if m.member_id[0] in "ab" else {} for m in group.members}
    return replace(answer, assignment=given)


TWICE = Scenario(
    topics={"t": 4, "u": 1},
    members=tuple(MemberSpec(name=name, topics=("t",)) for name in "abc"),
    events=(GroupEvent(kind=GroupEventKind.SUBSCRIBE, name="b", topics=("u",)),),
)


@example(scenario=TWICE, assignor=cooperative(twice_at_the_start))
@cases(60)
@given(scenarios(), careless_assignors)
def test_figures_are_those_counted_from_mappings(scenario: Scenario, assignor: Assignor) -> None:
    steps = list(rounds(scenario, assignor))
    for row in play(scenario, assignor):
        assert counted(row, steps) == row


def sometimes_a_mapping(group: Group) -> Rebalance:
    """Answer with a list of owners and with a mapping, in a settlement as well."""
    answer = COOPERATIVE.assign(group)
    is_list = (len(group.members) + 3 * (group.generation or 0)) % 4
    return answer if is_list else replace(answer, assignment=dict(answer.assignment))


@given(scenarios())
def test_an_answer_as_a_mapping_of_its_own_is_the_answer(scenario: Scenario) -> None:
    as_mapping = [untimed(row) for row in play(scenario, careless("none", 0))]
    for assignor in (COOPERATIVE, cooperative(sometimes_a_mapping)):
        assert [untimed(row) for row in play(scenario, assignor)] == as_mapping


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
    unassigned = [
        len(asked_partitions(step.group).difference(*map(listed, step.after.values())))
        for step in steps
    ]
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
        unassigned_partition_rounds=sum(unassigned),
        unassigned=unassigned[-1],
        withheld_left=len(listed(last.rebalance.withheld)),
        load_min=int(min(load, default=0)),
        load_max=int(max(load, default=0)),
        load_square_sum=int(load @ load),
        optimum=best.load_square_sum,
        violations=violations,
    )


def test_what_nobody_asked_for_is_not_sound() -> None:
    """A member consumes a topic that it does not subscribe to, or a number that does not exist."""
    members = (Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t", "u")))
    group = Group(cluster=Cluster.of({"t": 2, "u": 1}), members=members)
    for is_sound, given_to_a in (
        (True, {"t": (0, 1)}),
        (False, {"t": (0, 1), "u": (0,)}),
        (False, {"t": (0, 2)}),
        (False, {"t": (-1,)}),
    ):
        assert consumed(group, {"a": given_to_a, "b": {}}).is_sound is is_sound
