"""Range and round-robin against the answers of Kafka's own classes."""

from __future__ import annotations

import random
from typing import Any

import pytest

from assignors import Cluster, Group, Member, Topic, assignor_named
from tests.wire.vectors import kafka


def group_of(given: dict[str, Any]) -> Group:
    topics = {
        name: Topic(
            partition_count=len(racks),
            racks=tuple(tuple(rack for rack in replicas if rack) for replicas in racks),
        )
        for name, racks in given["topics"].items()
    }
    members = tuple(
        Member(
            member_id=member["id"],
            topics=tuple(member["topics"]),
            rack_id=member.get("rack") or None,
            instance_id=member.get("instance"),
        )
        for member in given["members"]
    )
    return Group(cluster=Cluster(topics=topics), members=members)


CASES = kafka("range", "roundrobin")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_answer_is_javas(case: dict[str, Any]) -> None:
    group = group_of(case["in"])
    assignor = assignor_named(f"java/{case['in']['algo']}")
    answer = assignor.assign(group)
    if "err" in case["out"]:
        assert not group.members, "Java refuses only a group without members"
        assert answer.assignment == {}
        return
    expected = {
        member: sorted(map(tuple, pairs)) for member, pairs in case["out"]["assignment"].items()
    }
    found = {
        member: sorted((topic, number) for topic, numbers in owned.items() for number in numbers)
        for member, owned in answer.assignment.items()
    }
    assert found == expected
    shuffled = list(group.members)
    random.Random(case["id"]).shuffle(shuffled)
    again = assignor.assign(Group(cluster=group.cluster, members=tuple(shuffled)))
    assert again.assignment == answer.assignment
    assert again.stats == answer.stats
