"""aiokafka as a program under test: its codec and its three assignors behind our protocol.

`aiokafka.coordinator` has both. Its messages are of version 0, so what later versions carry behind
it (owned partitions, generation, rack) is not read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.coordinator.protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

from tests.foreign.drivers.answering import (
    Cluster,
    Fields,
    blob,
    by_topic,
    pairs,
    serve,
)

ASSIGNORS: dict[str, Any] = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
}
VERSION = 0


def assign(asked: Fields) -> Fields:
    members = {member["id"]: received(member) for member in asked["members"]}
    answer = ASSIGNORS[asked["algo"]].assign(Cluster(asked["topics"]), members)
    return {
        "assignment": {member_id: pairs(given.assignment) for member_id, given in answer.items()}
    }


def received(member: Fields) -> Any:
    """The Subscription as the leader reads it: given as bytes, or written by aiokafka first."""
    if "subscription" in member:
        return ConsumerProtocolMemberMetadata.decode(bytes.fromhex(member["subscription"]))
    return ConsumerProtocolMemberMetadata.decode(subscription(member).encode())


def subscription(fields: Fields) -> Any:
    return ConsumerProtocolMemberMetadata(VERSION, fields.get("topics", []), blob(fields.get("ud")))


def read_subscription(asked: Fields) -> Fields:
    read = ConsumerProtocolMemberMetadata.decode(bytes.fromhex(asked["hex"]))
    return {
        "topics": read.subscription,
        "ud": None if read.user_data is None else read.user_data.hex(),
        "unseen": ["owned", "gen", "rack"],
    }


def read_assignment(asked: Fields) -> Fields:
    read = ConsumerProtocolMemberAssignment.decode(bytes.fromhex(asked["hex"]))
    return {
        "owned": pairs(read.assignment),
        "ud": None if read.user_data is None else read.user_data.hex(),
    }


def read_member(asked: Fields) -> Fields:
    """What the leader's sticky assignor reads from a member."""
    read = StickyPartitionAssignor.parse_member_metadata(received(asked))
    return {
        "owned": [[partition.topic, partition.partition] for partition in read.partitions],
        "gen": read.generation,
    }


def write_subscription(asked: Fields) -> Fields:
    return {"v0": subscription(asked).encode().hex()}


def write_assignment(asked: Fields) -> Fields:
    partitions = by_topic(asked["owned"])
    written = ConsumerProtocolMemberAssignment(VERSION, partitions, blob(asked["ud"])).encode()
    return {"v0": written.hex()}


def write_user_data(asked: Fields) -> Fields:
    """What a member sends after it was assigned `owned`; the class keeps that, not an object."""
    if asked["gen"] is None:
        StickyPartitionAssignor.member_assignment = None
        StickyPartitionAssignor.generation = StickyPartitionAssignor.DEFAULT_GENERATION_ID
    else:
        partitions = by_topic(asked.get("owned", []))
        StickyPartitionAssignor.on_assignment(
            ConsumerProtocolMemberAssignment(VERSION, partitions, b"")
        )
        StickyPartitionAssignor.on_generation_assignment(asked["gen"])
    sent = StickyPartitionAssignor.metadata({"t"})
    return {"ud": sent.user_data.hex()}


WORKS: dict[str, Callable[[Fields], Fields]] = {
    **dict.fromkeys(ASSIGNORS, assign),
    "codec-sub": read_subscription,
    "codec-asg": read_assignment,
    "codec-mdsticky": read_member,
    "codec-mksub": write_subscription,
    "codec-mkasg": write_assignment,
    "codec-stickyud": write_user_data,
}


if __name__ == "__main__":
    logging.disable()  # it warns of topics without metadata, a line each
    serve("aiokafka", WORKS)
