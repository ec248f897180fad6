"""Whole histories under cooperative-sticky: nothing is ever consumed twice, and the group settles.

`simulation.rounds` knows what each member really consumes, which may differ from what it claims.
The bound of two rounds holds for all that was found here, clients of version 0 among them, as long
as nobody claims with the group's last generation what it does not own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from hypothesis import Phase, example, given, settings

from assignors import Assignor
from assignors.simulation.rounds import (
    GroupEvent,
    GroupEventKind,
    MemberSpec,
    Round,
    Scenario,
    play,
    rounds,
)
from assignors.testing import scenarios
from tests.conftest import cases
from tests.laws.laws import COOPERATIVE, EVERY_ASSIGNOR


def settlements(scenario: Scenario) -> Iterator[list[Round]]:
    """Yield the rounds from each thing that happens to when the group rests."""
    played = rounds(scenario, COOPERATIVE)
    for _, phase in groupby(played, key=lambda one: (one.event_number, one.phase)):
        yield list(phase)


@cases(120)
@given(scenarios())
def test_nothing_is_ever_consumed_twice(scenario: Scenario) -> None:
    for step in rounds(scenario, COOPERATIVE):
        assert step.started_twice == ()
        consumed = Counter(
            (topic, number)
            for share in step.after.values()
            for topic, numbers in share.items()
            for number in numbers
        )
        assert max(consumed.values(), default=0) <= 1


@cases(120)
@given(scenarios())
def test_two_rounds_settle_whatever_happened(scenario: Scenario) -> None:
    for steps in settlements(scenario):
        assert steps[-1].is_settled
        assert len(steps) <= 2


@cases(120)
@given(scenarios(misremembering=False))
def test_nothing_waits_in_the_end_when_members_apply_what_they_are_told(scenario: Scenario) -> None:
    for steps in settlements(scenario):
        assert not steps[-1].rebalance.withheld


@cases(120)
@given(scenarios())
def test_what_waits_in_the_end_is_withheld_by_name(scenario: Scenario) -> None:
    for steps in settlements(scenario):
        last = steps[-1]
        asked = {topic for member in last.group.members for topic in member.topics}
        idle = {
            (name, number)
            for name, topic in last.group.cluster.topics.items()
            if name in asked
            for number in range(topic.partition_count)
        }
        for share in last.after.values():
            idle -= {(topic, number) for topic, numbers in share.items() for number in numbers}
        withheld = last.rebalance.withheld
        assert idle == {(topic, number) for topic in withheld for number in withheld[topic]}
        # Before the first round nobody knows a last generation, and the highest claim passes
        # for it; from then on the leader is told whenever nobody else would go on.
        if last.group.generation is not None:
            assert last.rebalance.follow_up == bool(withheld)


def test_the_histories_meet_what_the_laws_are_about() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=200, derandomize=True, database=None, phases=[Phase.generate])
    @given(scenarios())
    def look(scenario: Scenario) -> None:
        for steps in settlements(scenario):
            seen["two rounds"] += len(steps) == 2
            seen["follow-up"] += steps[0].rebalance.follow_up
            seen["something waits"] += bool(steps[0].rebalance.withheld)

    look()
    assert min(seen["two rounds"], seen["follow-up"], seen["something waits"]) >= 5, seen


def respelled(scenario: Scenario, version: int | None) -> Scenario:
    """Return the scenario with every member speaking in that version."""

    def spelled(spec: MemberSpec) -> MemberSpec:
        return replace(spec, version=version)

    return replace(
        scenario,
        members=tuple(map(spelled, scenario.members)),
        events=tuple(
            replace(event, member=spelled(event.member)) if event.member else event
            for event in scenario.events
        ),
    )


# Under `sticky` a member that claims something without a generation wrote no UserData: it
# claimed nothing in bytes, and something as a struct.
CLAIMS_WITHOUT_GENERATION = Scenario(
    seed=0,
    topics={"t": 3, "u": 2},
    members=(
        MemberSpec(name="a", topics=("t",)),
        MemberSpec(name="b", topics=("u",)),
        MemberSpec(name="c", topics=("t", "u"), owned={"t": (0,), "u": (0,)}),
    ),
    events=(GroupEvent(kind=GroupEventKind.LEAVE, name="a"),),
)


@EVERY_ASSIGNOR
@given(scenario=scenarios())
@example(scenario=CLAIMS_WITHOUT_GENERATION)
def test_bytes_and_structs_play_alike(assignor: Assignor, scenario: Scenario) -> None:
    spoken = [
        [replace(row, cpu_ms=0.0) for row in play(respelled(scenario, version), assignor)]
        for version in (None, 1, 2, 3)
    ]
    assert all(rows == spoken[0] for rows in spoken)


@EVERY_ASSIGNOR
@given(scenario=scenarios())
def test_no_history_breaks_a_law(assignor: Assignor, scenario: Scenario) -> None:
    for row in play(scenario, assignor):
        assert row.violations == 0
        assert row.is_settled
