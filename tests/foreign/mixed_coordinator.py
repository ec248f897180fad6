"""Random histories of a group whose members speak either protocol: for Kafka's coordinator as well.

Who asks for what is in `mixed_clients`; here the history is played by ours. Topics come and go.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

from assignors.model import Cluster, Topic
from assignors.registry import assignor_named
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicConfig,
    ClassicCoordinator,
)
from assignors.simulation.timed.protocols.consumer import coordinator as consumer_coordinator
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    ConsumerConfig,
    ConsumerCoordinator,
)
from assignors.simulation.timed.protocols.consumer.step import CLOCK_STARTS_MS, WaitingCoordinator
from assignors.simulation.timed.protocols.effects import (
    Append,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Record,
    Reply,
    Request,
    Schedule,
)
from assignors.simulation.timed.protocols.mixed.coordinator import MixedCoordinator, step
from assignors.simulation.timed.protocols.offsets.coordinator import OffsetsCoordinator
from assignors.simulation.timed.protocols.offsets.coordinator import step as offsets_step
from assignors.simulation.timed.protocols.offsets.mixed_access import mixed_access
from assignors.simulation.timed.queue import EventQueue
from assignors.simulation.timed.scenario.protocols import MigrationPolicy
from tests.foreign import commits
from tests.foreign.commits import START_MS
from tests.foreign.consumer_coordinator import topic_id
from tests.foreign.coordinator import MILLISECOND, Operation
from tests.foreign.mixed_clients import TOPICS, Client, Habits, learn, next_of
from tests.foreign.plays import Step, answer_of, record_of

LOOKUP = ("lookup", "")


class OurCoordinator:
    """Our coordinator, played operation by operation; records are replicated at once."""

    def __init__(self, broker: dict[str, str]) -> None:
        given = count(1)

        def new_uuid() -> UUID:
            return UUID(int=next(given), version=4)

        def new_short_id() -> str:
            return urlsafe_b64encode(new_uuid().bytes).decode().rstrip("=")

        names = broker["group.consumer.assignors"].split(",")
        assignors = {name: assignor_named(f"server/{name}") for name in names}
        self.consumer = ConsumerCoordinator(
            assignor=assignors[names[0]],
            assignors=assignors,
            cluster=Cluster(topics={}),
            config=ConsumerConfig(
                assignment_interval_ms=int(broker["group.consumer.assignment.interval.ms"]),
                max_size=int(broker.get("group.consumer.max.size", 2**31 - 1)),
            ),
            version=0,
            version_of_new_topics=0,
        )
        self.state = MixedCoordinator(
            classic=ClassicCoordinator(
                new_id=lambda name: f"{name}-{new_uuid()}",
                config=ClassicConfig(
                    initial_delay_ms=int(broker["group.initial.rebalance.delay.ms"]),
                    max_size=int(broker.get("group.max.size", 2**31 - 1)),
                ),
            ),
            waiting=WaitingCoordinator(coordinator=self.consumer),
            policy=MigrationPolicy(broker["group.consumer.migration.policy"]),
            new_uuid=new_short_id,
        )
        self.offsets = OffsetsCoordinator(
            group=mixed_access(self.state, clock_starts_ms=START_MS, play=self._play),
            config=commits.offsets_config(broker),
        )
        self.queue: EventQueue[Fired] = EventQueue()
        self.replies: list[Reply] = []
        self.records: list[Record] = []

    def request(self, number: int, request: Request) -> None:
        """Play a request."""
        self._step(Arrived(number, request))

    def topics(self, counts: Mapping[str, int]) -> None:
        """Create topics, delete those with a count of 0, or give them more partitions."""
        topics = {**self.consumer.cluster.topics}
        for name, partitions in counts.items():
            topics.pop(name, None)
            if partitions:
                topics[name] = Topic(partition_count=partitions, topic_id=topic_id(name))
        consumer_coordinator.topics_changed(self.consumer, Cluster(topics=topics))

    def run_tasks(self) -> None:
        """Let the background thread do what waits for it."""
        if self.consumer.lookup is not None:
            self._step(Fired(LOOKUP, 0))

    def advance(self, ms: int) -> None:
        """Let time pass: timers run out."""
        until = self.queue.now + ms * MILLISECOND
        while (fired := self.queue.take(until)) is not None:
            self._step(fired)
        self.queue.now = until

    def _play(self, at_us: int, event: CoordinatorEvent) -> list[Effect]:
        return step(self.state, at_us + (START_MS - CLOCK_STARTS_MS) * MILLISECOND, event)

    def _step(self, event: CoordinatorEvent) -> None:
        written: list[int] = []
        for effect in offsets_step(self.offsets, self.queue.now, event):
            match effect:
                case Reply():
                    self.replies.append(effect)
                case Schedule(key, after_us, data) if key != LOOKUP:
                    self.queue.start(key, self.queue.now + after_us, Fired(key, data))
                case Schedule():
                    pass  # the history says when
                case Cancel(key):
                    self.queue.stop(key)
                case Append(records, token):
                    self.records += records
                    written.append(token)
                case _:
                    raise AssertionError(effect)
        for token in written:
            self._step(Committed(token))


def history(
    seed: int, length: int, see: Callable[[OurCoordinator], None] = lambda _: None
) -> tuple[dict[str, Any], list[Step]]:
    """Return a request for the judge (`algo`, `broker`, `ops`) and what ours did at each step.

    `see` is called after each step, as long as what it wrote is in `OurCoordinator.records`.
    """
    random = Random(seed)
    broker = _broker(random)
    habits = _habits(random, broker)
    ours = OurCoordinator(broker)
    counts = {topic: random.randint(1, 7) for topic in TOPICS[: random.randint(1, 3)]}
    statics, classics = random.random() < 0.5, random.choice((0.0, 0.2, 0.5, 0.8, 1.0, 1.0))
    clients = []
    for i in range(random.choice((1, 2, 2, 3, 3, 4, 6))):
        instance_id = f"i{i % 4}" if statics and random.random() < 0.6 else None
        client = Client(name=f"c{i}", instance_id=instance_id, is_classic=False)
        client.restart(is_classic=random.random() < classics)
        clients.append(client)
    ops: list[Operation] = [{"op": "topics", "topics": dict(counts)}]
    ours.topics(counts)
    steps: list[Step] = [{"responses": [], "records": []}]
    asked: dict[int, tuple[Client, Request, int]] = {}
    for number in range(1, length):
        client = random.choice(clients)
        op, request = next_of(random, habits, client, counts)
        if request is None:
            _play(ours, op)
        else:
            asked[number] = client, request, client.life
            ours.request(number, request)
        ops.append(op)
        steps.append(
            {
                "responses": [answer_of(reply, asked[reply.number][1]) for reply in ours.replies],
                "records": [record_of(record) for record in ours.records],
            }
        )
        see(ours)
        for reply in ours.replies:
            who, what, life = asked[reply.number]
            if life == who.life:
                learn(who, what, reply)
        ours.replies, ours.records = [], []
    return {"algo": "coordinator", "broker": broker, "ops": ops}, steps


def _broker(random: Random) -> dict[str, str]:
    return {
        **random.choice(commits.KEEPING),
        "group.initial.rebalance.delay.ms": random.choice(("3000", "0", "0")),
        "group.consumer.assignors": random.choice(
            ("uniform,range", "range,uniform", "uniform", "range")
        ),
        "group.consumer.assignment.interval.ms": random.choice(("1000", "1000", "0")),
        "group.consumer.migration.policy": random.choice(
            ("bidirectional", "bidirectional", "upgrade", "downgrade", "disabled")
        ),
        **random.choice(({}, {}, {"group.max.size": "2"}, {"group.consumer.max.size": "2"})),
    }


def _habits(random: Random, broker: Mapping[str, str]) -> Habits:
    names = tuple(broker["group.consumer.assignors"].split(","))
    return Habits(
        has_patterns=random.random() < 0.4,
        has_assignors=names if random.random() < 0.5 else (),
        deletes_topics=random.random() < 0.3,
        restarts=random.choice((0.0, 0.01, 0.02, 0.05, 0.1)),
    )


def _play(ours: OurCoordinator, op: Operation) -> None:
    match op["op"]:
        case "topics":
            ours.topics(op["topics"])
        case "tasks":
            ours.run_tasks()
        case _:
            ours.advance(op["ms"])
