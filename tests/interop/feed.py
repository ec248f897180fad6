"""Records whose value is their sequence number in their partition: the thread that tells loss.

The producer is idempotent, so that a broker's restart neither loses nor repeats a record: the
numbers in a partition are 0, 1, 2, ... and equal the offsets.

It has one request in flight at a time. With more, librdkafka 2.16.0 loses the first records of a
new partition and reports them delivered: when the broker, which has only just made the partition,
refuses the first request (`NOT_LEADER_OR_FOLLOWER`) while the second is on its way, it takes that
one, whatever its sequence number, for the producer's first; the first is never sent again. In a
group of ours record 0 of two partitions was then missing, and no member had done anything wrong.
So every report is also held against the offset.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from tests.interop.events import Partition

FLUSH_S = 30.0
QUICK_S, CALM_S = 0.1, 0.2
"""How long between two records of a partition, in `make chaos`, `make deep` and where it is calm.

Members poll and commit once a record: at 0.1 s that is a fifth of what a group takes.
"""
PACE_S = CALM_S if os.environ.get("DEEP", "1") == "1" else QUICK_S


class Feed:
    """Writes to every partition of some topics, on demand or at a pace of its own."""

    def __init__(self, bootstrap: str, partition_counts: Mapping[str, int]) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "client.id": "feed",
                "enable.idempotence": True,
                "linger.ms": 5,
                "max.in.flight.requests.per.connection": 1,
                "log_level": 2,  # what fails is in `failures`
                "topic.metadata.refresh.interval.ms": 1000,
            }
        )
        self._partition_counts = dict(partition_counts)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.written: dict[Partition, int] = {}
        """How many records each partition got: the numbers below are to be consumed."""
        self.failures: list[str] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def grow(self, topic: str, count: int) -> None:
        """Write to the first `count` partitions of a topic from now on."""
        with self._lock:
            self._partition_counts[topic] = count

    def send(self, rounds: int = 1) -> None:
        """Write `rounds` records to every partition."""
        with self._lock:
            for _ in range(rounds):
                for topic, count in self._partition_counts.items():
                    for number in range(count):
                        self._send_one((topic, number))
            self._producer.poll(0)

    def start(self, *, every_s: float = PACE_S) -> None:
        """Write a record to every partition again and again, until `stop`."""
        assert self._thread is None

        def run() -> None:
            while not self._stop.wait(every_s):
                self.send()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Write no more, and wait until the broker has everything."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        left = self._producer.flush(FLUSH_S)
        if left:
            self.failures.append(f"{left} records never arrived")

    def _send_one(self, partition: Partition) -> None:
        topic, number = partition
        sequence = self.written.get(partition, 0)
        try:
            self._producer.produce(
                topic, str(sequence).encode(), partition=number, on_delivery=self._delivered
            )
        except KafkaException as error:
            # A new partition is not known at once: nothing was written, the number stays free.
            if error.args[0].code() != KafkaError._UNKNOWN_PARTITION:
                raise
        else:
            self.written[partition] = sequence + 1

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        where = f"{message.topic()}-{message.partition()}"
        value = message.value()
        assert value is not None
        if error is not None:
            self.failures.append(f"{where}: {error}")
        elif message.offset() not in {None, int(value)}:
            # None where a second try was refused as a second one: those behind it tell.
            self.failures.append(f"{where}: record {int(value)} is at offset {message.offset()}")
