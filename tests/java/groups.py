"""The groups of vectors, as ours."""

from __future__ import annotations

from typing import Any

from assignors import Cluster, Group, Member, State, Topic

NAMES = {
    "range": "java/range",
    "roundrobin": "java/roundrobin",
    "sticky": "java/sticky",
    "coop": "java/cooperative-sticky",
}
"""`in.algo` -> assignor."""


def group_of(given: dict[str, Any]) -> Group:
    topics = {
        name: Topic(
            partition_count=len(racks),
            racks=tuple(tuple(rack for rack in replicas if rack is not None) for replicas in racks),
        )
        for name, racks in given["topics"].items()
    }
    return Group(
        cluster=Cluster(topics=topics),
        members=tuple(member_of(member) for member in given["members"]),
        state=State(max_generation=given.get("maxGen", -1)),
    )


def member_of(given: dict[str, Any]) -> Member:
    owned: dict[str, tuple[int, ...]] = {}
    for topic, number in given.get("owned") or ():
        owned[topic] = (*owned.get(topic, ()), number)
    generation, user_data = given.get("sgen"), given.get("ud")
    return Member(
        member_id=given["id"],
        topics=tuple(given["topics"]),
        owned=owned,
        generation=-1 if generation is None else generation,
        rack_id=given.get("rack"),
        instance_id=given.get("instance"),
        user_data=None if user_data is None else bytes.fromhex(user_data),
        version=3,
    )
