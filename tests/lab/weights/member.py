"""A member of a group that burns processor time for each record, as its partition costs.

    python -m tests.lab.weights.member '{"contender": "range", ...}'

Standard input takes `join`, `mark` and `stop`; `leave` closes the consumer in order. Standard
output has a line of JSON for each event, with nanoseconds of the monotonic clock, and in the end
one with every record that was processed.

A member may burn a share of a processor only. It waits after each record until that share is
kept, as a container under a CPU limit does; what the client itself needs is not counted.
"""

from __future__ import annotations

import json
import logging
import queue
import sys
import threading
import time
from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

from kafka import AsyncConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError

from tests.lab.weights.contenders import CONTENDERS, Place
from tests.lab.weights.world import FULL, World

BURST_NS = 50_000_000
"""How much a member may make up for time in which it had nothing to do or got no processor."""
COMMIT_NS = 500_000_000
HEARTBEAT_MS = 500
SESSION_MS = 6_000
POLL_RECORDS = 5
"""Few, so that a slow member too polls several times a second."""
FETCH_WAIT_MS = 100
FETCH_BYTES = 1_024
"""About a dozen records of a partition at a time: a long queue leaves room for the others."""


class Settings(NamedTuple):
    """What a member is started with."""

    contender: str
    world: dict[str, Any]
    number: int
    bootstrap: str
    group: str


class Processor:
    """Burns CPU time, within the member's share."""

    def __init__(self, world: World, capacity: int) -> None:
        slowness = FULL / capacity
        self._cost_ns = [round(each * slowness * 1e9) for each in world.cost_s]
        self._quota = world.quota
        self._free_ns = 0
        self.burnt_ns = 0

    def process(self, place: int) -> int:
        """Process a record of a partition; return when that was done."""
        cost_ns = self._cost_ns[place]
        begin_ns = time.thread_time_ns()
        end_ns = begin_ns + cost_ns
        while (now_ns := time.thread_time_ns()) < end_ns:
            pass
        self.burnt_ns += now_ns - begin_ns
        self._free_ns = max(self._free_ns, time.monotonic_ns() - BURST_NS)
        self._free_ns += round(cost_ns / self._quota)
        wait_ns = self._free_ns - time.monotonic_ns()
        if wait_ns > 0:
            time.sleep(wait_ns / 1e9)
        return time.monotonic_ns()


class Member(AsyncConsumerRebalanceListener):  # type: ignore[misc]  # has no types
    """One consumer, and what it has done.

    kafka-python calls the listener in its own thread, while this one processes records.
    """

    def __init__(self, chosen: Settings) -> None:
        self._chosen = chosen
        self._world = World(**chosen.world)
        self._contender = CONTENDERS[chosen.contender]
        self._numbers = {place: number for number, place in enumerate(self._world.partitions)}
        self._capacity = self._world.capacity(chosen.number)
        self._processor = Processor(self._world, self._capacity)
        self._consumer: Any = None
        self._commands: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._positions: dict[TopicPartition, int] = {}
        """Of what it has: the offset to go on from; -1 where nothing was processed yet."""
        self._committed_ns = time.monotonic_ns()
        self._rejoined_ns = time.monotonic_ns()
        self._done = {name: array("q") for name in ("place", "offset", "at_ns")}

    def run(self) -> None:
        """Do what is asked for until the end."""
        threading.Thread(target=self._read, daemon=True).start()
        write("ready")
        while True:
            command = self._next_command()
            if command == "join":
                self._join()
            elif command == "mark":
                self._mark()
            elif command == "leave":
                self._leave()
            elif command == "stop":
                break
            if self._consumer is not None:
                self._consume()
        self._mark()
        write("done", **{name: list(each) for name, each in self._done.items()})

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        """Commit, and give up."""
        given_up = self._forget("revoked", revoked)
        try:
            await self._consumer.commit_async(_offsets(given_up))
        except KafkaError as error:
            write("error", text=repr(error)[:300])

    async def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        """Give up what is somebody else's by now."""
        self._forget("lost", lost)

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        """Report what came."""
        for each in assigned:
            self._positions.setdefault(each, -1)
        write("assigned", places=[self._numbers[tuple(each)] for each in assigned])

    def _forget(self, event: str, given_up: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        found = {each: self._positions.pop(each, -1) for each in given_up}
        write(event, places=[self._numbers[tuple(each)] for each in found])
        return found

    def _read(self) -> None:
        for line in sys.stdin:
            self._commands.put(line.strip())
        self._commands.put("stop")

    def _next_command(self) -> str:
        try:
            return self._commands.get(block=self._consumer is None)
        except queue.Empty:
            return ""

    def _join(self) -> None:
        chosen = self._chosen
        place = Place(self._world, chosen.bootstrap, chosen.group, self._capacity)
        self._consumer = KafkaConsumer(
            bootstrap_servers=chosen.bootstrap,
            group_id=chosen.group,
            client_id=self._world.member(chosen.number),
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            partition_assignment_strategy=[self._contender.strategy(place)],
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            max_poll_interval_ms=30_000,
            max_poll_records=POLL_RECORDS,
            fetch_max_wait_ms=FETCH_WAIT_MS,
            # More than ever comes: a fetch takes its time, or busy members fetch all the time.
            fetch_min_bytes=1 << 20,
            max_partition_fetch_bytes=FETCH_BYTES,
            metrics_enabled=False,
        )
        self._consumer.subscribe(list(self._world.topics), listener=self)

    def _leave(self) -> None:
        self._consumer.close()
        self._consumer = None
        write("left")

    def _consume(self) -> None:
        try:
            polled = self._consumer.poll(timeout_ms=50)
        except KafkaError as error:
            write("error", text=repr(error)[:300])
            return
        for partition, records in polled.items():
            for record in records:
                if partition not in self._positions:
                    break  # given up meanwhile
                self._process(partition, record.offset)
        now_ns = time.monotonic_ns()
        if now_ns - self._committed_ns >= COMMIT_NS:
            self._committed_ns = now_ns
            self._consumer.commit_async(_offsets(dict(self._positions)))
        self._rejoin(now_ns)

    def _process(self, partition: TopicPartition, offset: int) -> None:
        place = self._numbers[tuple(partition)]
        at_ns = self._processor.process(place)
        if partition in self._positions:
            self._positions[partition] = offset + 1
        self._done["place"].append(place)
        self._done["offset"].append(offset)
        self._done["at_ns"].append(at_ns)

    def _rejoin(self, now_ns: int) -> None:
        """Have the group rebalanced where that is due: the first member leads."""
        every_s = self._contender.rejoin_s
        if every_s is None or self._chosen.number:
            return
        if now_ns - self._rejoined_ns >= every_s * 1e9:
            self._rejoined_ns = now_ns
            self._consumer._coordinator.request_rejoin()

    def _mark(self) -> None:
        write("mark", used_ns=time.process_time_ns(), burnt_ns=self._processor.burnt_ns)


def _offsets(positions: dict[TopicPartition, int]) -> dict[TopicPartition, OffsetAndMetadata]:
    return {
        each: OffsetAndMetadata(offset, "", -1) for each, offset in positions.items() if offset >= 0
    }


def write(event: str, **fields: object) -> None:
    """Write one line."""
    line = json.dumps({"at_ns": time.monotonic_ns(), "event": event, **fields})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Run a member."""
    logging.basicConfig(level=logging.WARNING)
    Member(Settings(**json.loads(sys.argv[1]))).run()


if __name__ == "__main__":
    main()
