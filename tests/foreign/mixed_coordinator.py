"""Random histories of a group whose members speak either protocol: for Kafka's coordinator as well.

Who asks for what is in `mixed_clients`; here the history is played by ours. Topics come and go.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

from assignors.model import Cluster, Topic
from assignors.registry import assignor_named
from assignors.simulation.timed.protocols.kafka.state import ClassicConfig, ClassicCoordinator
from assignors.simulation.timed.protocols.kafka import consumer as consumer_coordinator
from assignors.simulation.timed.protocols.kafka.state import ConsumerConfig, ConsumerCoordinator
from assignors.simulation.timed.protocols.kafka.coordinator import WaitingCoordinator
from assignors.simulation.timed.protocols.kafka.state import CLOCK_STARTS_MS
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    CoordinatorEvent,
    Effect,
    Fired,
    Reply,
    Request,
)
from assignors.simulation.timed.protocols.kafka.coordinator import load_mixed
from assignors.simulation.timed.protocols.kafka.coordinator import MixedCoordinator, step
from assignors.simulation.timed.protocols.kafka.offsets import GroupAccess
from assignors.simulation.timed.protocols.kafka.offsets import OffsetsCoordinator
from assignors.simulation.timed.protocols.kafka.offsets import mixed_access
from assignors.simulation.timed.scenario.protocols import MigrationPolicy
from tests.foreign import commits
from tests.foreign.commits import START_MS
from tests.foreign.consumer_coordinator import topic_id
from tests.foreign.coordinator import waiting_in
from tests.foreign.mixed_clients import TOPICS, Client, Habits, learn, next_of
from tests.foreign.operations import Operation
from tests.foreign.player import Drawn, Losses, Player, played
from tests.foreign.plays import Step

LOOKUP = ("lookup", "")


class OurCoordinator(Player):
    """Our coordinator of a group of either kind."""

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

        def access(since_ms: int | None = None) -> GroupAccess:
            return mixed_access(
                self.state, clock_starts_ms=START_MS, play=self._play, since_ms=since_ms
            )

        offsets = OffsetsCoordinator(group=access(), config=commits.offsets_config(broker))
        super().__init__(
            offsets,
            load=partial(load_mixed, self.state),
            access=access,
            not_by_time=frozenset({LOOKUP}),
        )

    def play(self, op: Operation) -> None:
        """Play what is no request: also topics that change, and what a background thread does."""
        match op["op"]:
            case "topics":
                self.topics(op["topics"])
            case "tasks":
                if self.consumer.lookup is not None:
                    self.step(Fired(LOOKUP, 0))
            case _:
                super().play(op)

    def waiting_in_group(self) -> set[int]:
        """Return the requests that wait for other members, by their numbers."""
        return waiting_in(self.state.classic)

    def note_written(self) -> None:
        """Let the coordinator take note of it too."""
        self.state.note_written()

    def topics(self, counts: Mapping[str, int]) -> None:
        """Create topics, delete those with a count of 0, or give them more partitions."""
        topics = {**self.consumer.cluster.topics}
        for name, partitions in counts.items():
            topics.pop(name, None)
            if partitions:
                topics[name] = Topic(partition_count=partitions, topic_id=topic_id(name))
        consumer_coordinator.topics_changed(self.consumer, Cluster(topics=topics))

    def _play(self, at_us: int, event: CoordinatorEvent) -> list[Effect]:
        return step(self.state, at_us + (START_MS - CLOCK_STARTS_MS) * MILLISECOND, event)


def history(
    seed: int,
    length: int,
    see: Callable[[OurCoordinator], None] = lambda _: None,
    losses: Losses | None = None,
) -> tuple[dict[str, Any], list[Step]]:
    """Return a request for the judge (`algo`, `broker`, `ops`) and what ours did at each step.

    `see` is called after each step, as long as what it wrote is in `OurCoordinator.records`.
    With `losses` appends wait, and may be lost.
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
    asking: dict[int, tuple[Client, int]] = {}

    def draw(number: int) -> Drawn:
        if number == 0:
            return {"op": "topics", "topics": dict(counts)}, None
        client = random.choice(clients)
        op, request = next_of(random, habits, client, counts)
        asking[number] = client, client.life
        return op, request

    def learned(request: Request, reply: Reply) -> None:
        client, life = asking[reply.number]
        if life == client.life:
            learn(client, request, reply)

    def forget() -> None:
        for client in clients:
            client.waits = False

    ops, steps = played(
        random, ours, length, draw=draw, learn=learned, forget=forget, see=see, losses=losses
    )
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
