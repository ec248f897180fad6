"""kafka-python as a program under test: its codecs and its four assignors behind our protocol.

An example of such a program: read a line, answer it. Groups take the way they take in the field:
every member's Subscription bytes are read by kafka-python, which then assigns.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from tests.foreign.drivers.answering import Cluster, Fields, blob, by_topic, pairs, serve

ASSIGNORS = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "coop": CooperativeStickyAssignor,
}


def assign(asked: Fields) -> Fields:
    members = [
        SimpleNamespace(
            member_id=member["id"],
            group_instance_id=member.get("instance"),
            metadata=ConsumerProtocolSubscription.decode(subscription_bytes(member)),
        )
        for member in asked["members"]
    ]
    answer = ASSIGNORS[asked["algo"]]().assign(Cluster(asked["topics"]), members)
    return {
        "assignment": {
            member_id: pairs(assignment.assigned_partitions)
            for member_id, assignment in answer.items()
        }
    }


def subscription_bytes(member: Fields) -> bytes:
    """The bytes a member sent, or those that Kafka 4.4 would send for it."""
    if "subscription" in member:
        return bytes.fromhex(member["subscription"])
    written: bytes = subscription(
        {**member, "gen": member.get("sgen"), "owned": member.get("owned") or []}
    ).encode(version=3)
    return written


def subscription(fields: Fields) -> Any:
    generation = fields.get("gen")
    return ConsumerProtocolSubscription(
        version=3,
        topics=fields.get("topics", []),
        user_data=blob(fields.get("ud")),
        owned_partitions=[
            ConsumerProtocolSubscription.TopicPartition(topic=topic, partitions=numbers)
            for topic, numbers in by_topic(fields["owned"])
        ],
        generation_id=-1 if generation is None else generation,
        rack_id=fields.get("rack"),
    )


def read_subscription(asked: Fields) -> Fields:
    read = ConsumerProtocolSubscription.decode(bytes.fromhex(asked["hex"]))
    return {
        "topics": read.topics,
        "ud": None if read.user_data is None else read.user_data.hex(),
        "owned": pairs(read.owned_partitions or []),
        "gen": read.generation_id,
        "rack": read.rack_id,
    }


def read_assignment(asked: Fields) -> Fields:
    read = ConsumerProtocolAssignment.decode(bytes.fromhex(asked["hex"]))
    return {
        "owned": pairs(read.assigned_partitions),
        "ud": None if read.user_data is None else read.user_data.hex(),
    }


def read_member(asked: Fields) -> Fields:
    """What the leader makes of a member, after its Subscription went over the wire."""
    kind = "sticky" if asked["algo"] == "codec-mdsticky" else "coop"
    received = ConsumerProtocolSubscription.decode(subscription(asked).encode(version=3))
    read = ASSIGNORS[kind].parse_member_metadata(received)
    return {
        "owned": [[partition.topic, partition.partition] for partition in read.partitions],
        "gen": read.generation,
    }


def write_subscription(asked: Fields) -> Fields:
    written = {}
    for version in range(4):
        written[f"v{version}"] = subscription(asked).encode(version=version).hex()
    return written


def write_assignment(asked: Fields) -> Fields:
    partitions = by_topic(asked["owned"])
    return {
        f"v{version}": ConsumerProtocolAssignment(version, partitions, blob(asked["ud"]))
        .encode()
        .hex()
        for version in range(4)
    }


def write_user_data(asked: Fields) -> Fields:
    """What a member sends after it was assigned `owned`."""
    sticky = asked["algo"] == "codec-stickyud"
    assignor = StickyPartitionAssignor() if sticky else CooperativeStickyAssignor()
    if asked["gen"] is not None:
        partitions = by_topic(asked.get("owned", []))
        assignor.on_assignment(ConsumerProtocolAssignment(0, partitions, b""), asked["gen"])
    sent = ConsumerProtocolSubscription.decode(assignor.metadata({"t"}).encode())
    return {"ud": None if sent.user_data is None else sent.user_data.hex()}


WORKS: dict[str, Callable[[Fields], Fields]] = {
    **dict.fromkeys(ASSIGNORS, assign),
    "codec-sub": read_subscription,
    "codec-asg": read_assignment,
    "codec-mdsticky": read_member,
    "codec-mdcoop": read_member,
    "codec-mksub": write_subscription,
    "codec-mkasg": write_assignment,
    "codec-stickyud": write_user_data,
    "codec-coopud": write_user_data,
}


if __name__ == "__main__":
    logging.disable()  # it warns of topics without metadata, a line each
    serve("kafka-python", WORKS)
