"""A broker's own files against what a consumer reads from it: the same records, to the byte.

librdkafka is the judge here: it decompresses, applies LogAppendTime and leaves aborted
transactions out by code of its own. Topics with a compression of their own are written by the
broker, so the codecs are Java's; the others are librdkafka's.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from assignors.replay.decode.batches import decode_batches
from assignors.replay.sources import Isolation, Raw, read_segments
from assignors.replay.sources.arrow import batched
from tests.interop.broker import Broker
from tests.spark.jobs import answers_of
from tests.waiting import wait

pytestmark = pytest.mark.interop

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
OFFSETS = "__consumer_offsets"


@pytest.fixture(scope="module")
def broker(built: None) -> Iterator[Broker]:
    """A broker of its own: groups of other tests write into the offsets topic long after them."""
    with Broker() as started:
        yield started


def make_topic(broker: Broker, name: str, config: Mapping[str, str] | None = None) -> str:
    unique = f"{name}-{uuid.uuid4().hex[:8]}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    made = admin.create_topics([NewTopic(unique, 1, 1, config=dict(config or {}))])
    made[unique].result(30)
    return unique


def produce(broker: Broker, topic: str, codec: str = "none", count: int = 3000) -> None:
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "compression.type": codec,
        "linger.ms": 50,
    }
    producer = Producer(settings)
    for number in range(count):
        key = None if number % 7 == 0 else b"key-%d" % number
        value = None if number % 11 == 0 else b"value " * (number % 40) + b"%d" % number
        headers: list[tuple[str, str | bytes | None]] = [("h", b"1"), ("null", None)]
        producer.produce(topic, key=key, value=value, headers=headers if number % 3 else None)
    assert producer.flush(30) == 0


def consumed(broker: Broker, topic: str, isolation: Isolation) -> list[Raw]:
    """What a consumer reads, up to the end of every partition."""
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "group.id": "unused",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "isolation.level": isolation.value,
    }
    consumer = Consumer(settings)
    try:
        numbers = consumer.list_topics(topic, 10).topics[topic].partitions
        consumer.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in numbers])
        return sorted(_messages(consumer, len(numbers)), key=place)
    finally:
        consumer.close()


def _messages(consumer: Consumer, partition_count: int) -> Iterator[Raw]:
    ended: set[int] = set()
    until = time.monotonic() + 60
    while len(ended) < partition_count:
        assert time.monotonic() < until, "the end of the topic did not come"
        message = consumer.poll(1.0)
        if message is None:
            continue
        error = message.error()
        if error is None:
            yield _raw(message)
        else:
            assert error.code() == KafkaError._PARTITION_EOF, error
            number = message.partition()
            assert number is not None
            ended.add(number)


def _raw(message: Message) -> Raw:
    kind, timestamp_ms = message.timestamp()
    key, value = message.key(), message.value()
    return Raw(
        key=key.encode() if isinstance(key, str) else key,
        value=value.encode() if isinstance(value, str) else value,
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        timestamp_ms=timestamp_ms,
        timestamp_type=kind - 1,
    )


def place(raw: Raw) -> tuple[int, int]:
    assert raw.partition is not None
    assert raw.offset is not None
    return raw.partition, raw.offset


def in_files(
    broker: Broker, topic: str, isolation: Isolation = Isolation.READ_COMMITTED
) -> list[Raw]:
    """What the broker's segment files hold, without our label."""
    raws = read_segments(broker.folder / "data", topic=topic, isolation=isolation)
    found = [
        Raw(
            key=raw.key,
            value=raw.value,
            topic=raw.topic,
            partition=raw.partition,
            offset=raw.offset,
            timestamp_ms=raw.timestamp_ms,
            timestamp_type=raw.timestamp_type,
            error=raw.error,
        )
        for raw in raws
    ]
    return sorted(found, key=place)


@pytest.mark.parametrize("codec", CODECS)
def test_what_a_client_compressed_is_read_from_the_files(broker: Broker, codec: str) -> None:
    topic = make_topic(broker, f"client-{codec}")
    produce(broker, topic, codec)
    found = in_files(broker, topic)
    assert found == consumed(broker, topic, Isolation.READ_COMMITTED)
    assert len(found) == 3000


@pytest.mark.parametrize("codec", CODECS[1:])
def test_what_the_broker_compressed_is_read_from_the_files(broker: Broker, codec: str) -> None:
    config = {"compression.type": codec, "message.timestamp.type": "LogAppendTime"}
    topic = make_topic(broker, f"broker-{codec}", config)
    produce(broker, topic)
    found = in_files(broker, topic)
    assert found == consumed(broker, topic, Isolation.READ_COMMITTED)
    assert len(found) == 3000
    assert {raw.timestamp_type for raw in found} == {1}


