"""A group member on kafka-python, with the strategies it ships or with ours."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.errors import KafkaError

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
    "cooperative-sticky": CooperativeStickyAssignor,
    "failing": failing(RangePartitionAssignor),
}

ERRORS_MAX = 60
"""How many polls in a row may fail: a plain application would have ended at the first."""


def strategies(chosen: Settings) -> list[Any]:
    """What `partition_assignment_strategy` takes."""
    if chosen.strategies == "shipped":
        return [SHIPPED[name] for name in chosen.assignors]
    from assignors.clients.kafka_python import strategy  # noqa: PLC0415 - of this kind alone

    return [
        strategy(OURS.get(name, name), on_note=write_note, **weighed(name, chosen.client_id))
        for name in chosen.assignors
    ]


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, consumer: KafkaConsumer, progress: Progress) -> None:
        self._consumer = consumer
        self._progress = progress
        self._given_up: set[TopicPartition] = set()

    @property
    def owned(self) -> set[tuple[str, int]]:
        """What it consumes: the host names the old partitions until it gets new ones."""
        return set(map(tuple, self._consumer.assignment() - self._given_up))

    def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        commit(self._consumer, self._progress)
        self._given_up.update(revoked)
        self._progress.drop(tuple(one) for one in revoked)
        write_partitions("revoked", map(tuple, revoked))

    def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        self._given_up.difference_update(assigned)
        write_partitions("assigned", map(tuple, assigned))

    def on_partitions_lost(self, lost: Iterable[TopicPartition]) -> None:
        self._progress.drop(tuple(one) for one in lost)
        write_partitions("lost", map(tuple, lost))


def commit(consumer: KafkaConsumer, progress: Progress) -> None:
    """Commit what was reported; what fails is tried again after the next poll."""
    offsets = {
        TopicPartition(*one): OffsetAndMetadata(offset, "", -1)
        for one, offset in progress.offsets.items()
    }
    if not offsets:
        return
    try:
        consumer.commit(offsets)
        progress.offsets.clear()
    except KafkaError as error:
        write_error(error)


def poll(consumer: KafkaConsumer, progress: Progress, *, is_shipped: bool) -> None:
    coordinator = consumer._coordinator
    if is_shipped and coordinator._join_task is not None:
        # 3.0.12 forgets a round that new metadata started when the poll that started it times
        # out, and is out of the group for ever. Our strategies see to it themselves.
        coordinator.request_rejoin()
    for partition, records in consumer.poll(timeout_ms=100).items():
        progress.took(tuple(partition), [(one.offset, one.value) for one in records])
    progress.keep(map(tuple, consumer.assignment()))
    commit(consumer, progress)


def consume(
    consumer: KafkaConsumer, listener: Listener, progress: Progress, *, is_shipped: bool
) -> None:
    """Poll until told to close; an exception out of poll() is reported and polled on."""
    commands, errors = Commands(), 0
    while errors < ERRORS_MAX:
        command, argument = commands.next()
        if command == "close":
            return
        if command == "subscribe":
            consumer.subscribe(argument.split(","), listener=listener)
        try:
            poll(consumer, progress, is_shipped=is_shipped)
            errors = 0
        except Exception as error:  # noqa: BLE001 - whatever the client lets out is the finding
            write_error(error)
            errors += 1
            time.sleep(0.3)
        commands.show(listener.owned)


def main() -> None:
    chosen = settings()
    consumer = KafkaConsumer(
        bootstrap_servers=chosen.bootstrap,
        group_id=chosen.group,
        client_id=chosen.client_id,
        group_instance_id=chosen.instance,
        client_rack=chosen.rack or "",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        partition_assignment_strategy=strategies(chosen),
        session_timeout_ms=chosen.session_timeout_ms,
        heartbeat_interval_ms=chosen.heartbeat_ms,
        max_poll_interval_ms=chosen.rebalance_timeout_ms,
        metadata_max_age_ms=chosen.metadata_max_age_ms,
        fetch_max_wait_ms=200,
        # half a minute otherwise: a broker that is back would be noticed after the session
        reconnect_backoff_max_ms=500,
    )
    progress = Progress()
    listener = Listener(consumer, progress)
    consumer.subscribe(chosen.topics, listener=listener)
    write("started")
    consume(consumer, listener, progress, is_shipped=chosen.strategies == "shipped")
    commit(consumer, progress)
    consumer.close()
    write("closed")


if __name__ == "__main__":
    main()
