"""Consecutive partitions: all topics at once are dealt as one after the other."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member, assignor_named
from assignors.jvm.consecutive import consecutive_owners
from assignors.problem import problem_of
from assignors.testing import groups
from wire.text import utf16_key


@given(group=groups(), dice=st.randoms(use_true_random=False))
def test_every_topic_is_dealt_as_if_it_were_the_only_one(group: Group, dice: Random) -> None:
    problem = problem_of(group)
    order = list(range(problem.member_count))
    dice.shuffle(order)
    expected: list[int] = []
    for topic in problem.topics:
        subscribers = [n for n in order if topic in problem.members[n].topics]
        share, extra = divmod(group.cluster.topics[topic].partition_count, len(subscribers))
        for place, number in enumerate(subscribers):
            expected += [number] * (share + (place < extra))
    assert consecutive_owners(problem, np.array(order, dtype=np.int64)).tolist() == expected


@given(
    instance_ids=st.lists(
        st.none() | st.text("ab\uffff\U0001f600", max_size=2), min_size=1, max_size=8
    )
)
def test_both_range_assignors_deal_static_members_first(instance_ids: list[str | None]) -> None:
    names = ["m", "\uffff", "\U0001f600", "c1", "c0", "a", "z", "c10"]
    members = tuple(
        Member(member_id=name, topics=("t",), instance_id=instance_id)
        for name, instance_id in zip(names, instance_ids, strict=False)
    )
    group = Group(cluster=Cluster.of({"t": len(members)}), members=members)
    by_id = sorted(members, key=lambda member: utf16_key(member.member_id))

    def key(member: Member) -> tuple[bool, bytes]:
        return member.instance_id is None, utf16_key(member.instance_id or "")

    client = assignor_named("java/range").assign(group)
    dealt = [member.member_id for member in sorted(by_id, key=key)]
    assert [client.assignment[name]["t"] for name in dealt] == [(n,) for n in range(len(dealt))]
    broker = assignor_named("server/range").assign(group)
    place = {name: number for number, name in enumerate(broker.order or ())}
    in_map = sorted(by_id, key=lambda m: place[m.member_id] if m.instance_id is not None else -1)
    dealt = [member.member_id for member in sorted(in_map, key=key)]
    assert [broker.assignment[name]["t"] for name in dealt] == [(n,) for n in range(len(dealt))]
