"""What uniform and range promise, whatever the group; second opinions are slow and obvious."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from assignors import (
    Assignor,
    Cluster,
    Group,
    JavaFailure,
    Member,
    OnFailure,
    Options,
    Rebalance,
    assignor_named,
)
from assignors.checks import Rule, check
from assignors.server import heterogeneous
from assignors.server.balancer import Balancer
from assignors.server.heterogeneous import dealt_to_least, least_in_turn
from assignors.server.homogeneous import _quotas
from assignors.server.spec import spec_of
from tests.server.groups import any_groups, assignable, equal_groups, had, holders, places_of
from wire.text import utf16_key

REPAIR = Options(on_failure=OnFailure.REPAIR)
UNIFORM = assignor_named("server/uniform").configured(REPAIR)
RANGE = assignor_named("server/range")
BOTH = pytest.mark.parametrize("assignor", [UNIFORM, RANGE], ids=["uniform", "range"])


def had_by_one(group: Group) -> Group:
    """The same group without what several members were given last."""
    times = Counter(place for member in group.members for place in had(member))
    return Group(
        cluster=group.cluster,
        members=tuple(
            Member(
                member_id=member.member_id,
                topics=member.topics,
                instance_id=member.instance_id,
                owned={
                    topic: tuple(n for n in dict.fromkeys(numbers) if times[topic, n] == 1)
                    for topic, numbers in member.owned.items()
                },
            )
            for member in group.members
        ),
    )


def loads(answer: Rebalance) -> list[int]:
    return [len(places) for places in places_of(answer).values()]


@BOTH
@given(group=any_groups)
def test_every_partition_goes_once_to_somebody_who_asked(assignor: Assignor, group: Group) -> None:
    group = had_by_one(group)
    answer = assignor.assign(group)
    assert not check(group, answer.assignment).violations
    assert set(holders(answer)) == assignable(group)
    assert answer.stats["unassigned"] == 0
    assert set(answer.assignment) == {member.member_id for member in group.members}


@given(group=any_groups)
def test_what_two_members_had_both_keep_or_the_repair_gives_to_one(group: Group) -> None:
    answer = UNIFORM.assign(group)
    rules = {violation.rule for violation in check(group, answer.assignment).violations}
    assert rules <= {Rule.ASSIGNED_TWICE}
    times = Counter(place for member in group.members for place in had(member))
    assert all(times[place] >= count for place, count in holders(answer).items() if count > 1)


@given(group=equal_groups())
def test_equal_subscriptions_are_balanced(group: Group) -> None:
    spread = loads(UNIFORM.assign(group))
    assert max(spread) - min(spread) <= 1


@given(group=equal_groups())
def test_nobody_gives_up_what_a_balanced_answer_lets_it_keep(group: Group) -> None:
    answer = places_of(UNIFORM.assign(group))
    low, extra = divmod(len(assignable(group)), len(group.members))
    kept = {
        member.member_id: len(had(member) & answer[member.member_id]) for member in group.members
    }
    claims = [len(had(member)) for member in group.members]
    assert all(kept[m.member_id] >= min(len(had(m)), low) for m in group.members)
    assert sum(kept.values()) == sum(min(claim, low) for claim in claims) + min(
        extra, sum(claim > low for claim in claims)
    ), "as much stays as any balanced answer lets stay"


@given(group=equal_groups(), data=st.data())
def test_what_counts_as_assigned_is_given_to_nobody(group: Group, data: st.DataObject) -> None:
    free = assignable(group) - {place for member in group.members for place in had(member)}
    counted = data.draw(st.sets(st.sampled_from(sorted(free)))) if free else set()
    also = {topic: tuple(n for name, n in counted if name == topic) for topic, _ in counted}
    answer = UNIFORM.assign(replace(group, also_assigned={**also, "nobody's": (0,)}))
    assert set(holders(answer)) == assignable(group) - counted
    assert max(loads(answer)) <= max(loads(UNIFORM.assign(group)))


@given(group=equal_groups())
def test_its_own_answer_stays_as_it_is(group: Group) -> None:
    """KAFKA-18688: it used to move partitions about in balanced groups."""
    answer = UNIFORM.assign(group)
    again = UNIFORM.assign(
        Group(
            cluster=group.cluster,
            members=tuple(
                Member(
                    member_id=member.member_id,
                    topics=member.topics,
                    owned=answer.assignment[member.member_id],
                )
                for member in group.members
            ),
        )
    )
    assert again.assignment == answer.assignment
    assert again.stats["moved"] == 0


@given(group=any_groups)
def test_no_topic_could_be_levelled_further(group: Group) -> None:
    group = had_by_one(group)
    answer = places_of(UNIFORM.assign(group))
    for member in group.members:
        for topic in {topic for topic, _ in answer[member.member_id]}:
            for other in group.members:
                if topic in other.topics:
                    assert len(answer[member.member_id]) - len(answer[other.member_id]) <= 1


@given(
    load=st.lists(st.integers(0, 6), min_size=1, max_size=8).map(sorted), count=st.integers(1, 30)
)
def test_pouring_is_giving_one_by_one_to_the_least(load: list[int], count: int) -> None:
    heap = [(level, place) for place, level in enumerate(load)]
    heapq.heapify(heap)
    expected = []
    for _ in range(count):
        level, place = heap[0]
        expected.append(place)
        heapq.heapreplace(heap, (level + 1, place))
    assert dealt_to_least(np.array(load, dtype=np.int64), count).tolist() == expected


@given(load=st.lists(st.integers(0, 9), min_size=1, max_size=9), count=st.integers(1, 30))
def test_units_go_to_the_least_loaded_whatever_the_order_of_loads(
    load: list[int], count: int
) -> None:
    left, expected = list(load), []
    for _ in range(count):
        # Members of equal load are served in the order in which their loads began.
        expected.append(min(range(len(load)), key=lambda place: (left[place], load[place], place)))
        left[expected[-1]] += 1
    assert least_in_turn(np.array(load, dtype=np.int64), count).tolist() == expected


@given(group=any_groups)
def test_topics_are_levelled_as_in_kafkas_loop(group: Group) -> None:
    spec = spec_of(had_by_one(group))
    try:
        one, other = heterogeneous._kept(spec), heterogeneous._kept(spec)
    except JavaFailure:  # a number that does not exist
        reject()
    topics = heterogeneous._in_turn(spec, one)
    for topic in topics:
        heterogeneous._deal(one, topic)
        heterogeneous._deal(other, topic)
    topics = [topic for topic in topics if heterogeneous._can_move(one, topic)]
    heterogeneous._level(one, topics)
    level_by_steps(other, topics)
    assert one.owner.tolist() == other.owner.tolist()


def level_by_steps(placing: heterogeneous._Placing, topics: list[int]) -> None:
    """Kafka's loop: topic after topic, until the last one that changed comes again."""
    last_changed = -1
    for _ in range(heterogeneous.ROUND_MAX):
        for topic in topics:
            if topic == last_changed:
                return
            owner = placing.owner[placing.spans[topic]]
            least = placing.load[placing.subscribers[topic]].min()
            is_uneven = placing.load[owner].max() - least > 1
            if is_uneven:
                heterogeneous._level_topic(placing, topic)
            if is_uneven or last_changed == -1:
                last_changed = topic


