"""Histories played: what happens to a group, and that nothing is missed or made up."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace

import pytest

from assignors import ASSIGNORS, Assignor, Group, Rebalance, RebalanceProtocol, UserData
from assignors.assignor import Assignor as AssignorType
from assignors.registry import assignor_named
from assignors.simulation.rounds import (
    GroupEvent,
    GroupEventKind,
    MemberSpec,
    Outcome,
    Parameters,
    Scenario,
    SubscriptionShape,
    generate,
    play,
    rounds,
)

COOPERATIVE = assignor_named("cooperative-sticky")


def untimed(outcomes: tuple[Outcome, ...]) -> list[dict[str, object]]:
    return [{**asdict(outcome), "cpu_ms": None} for outcome in outcomes]


def member(name: str, *topics: str, **options: object) -> MemberSpec:
    return MemberSpec(name=name, topics=topics or ("t",), **options)  # type: ignore[arg-type]


def two_members(*events: GroupEvent, **options: object) -> Scenario:
    return Scenario(
        topics={"t": 4}, members=(member("a", **options), member("b", **options)), events=events
    )


def test_a_seed_is_a_scenario_and_a_scenario_is_its_outcomes() -> None:
    for shape in SubscriptionShape:
        sizes = Parameters(members=5, topics=3, partitions=11, subscription=shape, events=6)
        assert generate(9, sizes) == generate(9, sizes) != generate(10, sizes)
        scenario = generate(9, sizes)
        assert untimed(play(scenario, COOPERATIVE)) == untimed(play(scenario, COOPERATIVE))


def test_every_kind_of_event_is_drawn() -> None:
    kinds = Counter(
        event.kind for seed in range(100) for event in generate(seed, Parameters()).events
    )
    assert set(kinds) == set(GroupEventKind) - {GroupEventKind.START}
    honest = Parameters(faults=False)
    kinds = Counter(event.kind for seed in range(50) for event in generate(seed, honest).events)
    assert set(kinds) == {
        GroupEventKind.JOIN,
        GroupEventKind.LEAVE,
        GroupEventKind.GROW,
        GroupEventKind.SUBSCRIBE,
    }


# The broker's assignors read no bytes of members.
ON_CLIENTS = [assignor for assignor in ASSIGNORS.values() if assignor.family != "server"]


@pytest.mark.parametrize("assignor", ON_CLIENTS, ids=[found.full_name for found in ON_CLIENTS])
def test_bytes_and_structs_give_the_same_outcomes(assignor: Assignor) -> None:
    for seed in range(12):
        without_bytes = generate(seed, Parameters(members=4, topics=3, partitions=9, events=5))
        events = tuple(
            replace(event, member=replace(event.member, version=3)) if event.member else event
            for event in without_bytes.events
        )
        members = tuple(replace(spec, version=3) for spec in without_bytes.members)
        written = replace(without_bytes, members=members, events=events)
        assert untimed(play(without_bytes, assignor)) == untimed(play(written, assignor))


def test_a_joining_member_takes_two_cooperative_rounds_and_one_eager_one() -> None:
    join = GroupEvent(kind=GroupEventKind.JOIN, name="c", member=member("c"))
    cooperative = play(two_members(join), COOPERATIVE)[-1]
    assert (cooperative.rounds, cooperative.moved, cooperative.moves_min) == (2, 1, 1)
    assert (cooperative.withheld_rounds, cooperative.unassigned_partition_rounds) == (1, 1)
    eager = play(two_members(join), assignor_named("sticky"))[-1]
    assert (eager.rounds, eager.moved, eager.unassigned_partition_rounds) == (1, 1, 0)


def test_a_member_that_comes_back_claims_what_it_no_longer_consumes() -> None:
    played = list(
        rounds(two_members(GroupEvent(kind=GroupEventKind.RETURN, name="a")), COOPERATIVE)
    )
    back = next(step for step in played if step.phase == 1)
    claims = {m.member_id: (m.owned, m.generation) for m in back.group.members}
    assert claims["a-0003"] == ({"t": (0, 2)}, 1)
    assert back.before["a-0003"] == {}
    assert back.before["b-0002"] == {"t": (0, 1, 2, 3)}
    assert not any(step.started_twice for step in played)
    assert played[-1].after["a-0003"] != {}


@pytest.mark.parametrize(
    "event",
    [
        GroupEvent(kind=GroupEventKind.LEAVE, name="leader"),
        GroupEvent(kind=GroupEventKind.STATIC_RESTART, name="leader"),
        GroupEvent(kind=GroupEventKind.RETURN, name="leader"),
    ],
    ids=lambda event: str(event.kind),
)
def test_the_memory_of_a_leader_that_goes_is_lost(event: GroupEvent) -> None:
    """What the member of version 0 consumes stood in that memory alone: the new leader does not
    know it, and everything that nobody claims has to wait for a round."""
    members = (member("leader", instance_id="i"), member("b"), member("old", version=0))
    group = Scenario(topics={"t": 6}, members=members, events=(event,))
    other = replace(group, events=(replace(event, name="b"),))
    _, *lost = rounds(group, COOPERATIVE)
    _, *kept = rounds(other, COOPERATIVE)
    old = "old-0003"
    first_lost, first_kept = (
        next(step for step in steps if step.event_number == 1) for steps in (lost, kept)
    )
    assert set(first_kept.before[old]["t"]) <= set(first_kept.rebalance.assignment[old]["t"])
    assert first_lost.rebalance.assignment[old] == {}
    assert set(first_lost.before[old]["t"]) <= set(first_lost.rebalance.withheld["t"])


def test_an_unknown_claim_waits_one_round_and_is_known_from_then_on() -> None:
    old = replace(two_members(), members=(member("a", version=0), member("b", version=3)))
    first, *_ = play(old, COOPERATIVE)
    assert (first.rounds, first.withheld_left, first.load_square_sum) == (2, 0, 8)


def too_early(group: Group) -> Rebalance:
    """Hand everything to the last member at once: what cooperative must never do."""
    answer: dict[str, dict[str, tuple[int, ...]]] = {m.member_id: {} for m in group.members}
    answer[group.members[-1].member_id] = {
        topic: tuple(range(known.partition_count)) for topic, known in group.cluster.topics.items()
    }
    return Rebalance(assignment=answer)


def test_a_partition_started_twice_is_seen_whatever_was_claimed() -> None:
    reckless = AssignorType(
        family="test",
        name="reckless",
        assign=too_early,
        protocols=frozenset({RebalanceProtocol.COOPERATIVE}),
        user_data=UserData.COOPERATIVE,
    )
    join = GroupEvent(kind=GroupEventKind.JOIN, name="c", member=member("c"))
    assert [row.violations for row in play(two_members(join), reckless)] == [0, 4]


def never_settles(group: Group) -> Rebalance:
    """Take everything away, and give everything back, in turn."""
    owned = any(m.owned for m in group.members)
    if not owned:
        return too_early(group)
    return Rebalance(assignment={m.member_id: {} for m in group.members}, withheld={"t": (0,)})


def test_a_group_that_never_rests_is_given_up_and_said_so() -> None:
    restless = AssignorType(
        family="test",
        name="restless",
        assign=lambda group: replace(never_settles(group), follow_up=True),
        protocols=frozenset({RebalanceProtocol.COOPERATIVE}),
        user_data=UserData.COOPERATIVE,
    )
    (row,) = play(two_members(), restless)
    assert (row.rounds, row.is_settled) == (12, False)


@pytest.mark.parametrize(
    "event",
    [
        GroupEvent(kind=GroupEventKind.LEAVE, name="nobody"),
        GroupEvent(kind=GroupEventKind.JOIN, name="a", member=member("a")),
        GroupEvent(kind=GroupEventKind.GROW),
    ],
)
def test_an_event_that_cannot_happen_is_refused(event: GroupEvent) -> None:
    with pytest.raises(ValueError, match=event.kind.value):
        play(two_members(event), COOPERATIVE)


def test_topics_come_and_go() -> None:
    events = (
        GroupEvent(kind=GroupEventKind.GROW, topic="t", partition_count=6),
        GroupEvent(kind=GroupEventKind.RECREATE, topic="t", partition_count=3),
        GroupEvent(kind=GroupEventKind.DELETE, topic="t"),
        GroupEvent(kind=GroupEventKind.GROW, topic="t", partition_count=2),
    )
    rows = play(two_members(*events), COOPERATIVE)
    assert [row.load_square_sum for row in rows] == [8, 18, 5, 0, 2]
    assert sum(row.violations for row in rows) == 0
