"""A kafka-python consumer in a thread of the test: what only the process itself can tell.

How often it joins, how long its strategy leads, what it logs: a program tells none of that. It
polls as an application does that has work between two polls.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, TopicPartition

from tests.interop.events import Event, Partition, now_ms
from tests.interop.group import LiveGroup

END_S = 20.0


class HostedMember(ConsumerRebalanceListener):  # type: ignore[misc]
    """One consumer. Whoever starts one ends it; a static one stays in the group until it times
    out."""

    def __init__(
        self,
        group: LiveGroup,
        name: str,
        strategy: Any,
        *,
        topics: tuple[str, ...] = (),
        poll_ms: int = 100,
        work_s: float = 0.0,
        **settings: Any,
    ) -> None:
        self.name = name
        self.topics = topics or group.topics
        self.is_paused = False
        self.owned: frozenset[Partition] = frozenset()
        self.join_count = 0
        """How many JoinGroup requests it has made."""
        self.errors: list[str] = []
        """What came out of `poll()`."""
        self._poll_ms, self._work_s = poll_ms, work_s
        self._events = group.events
        self._given_up: set[TopicPartition] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._settings = {
            "bootstrap_servers": group.broker.bootstrap,
            "group_id": group.name,
            "client_id": name,
            "partition_assignment_strategy": [self._counted(strategy)],
            "session_timeout_ms": 6000,
            "heartbeat_interval_ms": 400,
            "enable_auto_commit": False,
            "metadata_max_age_ms": 2000,
            **settings,
        }

    @property
    def is_alive(self) -> bool:
        """Whether it polls."""
        return self._thread.is_alive() and not self._stop.is_set()

    def start(self) -> None:
        """Subscribe and poll, in the background."""
        self._thread.start()

    def end(self) -> None:
        """Close the consumer."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join(END_S)

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """As the host says."""
        self._given_up.update(revoked)
        self._tell("revoked", revoked)

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """As the host says."""
        self._given_up.difference_update(assigned)
        self._tell("assigned", assigned)

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        """As the host says."""
        self._tell("lost", lost)

    def _counted(self, strategy: Any) -> Any:
        """The same strategy; the host asks it for bytes once for each JoinGroup."""
        asked = strategy.metadata

        def metadata(topics: Iterable[str]) -> Any:
            self.join_count += 1
            return asked(topics)

        strategy.metadata = metadata
        return strategy

    def _tell(self, kind: str, partitions: Iterable[TopicPartition]) -> None:
        moved = frozenset(map(tuple, partitions))
        self._events.append(Event(t_ms=now_ms(), member=self.name, kind=kind, partitions=moved))

    def _run(self) -> None:
        consumer = KafkaConsumer(**self._settings)
        consumer.subscribe(list(self.topics), listener=self)
        while not self._stop.wait(self._work_s):
            try:
                consumer.poll(timeout_ms=self._poll_ms)
            except Exception as error:  # noqa: BLE001 - whatever comes out is the finding
                self.errors.append(repr(error))
            self.owned = frozenset(map(tuple, consumer.assignment() - self._given_up))
        consumer.close()
        self.owned = frozenset()
        self._events.append(Event(t_ms=now_ms(), member=self.name, kind="closed"))
