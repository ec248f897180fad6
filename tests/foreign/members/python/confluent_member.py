"""A group member on confluent-kafka, which is librdkafka."""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from tests.foreign.members.python.reporting import (
    Commands,
    Progress,
    Settings,
    settings,
    write,
    write_error,
    write_partitions,
)

BATCH = 200
"""Records to take before the next commit."""


def configuration(chosen: Settings) -> dict[str, Any]:
    """Settings under librdkafka's names."""
    given = {
        "bootstrap.servers": chosen.bootstrap,
        "group.id": chosen.group,
        "client.id": chosen.client_id,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "fetch.wait.max.ms": 200,
        "reconnect.backoff.max.ms": 500,
        "topic.metadata.refresh.interval.ms": chosen.metadata_max_age_ms,
        "partition.assignment.strategy": ",".join(chosen.assignors),
        "session.timeout.ms": chosen.session_timeout_ms,
        "heartbeat.interval.ms": chosen.heartbeat_ms,
        "max.poll.interval.ms": max(chosen.rebalance_timeout_ms, chosen.session_timeout_ms),
        "group.instance.id": chosen.instance,
        "client.rack": chosen.rack,
    }
    return {name: value for name, value in given.items() if value is not None}


def pairs(partitions: list[TopicPartition]) -> list[tuple[str, int]]:
    return [(one.topic, one.partition) for one in partitions]


class Member:
    """Callbacks run inside `poll`, between two records."""

    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer
        self.progress = Progress()
        self._batch: dict[tuple[str, int], list[tuple[int, bytes]]] = {}

    def subscribe(self, topics: list[str]) -> None:
        self.consumer.subscribe(
            topics, on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._lost
        )

    def _assigned(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        write_partitions("assigned", pairs(partitions))

    def _revoked(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self._report()
        self.commit()
        self.progress.drop(pairs(partitions))
        write_partitions("revoked", pairs(partitions))

    def _lost(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        self._report()
        self.progress.drop(pairs(partitions))
        write_partitions("lost", pairs(partitions))

    def commit(self) -> None:
        """Commit what was reported; what fails is tried again after the next poll."""
        offsets = [TopicPartition(*one, at) for one, at in self.progress.offsets.items()]
        if not offsets:
            return
        try:
            self.consumer.commit(offsets=offsets, asynchronous=False)
            self.progress.offsets.clear()
        except KafkaException as error:
            write_error(error)

    def poll(self) -> None:
        """A batch of records and a commit."""
        for taken in range(BATCH):
            # What is asked for is taken: the next commit would pass by a record left here.
            message = self.consumer.poll(0 if taken else 0.1)
            if message is None:
                break
            if message.error():
                write_error(message.error())
            else:
                self._take(message)
        self._report()
        self.progress.keep(pairs(self.consumer.assignment()))
        self.commit()

    def _take(self, message: Message) -> None:
        topic, partition = message.topic(), message.partition()
        offset, value = message.offset(), message.value()
        assert topic is not None
        assert partition is not None
        assert offset is not None
        assert value is not None
        self._batch.setdefault((topic, partition), []).append((offset, value))

    def _report(self) -> None:
        for one, records in self._batch.items():
            self.progress.took(one, records)
        self._batch.clear()


def consume(member: Member) -> None:
    """Poll until told to close."""
    commands = Commands()
    while True:
        command, argument = commands.next()
        if command == "close":
            return
        if command == "subscribe":
            member.subscribe(argument.split(","))
        try:
            member.poll()
        except KafkaException as error:
            write_error(error)
        commands.show(pairs(member.consumer.assignment()))


def main() -> None:
    chosen = settings()
    member = Member(Consumer(configuration(chosen)))
    member.subscribe(chosen.topics)
    write("started")
    consume(member)
    member.commit()
    member.consumer.close()
    write("closed")


if __name__ == "__main__":
    main()