@given(
    members=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8).map(
        sorted
    )
)
def test_levelling_moves_from_more_to_less_and_ends(members: list[tuple[int, int]]) -> None:
    load = [total for total, _ in members]
    has = [min(total, part) for total, part in members]
    balancer = Balancer(load=list(load), has=list(has))
    for giver, taker in balancer.moves():
        assert has[giver] > 0
        assert load[giver] - load[taker] >= 2
        has[giver] -= 1
        load[giver] -= 1
        load[taker] += 1
    least = min(load)
    assert all(total - least <= 1 for total, left in zip(load, has, strict=True) if left)


@given(group=any_groups)
def test_range_gives_runs_in_order(group: Group) -> None:
    answer = places_of(RANGE.assign(group))
    static = [member for member in group.members if member.instance_id is not None]
    dynamic = [member for member in group.members if member.instance_id is None]
    static.sort(key=lambda member: utf16_key(member.instance_id or ""))
    dynamic.sort(key=lambda member: utf16_key(member.member_id))
    for topic, entry in group.cluster.topics.items():
        takers = [member.member_id for member in static + dynamic if topic in member.topics]
        left = list(range(entry.partition_count))
        for position, taker in enumerate(takers):
            share = -(-len(left) // (len(takers) - position))
            expected, left = left[:share], left[share:]
            assert {(topic, n) for n in expected} == {p for p in answer[taker] if p[0] == topic}


def test_a_group_without_members_or_topics_is_no_problem() -> None:
    nobody = Group(cluster=Cluster.of({"t": 2}), members=())
    idle = Group(cluster=Cluster.of({"t": 2}), members=(Member(member_id="a"),))
    for name in ("uniform", "range", "simple"):
        assignor = assignor_named(f"server/{name}")
        assert dict(assignor.assign(nobody).assignment) == {}
        assert dict(assignor.assign(idle).assignment) == {"a": {}}


def quotas_by_steps(had_count: list[int], partition_count: int) -> tuple[list[int], list[int]]:
    """Kafka's loop: member after member, while extra partitions are left."""
    low, extra = divmod(partition_count, len(had_count))
    quota, fill = [], []
    for member, count in enumerate(had_count):
        has_extra = extra > 0
        quota.append(low + has_extra)
        room = quota[-1] - count
        if room > 0 and has_extra and len(had_count) - member > extra:
            room -= 1
            has_extra = False
        fill.append(max(room, 0))
        extra -= has_extra
    return quota, fill


@given(
    had_count=st.lists(st.integers(0, 6), min_size=1, max_size=9),
    partition_count=st.integers(0, 40),
)
def test_quotas_are_those_of_kafkas_loop(had_count: list[int], partition_count: int) -> None:
    quota, fill = _quotas(np.array(had_count), partition_count)
    assert (quota.tolist(), fill.tolist()) == quotas_by_steps(had_count, partition_count)


@pytest.mark.parametrize("others", [("t", "u"), ("t",)], ids=["equal", "different"])
def test_a_repair_that_leaves_as_many_numbers_as_topics_mixes_nothing_up(
    others: tuple[str, ...],
) -> None:
    """What one topic has lost, another one has more: two numbers of two topics are not one each."""

    def group(had: dict[str, tuple[int, ...]]) -> Group:
        members = (
            Member(member_id="a", topics=("t", "u"), owned=had),
            Member(member_id="b", topics=others, owned={"t": (2,)}),
        )
        return Group(cluster=Cluster.of({"t": 4, "u": 2}), members=members)

    repaired = UNIFORM.assign(group({"t": (0, 3), "u": (9,)}))
    expected = UNIFORM.assign(group({"t": (0, 3)}))
    assert repaired.notes != expected.notes
    assert dict(repaired.lists or {}) == dict(expected.lists or {})
    assert repaired.stats == expected.stats
