"""librdkafka, through confluent-kafka, as a program under test: a consumer in a group of its own.

librdkafka has no function that assigns or decodes. So a consumer joins a broker of ours
(`one_group_broker`) which tells it what a case says: the members that it leads, or the bytes that
it is assigned. What it hands out, and what its callback gets, is its answer.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from tests.foreign.drivers.answering import CannotAskError, Fields, blob, by_topic, serve
from tests.foreign.drivers.one_group_broker import Case, OneGroupBroker
from wire import (
    Mode,
    Subscription,
    decode_assignment,
    decode_subscription,
    encode_subscription,
)

STRATEGIES = {"range": "range", "roundrobin": "roundrobin", "coop": "cooperative-sticky"}
ANSWER_S = 4.0
OWN_TOPIC = "of-the-client-itself"
"""It joins only if a topic that it subscribes to is there; no member of a case has this one."""

BROKER = OneGroupBroker()


class RefusedError(Exception):
    """The client did not take what it was told."""


def asked_once(
    case: Case,
    strategy: str,
    wanted: str,
    topics: Sequence[str] = (),
    rack: str | None = None,
) -> Any:
    """Let a consumer join, and return the first event of a kind; `RefusedError` if none comes."""
    BROKER.case = replace(case, topics={**case.topics, OWN_TOPIC: [[]]})
    BROKER.events = queue.SimpleQueue()
    complaints: list[str] = []
    consumer = Consumer(
        {
            "bootstrap.servers": f"127.0.0.1:{BROKER.port}",
            "group.id": "g",
            "partition.assignment.strategy": strategy,
            "enable.auto.commit": False,
            "reconnect.backoff.ms": 1,
            "reconnect.backoff.max.ms": 5,
            "session.timeout.ms": 60_000,
            "heartbeat.interval.ms": 30_000,
            "client.rack": rack or "",
            "error_cb": lambda error: complaints.append(str(error)),
        },
        logger=_Complaints(complaints),
    )
    assigned: list[list[TopicPartition]] = []

    def on_assign(_: Consumer, partitions: list[TopicPartition]) -> None:
        assigned.append(partitions)

    consumer.subscribe(list(topics) or [OWN_TOPIC], on_assign=on_assign)
    joins = 0
    until = time.monotonic() + ANSWER_S
    try:
        while time.monotonic() < until and joins < 2:
            # A log line that is no UTF-8, as it quotes the case, ends in one of these.
            with contextlib.suppress(UnicodeDecodeError, AttributeError):
                consumer.poll(0.005)
            if wanted == "assigned" and assigned:
                return assigned[0]
            while not BROKER.events.empty():
                kind, value = BROKER.events.get()
                joins += kind == "join"
                if kind == wanted and (kind != "sync" or value):
                    return value
            if complaints:
                break
    finally:
        consumer.close()
    reason = "it joins again" if joins > 1 else f"nothing in {ANSWER_S:g} s"
    raise RefusedError(complaints[-1] if complaints else reason)


class _Complaints(logging.Logger):
    """Keeps what librdkafka logs about the group."""

    def __init__(self, complaints: list[str]) -> None:
        super().__init__("librdkafka")
        self._complaints = complaints

    def handle(self, record: logging.LogRecord) -> None:
        if "PROTO" in record.getMessage() or "ASSIGN" in record.getMessage():
            self._complaints.append(record.getMessage())


def assign(asked: Fields) -> Fields:
    members = [
        (member["id"], member.get("instance"), subscription_bytes(member))
        for member in asked["members"]
    ]
    if not members or not all(member_id for member_id, _, _ in members):
        raise CannotAskError("a group needs members with ids")
    case = Case(topics=asked["topics"], member_id=members[0][0], members=members)
    given = asked_once(case, STRATEGIES[asked["algo"]], "sync")
    assignment: dict[str, list[list[Any]]] = {member_id: [] for member_id, _, _ in members}
    for member_id, written in given.items():
        read = decode_assignment(written, mode=Mode.STRICT).require()
        assignment[member_id] = [
            [topic, number] for topic, numbers in read.partitions.items() for number in numbers
        ]
    return {"assignment": assignment}


def subscription_bytes(member: Fields) -> bytes:
    """The bytes a member sent, or those that Kafka 4.4 would send for it."""
    if "subscription" in member:
        return bytes.fromhex(member["subscription"])
    generation = member.get("sgen")
    owned = {topic: tuple(numbers) for topic, numbers in by_topic(member.get("owned") or [])}
    return encode_subscription(
        Subscription(
            topics=tuple(member["topics"]),
            owned=owned,
            generation=-1 if generation is None else generation,
            rack_id=member.get("rack"),
            user_data=blob(member.get("ud")),
        )
    )


def read_assignment(asked: Fields) -> Fields:
    case = Case(topics={}, member_id="m", assignment=bytes.fromhex(asked["hex"]))
    partitions = asked_once(case, "range", "assigned")
    return {"owned": [[one.topic, one.partition] for one in partitions], "unseen": ["ud"]}


def read_subscription(asked: Fields) -> Fields:
    """Its topics, as the leader of this one member assigns them; nothing else of it is seen."""
    given = bytes.fromhex(asked["hex"])
    found = decode_subscription(given, mode=Mode.TOLERANT)
    topics = () if found.value is None else found.value.topics
    if len(set(topics)) < len(topics) or "" in topics:
        raise CannotAskError("a topic that is named twice, or has no name, is not seen twice")
    case = Case(
        topics={topic: [[]] for topic in topics},
        member_id="m",
        members=[("m", None, given)],
    )
    (written,) = asked_once(case, "range", "sync").values()
    read = decode_assignment(written, mode=Mode.STRICT).require()
    return {"topics": list(read.partitions), "unseen": ["ud", "owned", "gen", "rack"]}


def write_subscription(asked: Fields) -> Fields:
    """What it joins with: topics and rack, as it owns nothing yet."""
    topics, rack = asked["topics"], asked.get("rack")
    if not topics or "" in topics or len(set(topics)) < len(topics):
        raise CannotAskError("it subscribes to names, each once")
    if asked["owned"] or asked["ud"] is not None or asked.get("gen") not in {None, -1}:
        raise CannotAskError("it owns nothing before it joins")
    case = Case(topics={topic: [[]] for topic in topics}, member_id="m")
    written = asked_once(case, "range", "join", topics, rack)["range"]
    return {f"v{int.from_bytes(written[:2])}": written.hex()}


WORKS: dict[str, Callable[[Fields], Fields]] = {
    **dict.fromkeys(STRATEGIES, assign),
    "codec-sub": read_subscription,
    "codec-asg": read_assignment,
    "codec-mksub": write_subscription,
}


if __name__ == "__main__":
    serve("librdkafka", WORKS)