def transactions(broker: Broker, topic: str, group: str) -> None:
    """Commits of records and offsets in transactions: committed, aborted, and between."""
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "transactional.id": f"{group}-writer",
        "linger.ms": 5,
    }
    producer = Producer(settings)
    producer.init_transactions(30)
    reader = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    reader.subscribe([topic])
    until = time.monotonic() + 30
    while not reader.assignment():
        assert time.monotonic() < until
        reader.poll(0.1)
    for round_number in range(8):
        producer.begin_transaction()
        for number in range(5):
            producer.produce(topic, b"%d" % number, b"round %d" % round_number)
        offsets = [TopicPartition(topic, 0, 100 + round_number)]
        producer.send_offsets_to_transaction(offsets, reader.consumer_group_metadata(), 30)
        # What is still in the client's queue when it aborts never reaches the log.
        assert producer.flush(30) == 0
        if round_number % 3 == 1:
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
        produce(broker, topic, count=3)
    reader.close()
    for name in (topic, OFFSETS):
        await_ends(broker, name)


def await_ends(broker: Broker, topic: str) -> None:
    """Return when the broker has marked in the log how every transaction of the topic ended.

    It answers the producer as soon as the end is decided, and writes the markers after that.
    """
    settings = {"bootstrap.servers": broker.bootstrap, "group.id": "unused"}
    readers = [
        Consumer({**settings, "isolation.level": isolation.value}) for isolation in Isolation
    ]
    try:
        numbers = readers[0].list_topics(topic, 10).topics[topic].partitions
        places = [TopicPartition(topic, number) for number in numbers]

        def have_ended() -> bool:
            ends = [{one.get_watermark_offsets(place)[1] for one in readers} for place in places]
            return all(len(each) == 1 for each in ends)

        wait(have_ended, within_s=30)
    finally:
        for reader in readers:
            reader.close()


def test_transactions_in_the_files_end_as_consumers_see_them(broker: Broker) -> None:
    topic = make_topic(broker, "transactions")
    transactions(broker, topic, f"group-of-{topic}")
    for name in (topic, OFFSETS):
        for isolation in Isolation:
            assert in_files(broker, name, isolation) == consumed(broker, name, isolation)
    every = in_files(broker, topic, Isolation.READ_UNCOMMITTED)
    assert len(every) == 8 * (5 + 3)
    assert len(in_files(broker, topic)) == len(every) - 3 * 5
    raws = read_segments(broker.folder / "data", topic=topic, isolation=Isolation.READ_UNCOMMITTED)
    fates = [raw.transaction for raw in raws]
    assert [fates.count(fate) for fate in ("committed", "aborted", None)] == [25, 15, 24]


def test_an_open_transaction_hides_what_follows_it(broker: Broker) -> None:
    topic = make_topic(broker, "open")
    produce(broker, topic, count=4)
    settings = {"bootstrap.servers": broker.bootstrap, "transactional.id": topic}
    producer = Producer(settings)
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"k", b"open")
    assert producer.flush(30) == 0
    produce(broker, topic, count=2)
    assert len(in_files(broker, topic)) == 4
    for isolation in Isolation:
        assert in_files(broker, topic, isolation) == consumed(broker, topic, isolation)
    producer.abort_transaction(30)
    await_ends(broker, topic)
    assert len(in_files(broker, topic)) == 6


@pytest.mark.spark
@pytest.mark.slow
def test_spark_reads_the_live_topic_as_the_files_have_it(broker: Broker, tmp_path: Path) -> None:
    topic = make_topic(broker, "live")
    transactions(broker, topic, f"group-of-{topic}")
    empty = make_topic(broker, "empty")
    answers = answers_of("live_job", broker.bootstrap, empty, folder=tmp_path)
    batches = decode_batches(batched(read_segments(broker.folder / "data")))
    expected = [row for batch in batches for row in batch.to_pylist()]
    expected.sort(key=lambda row: (row["partition"], row["offset"]))
    assert len(others(expected)) > 5
    assert others(answers["rows"]) == others(json.loads(json.dumps(expected, default=str)))
    assert len(answers["rows"]) <= answers["streamed"] <= len(expected)
    assert empty in answers["empty"]
    assert "useDeprecatedOffsetFetching" in answers["empty"]


def others(decoded: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All but what Spark itself left in the topic while it looked up offsets.

    How a transaction ended is in the files alone.
    """
    return [
        {**row, "transaction": None}
        for row in decoded
        if not str(row["group"]).startswith("spark-kafka-")
    ]
