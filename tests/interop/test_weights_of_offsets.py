"""Weights from the leader's own client, on a real broker: sampled, changed, and used.

Two kafka-python consumers in this process, and a producer that writes nearly everything into one
partition. No round may wait for anything, and weights alone start the round that moves partitions.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from confluent_kafka import Producer
from kafka import KafkaConsumer

from assignors.clients import aiokafka
from assignors.clients.common.client_session import LedRound
from assignors.clients.kafka_python import Strategy, Weighted, cooperative_weighted, weighted
from assignors.clients.kafka_python.decoding import LOGGER
from tests.clients.blocking import watched
from tests.interop.admin import Admin
from tests.interop.broker import Broker

pytestmark = pytest.mark.interop

PATIENCE_S = 40.0
PARTITIONS = 6
QUICK: Mapping[str, Any] = {"refresh_s": 0.3, "half_life_s": 1, "batch_every_s": 0.7}


class Members:
    """Consumers that are polled in turn; each hands back what it read."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.bootstrap, self.topic = bootstrap, topic
        self.consumers: dict[str, KafkaConsumer] = {}
        self.producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 2})
        self.per_poll: tuple[int, ...] = (1,) * PARTITIONS
        """How many records each partition gets between two polls."""

    def add(self, name: str, strategy: Weighted) -> None:
        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap,
            group_id=f"{self.topic}-readers",
            client_id=name,
            auto_offset_reset="earliest",
            auto_commit_interval_ms=100,
            heartbeat_interval_ms=100,
            session_timeout_ms=6000,
            fetch_max_wait_ms=50,
            partition_assignment_strategy=[strategy],
        )
        consumer.subscribe([self.topic])
        self.consumers[name] = consumer

    def poll(self) -> None:
        for number, count in enumerate(self.per_poll):
            for _ in range(count):
                self.producer.produce(self.topic, b"record", partition=number)
        self.producer.flush()
        for consumer in self.consumers.values():
            consumer.poll(timeout_ms=20)

    def until(self, is_reached: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not is_reached():
            assert time.monotonic() < end, f"{what}: never; {self.owned()}"
            self.poll()

    def owned(self) -> dict[str, set[int]]:
        return {
            name: {one.partition for one in consumer.assignment()}
            for name, consumer in self.consumers.items()
        }

    def close(self) -> None:
        for consumer in self.consumers.values():
            consumer.close()
        self.consumers.clear()


@pytest.fixture
def members(broker: Broker) -> Iterator[Members]:
    topic = f"weights-{uuid.uuid4().hex[:8]}"
    Admin(broker.bootstrap).create_topics({topic: PARTITIONS})
    made = Members(broker.bootstrap, topic)
    made.poll()  # a partition that is written to has a leader who answers
    yield made
    made.close()
    gc.collect()  # the decoders are replaced as long as a strategy lives


def weight_of(strategy: Weighted, topic: str) -> tuple[int, ...]:
    snapshot = strategy._source.snapshot
    return () if snapshot is None else snapshot.weights.get(topic, ())


def test_the_leader_samples_and_what_it_finds_moves_partitions(
    members: Members, caplog: pytest.LogCaptureFixture
) -> None:
    """Partitions are about equal at first; then one of them is half of all traffic."""
    rounds: list[LedRound] = []
    leader = cooperative_weighted(capacity=2, on_round=rounds.append, **QUICK)
    other = cooperative_weighted(capacity=2, **QUICK)
    with watched((Strategy, "assign")) as waits:
        members.add("a", leader)
        members.until(lambda: len(members.owned()["a"]) == PARTITIONS, "all for the first")
        members.add("b", other)
        members.until(lambda: len(members.owned()["b"]) == PARTITIONS // 2, "half for the second")
        members.until(lambda: bool(weight_of(leader, members.topic)), "two samples")
        even = weight_of(leader, members.topic)
        assert max(even) < 3 * min(even), "a record a poll each"
        before = len(rounds)

        members.per_poll = (40, 8, 8, 8, 8, 8)
        members.until(
            lambda: sorted(map(sorted, members.owned().values())) == [[0], [1, 2, 3, 4, 5]],
            "the busy one alone",
        )
        skewed = weight_of(leader, members.topic)
        assert skewed[0] > 2.5 * max(skewed[1:]), skewed
    assert len(rounds) > before, "weights alone started a round"
    assert not waits
    assert not [note for led in rounds for note in led.notes]
    assert other._source.snapshot is None, "only the member that leads samples"
    members.close()
    warnings = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert not [one for one in warnings if one.name == LOGGER.name], (
        "nothing failed, nor at the end"
    )


@contextmanager
def blocked(calls: list[Mapping[str, int]]) -> Iterator[Callable[..., Any]]:
    """A user's function that answers at once, and then never again in time."""
    with ExitStack() as stack:
        release = threading.Event()
        stack.callback(release.set)

        def weights(topics: Mapping[str, int]) -> Mapping[str, list[float]]:
            calls.append(topics)
            if len(calls) > 1:
                release.wait(PATIENCE_S)
            return {topic: [0.5, *[0.1] * (count - 1)] for topic, count in topics.items()}

        yield weights


def test_a_function_of_the_users_may_block_and_no_round_waits_for_it(members: Members) -> None:
    calls: list[Mapping[str, int]] = []
    rounds: list[LedRound] = []
    with blocked(calls) as weights, watched((Strategy, "assign")) as waits:
        members.add("a", weighted(weights=weights, on_round=rounds.append, **QUICK))
        members.until(lambda: len(calls) == 2, "the function blocks")
        members.add("b", weighted(**QUICK))
        members.until(lambda: {0} in members.owned().values(), "half of the weight alone")
    assert calls[0] == {members.topic: PARTITIONS}
    assert rounds[-1].stats["use_max"] == rounds[-1].stats["use_bound"]
    assert max(led.seconds for led in rounds) < PATIENCE_S / 4
    assert not waits
    assert len(calls) == 2, "nobody calls it again while it runs"


def test_aiokafka_samples_in_its_own_loop(members: Members) -> None:
    rounds: list[LedRound] = []
    leader = aiokafka.weighted(on_round=rounds.append, **QUICK)
    with watched((aiokafka.Strategy, "assign")) as waits:
        asyncio.run(balanced(members, [leader, aiokafka.weighted(**QUICK)]))
    assert rounds[-1].stats["use_max"] == pytest.approx(rounds[-1].stats["use_bound"], rel=0.2)
    assert not waits
    assert not [note for led in rounds for note in led.notes]


async def balanced(members: Members, strategies: list[aiokafka.Weighted]) -> None:
    """Run members of aiokafka until one has nothing but the busy partition."""
    members.per_poll = (40, 8, 8, 8, 8, 8)
    consumers = []
    for one in strategies:
        consumer = AIOKafkaConsumer(
            members.topic,
            bootstrap_servers=members.bootstrap,
            group_id=f"{members.topic}-readers",
            auto_offset_reset="earliest",
            auto_commit_interval_ms=100,
            heartbeat_interval_ms=100,
            session_timeout_ms=6000,
            partition_assignment_strategy=[one],
        )
        await consumer.start()
        consumers.append(consumer)
    try:
        async with asyncio.timeout(PATIENCE_S):
            while [0] not in [sorted(p for _, p in one.assignment()) for one in consumers]:
                members.poll()
                for consumer in consumers:
                    await consumer.getmany(timeout_ms=20)
    finally:
        for consumer in consumers:
            await consumer.stop()
