"""Random groups for the broker's assignors: topics by id, each member with its previous target.

What is hard here is order: of topic ids and members in hash tables (ids that share a bucket,
counts at which JDKs size tables differently), and of the partitions that a member must give up.
A few targets are ones that no broker writes: owned twice, beyond the topic, of unknown topics.
Nobody subscribes to an unknown topic: the broker leaves those out before it asks an assignor.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Sequence
from random import Random
from typing import Any

from tests.foreign.names import member_ids

Request = dict[str, Any]

SERVER = ("srv-uniform", "srv-range", "srv-simple")


def broker_group(dice: Random, algorithm: str) -> Request:
    """A group for one of `SERVER`."""
    topics = {topic_id: dice.choice((0, 1, 1, 2, 3, 4, 6, 8, 12)) for topic_id in topic_ids(dice)}
    if topics and dice.random() < 0.05:
        topics[next(iter(topics))] = dice.choice((64, 100, 150))
    ids = member_ids(dice, _member_count(dice))
    is_homogeneous = dice.random() < 0.5
    is_static = dice.choice((0.0, 0.0, 0.3, 1.0))
    everything = _some(dice, list(topics))
    members: list[Request] = [
        {
            "id": member_id,
            "topics": _shuffled(dice, everything if is_homogeneous else _some(dice, list(topics))),
            "owned": [],
            "instance": f"i{(number * 7) % 1000}" if dice.random() < is_static else None,
        }
        for number, member_id in enumerate(ids)
    ]
    if members:
        _give_targets(dice, topics, members, is_shared=algorithm == "srv-simple")
    if members and topics and dice.random() < 0.04:
        _spoil(dice, topics, members)
    for member in members:
        member["owned"] = grouped(member["owned"])
    return {"algo": algorithm, "topics": topics, "members": members}


def topic_ids(dice: Random) -> list[str]:
    """Different ids in base64url: random ones, or counted ones, whose hash codes collide."""
    count = dice.choice((0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 12, 12, 24, 48))
    if dice.random() < 0.8:
        return [topic_id(dice.randbytes(16)) for _ in range(count)]
    numbers = dice.sample(range(1, 8 * count + 1), count)
    return [topic_id(number.to_bytes(8) + (number // 2).to_bytes(8)) for number in numbers]


def topic_id(blob: bytes) -> str:
    """16 bytes as Kafka writes an id."""
    return urlsafe_b64encode(blob).rstrip(b"=").decode()


def _member_count(dice: Random) -> int:
    luck = dice.random()
    if luck < 0.01:
        return 0
    if luck < 0.70:
        return dice.randint(1, 7)
    return dice.randint(8, 40) if luck < 0.97 else dice.choice((48, 100, 200))


def _some(dice: Random, topics: list[str]) -> list[str]:
    share = dice.choice((0.3, 0.7, 1.0, 1.0))
    return [topic for topic in topics if dice.random() < share]


def _shuffled(dice: Random, topics: Sequence[str]) -> list[str]:
    return dice.sample(topics, len(topics))


def _give_targets(
    dice: Random, topics: dict[str, int], members: list[Request], *, is_shared: bool
) -> None:
    """What an earlier assignment gave: to a part of the members, of a part of the topics."""
    prior = dice.choice(("none", "balanced", "balanced", "balanced", "random", "one"))
    if prior == "none":
        return
    had = members if dice.random() < 0.5 else dice.sample(members, (len(members) + 1) // 2)
    for topic, partition_count in topics.items():
        subscribed = [member for member in had if topic in member["topics"]]
        if dice.random() < 0.1:
            subscribed = had  # a topic that its owners no longer want
        for number in range(partition_count):
            if subscribed and dice.random() < 0.95:
                for member in _owners(dice, subscribed, prior, is_shared=is_shared):
                    member["owned"].append([topic, number])
    for member in members:
        if dice.random() < 0.5:
            dice.shuffle(member["owned"])


def _owners(
    dice: Random, subscribed: list[Request], prior: str, *, is_shared: bool
) -> list[Request]:
    if is_shared and dice.random() < 0.3:
        return dice.sample(subscribed, dice.randint(1, len(subscribed)))
    if prior == "balanced":
        return [min(subscribed, key=lambda member: len(member["owned"]))]
    return [subscribed[0] if prior == "one" else dice.choice(subscribed)]


def _spoil(dice: Random, topics: dict[str, int], members: list[Request]) -> None:
    """A target that no broker would have written."""
    member = dice.choice(members)
    luck = dice.random()
    if luck < 0.5:
        member["owned"] += dice.choice(members)["owned"]
    elif luck < 0.8:
        member["owned"].append([dice.choice(list(topics)), dice.choice((12, 99, 1000))])
    else:
        member["owned"].append([topic_id(dice.randbytes(16)), dice.randint(0, 3)])


def grouped(pairs: Sequence[list[Any]]) -> list[list[Any]]:
    """The pairs by topic in order of first appearance, each topic's numbers in their order."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in pairs:
        by_topic.setdefault(topic, []).append(number)
    return [[topic, number] for topic, numbers in by_topic.items() for number in numbers]
