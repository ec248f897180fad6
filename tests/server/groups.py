"""Groups of the vectors, as ours."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from assignors import Cluster, Group, Member, Rebalance, Topic

VECTORS = Path(__file__).parents[1] / "vectors" / "kafka-4.4.0.jsonl.gz"

NAMES = {
    "srv-uniform": "server/uniform",
    "srv-range": "server/range",
    "srv-simple": "server/simple",
}
"""`in.algo` -> assignor."""


def cases() -> list[dict[str, Any]]:
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        read = [json.loads(line) for line in lines]
    return [case for case in read if case.get("in", {}).get("algo") in NAMES]


def group_of(given: dict[str, Any]) -> Group:
    topics = {
        topic_id: Topic(partition_count=count, topic_id=topic_id)
        for topic_id, count in given["topics"].items()
    }
    return Group(
        cluster=Cluster(topics=topics),
        members=tuple(member_of(member) for member in given["members"]),
    )


def member_of(given: dict[str, Any]) -> Member:
    owned: dict[str, tuple[int, ...]] = {}
    for topic, number in given.get("owned") or ():
        owned[topic] = (*owned.get(topic, ()), number)
    return Member(
        member_id=given["id"],
        topics=tuple(given["topics"]),
        owned=owned,
        instance_id=given.get("instance"),
    )


def lists_of(answer: Rebalance) -> dict[str, list[list[Any]]]:
    """The answer as the vectors write it: pairs sorted by topic and number."""
    assert answer.lists is not None
    return {member: sorted(map(list, pairs)) for member, pairs in answer.lists.items()}
