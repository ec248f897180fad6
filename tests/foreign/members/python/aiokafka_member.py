"""A group member on aiokafka, with the strategies it ships or with ours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, TopicPartition
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaError

from tests.foreign.members.python.failing import failing
from tests.foreign.members.python.reporting import (
    OURS,
    Commands,
    Progress,
    Settings,
    settings,
    write,
    write_error,
    write_note,
    write_partitions,
)
from tests.foreign.members.python.weighing import weighed

SHIPPED: dict[str, Any] = {
    "range": RangePartitionAssignor,
    "roundrobin": RoundRobinPartitionAssignor,
    "sticky": StickyPartitionAssignor,
    "failing": failing(RangePartitionAssignor),
}

ERRORS_MAX = 60


def strategies(chosen: Settings) -> list[Any]:
    """What `partition_assignment_strategy` takes."""
    if chosen.strategies == "shipped":
        return [SHIPPED[name] for name in chosen.assignors]
    from assignors.clients.aiokafka import strategy  # noqa: PLC0415 - of this kind alone

    return [
        strategy(OURS.get(name, name), on_note=write_note, **weighed(name, chosen.client_id))
        for name in chosen.assignors
    ]


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    """Rebalances run beside the polls: the lock keeps one batch in one generation."""

    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self.lock = asyncio.Lock()
        self.progress = Progress()
        self._consumer = consumer
        self._has_given_up = False

    @property
    def owned(self) -> set[tuple[str, int]]:
        """What it consumes: the host names the old partitions until it gets new ones."""
        return set() if self._has_given_up else set(map(tuple, self._consumer.assignment()))

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        async with self.lock:
            await self.commit()
            self.progress.drop(tuple(one) for one in revoked)
            self._has_given_up = True
            write_partitions("revoked", map(tuple, revoked))

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._has_given_up = False
        write_partitions("assigned", map(tuple, assigned))

    async def commit(self) -> None:
        """Commit what was reported; what fails is tried again after the next poll."""
        offsets = {TopicPartition(*one): at for one, at in self.progress.offsets.items()}
        if not offsets:
            return
        try:
            await self._consumer.commit(offsets)
            self.progress.offsets.clear()
        except KafkaError as error:
            write_error(error)

    async def poll(self) -> None:
        # Holding the lock while waiting would make a rebalance wait too: so an empty look, and
        # none where the host would wait for the next assignment itself.
        async with self.lock:
            is_waiting = self._consumer._subscription.reassignment_in_progress
            if is_waiting:
                self._consumer._coordinator.check_errors()  # as `getmany` does at first
            polled = {} if is_waiting else await self._consumer.getmany(timeout_ms=0)
            for partition, records in polled.items():
                self.progress.took(tuple(partition), [(one.offset, one.value) for one in records])
            self.progress.keep(self.owned)
            await self.commit()
        if not polled:
            await asyncio.sleep(0.05)


async def consume(consumer: AIOKafkaConsumer, listener: Listener) -> None:
    """Poll until told to close; an exception out of the client is reported and polled on."""
    commands, errors = Commands(), 0
    while errors < ERRORS_MAX:
        command, argument = commands.next()
        if command == "close":
            return
        if command == "subscribe":
            consumer.subscribe(argument.split(","), listener=listener)
        try:
            await listener.poll()
            errors = 0
        except Exception as error:  # noqa: BLE001 - whatever the client lets out is the finding
            write_error(error)
            errors += 1
            await asyncio.sleep(0.3)
        commands.show(listener.owned)


async def main() -> None:
    chosen = settings()
    consumer = AIOKafkaConsumer(
        bootstrap_servers=chosen.bootstrap,
        group_id=chosen.group,
        client_id=chosen.client_id,
        group_instance_id=chosen.instance,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        partition_assignment_strategy=strategies(chosen),
        session_timeout_ms=chosen.session_timeout_ms,
        heartbeat_interval_ms=chosen.heartbeat_ms,
        max_poll_interval_ms=chosen.rebalance_timeout_ms,
        metadata_max_age_ms=chosen.metadata_max_age_ms,
        fetch_max_wait_ms=200,
    )
    listener = Listener(consumer)
    consumer.subscribe(chosen.topics, listener=listener)
    write("started")
    try:
        await consumer.start()
    except KafkaError as error:  # a leader's first round; the consumer works on all the same
        write_error(error)
    await consume(consumer, listener)
    await listener.commit()
    await consumer.stop()
    write("closed")


if __name__ == "__main__":
    asyncio.run(main())
