"""Histories of groups at a broker: clients of both protocols ask, time passes."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from assignors.model import Cluster
from assignors.simulation.timed.broker import Broker, BrokerSettings
from assignors.simulation.timed.execution.port import Entry
from assignors.simulation.timed.protocols.effects import Reply
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction, OffsetCommit
from assignors.simulation.timed.scenario import BrokerConfig
from tests.foreign.history_clients import Client, Habits, learn, next_of
from tests.simulation.timed.broker.facts import facts

TOPICS = {"t": 4, "v": 3, "y": 2}
GROUPS = ("shop", "stock", "bill")
CLUSTER = Cluster.of(TOPICS)
HABITS = Habits(has_patterns=False, has_assignors=(), deletes_topics=False, restarts=0.05)
SETTINGS = BrokerSettings(
    cluster=CLUSTER,
    broker=BrokerConfig(initial_delay_ms=0, offsets_retention_ms=60_000, offsets_check_ms=15_000),
    clock_starts_ms=1_700_000_000_000,
)


@dataclass
class History:
    """A broker whose groups were asked at random, and what they were after each event."""

    seed: int
    broker: Broker = field(default_factory=lambda: Broker.of(SETTINGS, partitions=2))
    made: list[tuple[str, int, dict[str, Any]]] = field(default_factory=list)
    """Group, how many entries the log of its partition had, and its facts (`facts`) then."""

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.clients = {
            name: [Client(f"{name}-{n}", None, is_classic=n % 2 == 0) for n in range(3)]
            for name in GROUPS
        }
        for client in (each for group in self.clients.values() for each in group):
            client.restart(is_classic=client.is_classic)
        self.asked: dict[int, tuple[Client, int, Any]] = {}

    def play(self, length: int) -> History:
        """Let so many things happen."""
        for _ in range(length):
            if self.random.random() < 0.1:
                self.broker.advance(self.random.randrange(5000))
                self._hear()
            else:
                self._ask()
        return self

    def entries(self, partition: int) -> list[Entry]:
        """The entries of a partition's log."""
        return [Entry(e.key, e.value) for batch in self.broker.logs[partition] for e in batch]

    def _ask(self) -> None:
        name = self.random.choice(GROUPS)
        client = self.random.choice(self.clients[name])
        _, request = next_of(self.random, HABITS, client, dict(TOPICS))
        if request is None or isinstance(request, EndTransaction):
            return
        if isinstance(request, OffsetCommit):
            request = request._replace(producer_id=-1)
        life = client.life
        self.asked[self.broker.send(name, request)] = client, life, request
        self._hear()
        group = self.broker.groups[name]
        place = self.broker.places[name]
        self.made.append((name, self.broker.ends[place], facts(group)))

    def _hear(self) -> None:
        """Let clients learn from the answers that have come."""
        for number in [each for each in self.asked if each in self.broker.answers]:
            client, life, request = self.asked.pop(number)
            if life == client.life:
                learn(client, request, Reply(number, self.broker.answers[number]))
