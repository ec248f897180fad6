"""The topic of a live cluster, read by a plain consumer: no Java, no Spark.

A partition is read after the other, from its begin to where it ended when reading started, so a
still topic gives the same rows each time. The consumer joins no group and commits nothing: its
partitions are assigned by hand.

Needs the package confluent-kafka. Memory: what is fetched ahead, `FETCHED_KB`, and one chunk.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from assignors.clients.librdkafka.settings import ClientSettings
from assignors.replay.sources.raw import Raw, SourceError, time_or_none
from assignors.replay.sources.segments import OFFSETS_TOPIC, Isolation

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, Message

    from assignors.clients.librdkafka.connection import Events

CHUNK_ROWS = 5_000
FETCHED_KB = 32 << 10
STALLED_S = 60.0
"""After so long without a record a partition is given up."""

_STEP_S = 1.0
_ASKED_S = 15.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The offsets of a partition to read: from `start` on, before `end`."""

    partition: int
    start: int
    end: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """Records of one partition in the order of their offsets, and how many offsets they took."""

    raws: Sequence[Raw]
    offset_count: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenTopic:
    """A topic whose ends are known."""

    where: str
    """Topic and cluster, for messages."""
    spans: Sequence[Span]
    chunks: Iterator[Chunk] = field(repr=False)
    """Read while the topic is open. Raises `SourceError` where reading stops."""

    @property
    def offset_count(self) -> int:
        """Return how many offsets will be read; where a topic is compacted, fewer records."""
        return sum(span.end - span.start for span in self.spans)


@contextmanager
def open_topic(
    settings: ClientSettings,
    *,
    topic: str = OFFSETS_TOPIC,
    isolation: Isolation = Isolation.READ_COMMITTED,
    since_ms: int | None = None,
) -> Iterator[OpenTopic]:
    """Provide the records that a topic of a cluster has now.

    With `since_ms`, epoch milliseconds, records with an earlier timestamp are left out; those
    before the first later one are not read. Raises `SourceError` where the cluster cannot be
    reached, has no such topic, or refuses to give it.
    """
    from assignors.clients.librdkafka.connection import Events  # noqa: PLC0415 - needs the package

    where = settings.where
    events = Events()
    try:
        consumer = consumer_of(settings, isolation, events)
        try:
            reader = TopicReader(consumer=consumer, events=events, topic=topic, where=where)
            spans = reader.spans(since_ms)
            chunks = (chunk for span in spans for chunk in reader.chunks(span, since_ms))
            yield OpenTopic(where=f"{topic} at {where}", spans=spans, chunks=chunks)
        finally:
            consumer.close()
    except ConnectionError as error:
        raise SourceError(str(error)) from error


def consumer_of(settings: ClientSettings, isolation: Isolation, events: Events) -> Consumer:
    """Return a consumer without a group. Raises `SourceError` for settings that cannot be."""
    from confluent_kafka import Consumer, KafkaException  # noqa: PLC0415 - as above

    from assignors.clients.librdkafka.connection import client_options  # noqa: PLC0415 - as above

    chosen = {
        **client_options(settings.options, events),
        # The package wants a name; without a subscription no group gets to know it.
        "group.id": "kafka-assignors-dump",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        "isolation.level": isolation.value,
        "check.crcs": True,
        "fetch.wait.max.ms": 50,
        "queued.max.messages.kbytes": FETCHED_KB,
    }
    try:
        return Consumer(chosen)
    except KafkaException as error:
        text = error.args[0].str().removeprefix("Failed to create consumer: ")
        raise SourceError(f"{settings.where}: {text}") from error


@dataclass(frozen=True, kw_only=True, slots=True)
class TopicReader:
    """A consumer and the topic that it reads."""

    consumer: Consumer
    events: Events
    topic: str
    where: str

    def spans(self, since_ms: int | None) -> list[Span]:
        """Return the offsets to read of each partition, empty partitions left out."""
        from confluent_kafka import KafkaException, TopicPartition  # noqa: PLC0415 - as above

        numbers = self.partitions()
        try:
            ends = {}
            for number in numbers:
                place = TopicPartition(self.topic, number)
                ends[number] = self.consumer.get_watermark_offsets(place, timeout=_ASKED_S)
            starts = {number: low for number, (low, _) in ends.items()}
            if since_ms is not None:
                asked = [TopicPartition(self.topic, number, since_ms) for number in numbers]
                for found in self.consumer.offsets_for_times(asked, timeout=_ASKED_S):
                    is_later = found.offset >= 0
                    starts[found.partition] = found.offset if is_later else ends[found.partition][1]
        except KafkaException as error:
            self.consumer.poll(0)  # to get its reasons
            raise self.failure(error.args[0]) from error
        return [
            Span(partition=number, start=starts[number], end=ends[number][1])
            for number in numbers
            if starts[number] < ends[number][1]
        ]

    def chunks(self, span: Span, since_ms: int | None) -> Iterator[Chunk]:
        """Yield the records of one partition, up to the end of its span."""
        from confluent_kafka import TopicPartition  # noqa: PLC0415 - as above

        self.consumer.assign([TopicPartition(self.topic, span.partition, span.start)])
        position = span.start
        progress_at = time.monotonic()
        while position < span.end:
            raws: list[Raw] = []
            before = position
            for message in self.messages():
                position = max(position, self._behind(message, span))
                if position <= span.end and message.error() is None:
                    raws.append(raw_of(message))
            if position > before:
                progress_at = time.monotonic()
                kept = [raw for raw in raws if _is_since(raw, since_ms)]
                yield Chunk(raws=kept, offset_count=min(position, span.end) - before)
            elif time.monotonic() - progress_at > STALLED_S:
                raise self._stalled(span, position)
        self.consumer.unassign()

    def messages(self, wait_s: float = _STEP_S) -> list[Message]:
        """Return what has come; waits for the first, as the package would wait for all of them."""
        first = self.consumer.poll(wait_s)
        return [] if first is None else [first, *self.consumer.consume(CHUNK_ROWS, 0)]

    def partitions(self) -> list[int]:
        """Return the partitions of the topic. Raises `ConnectionError` or `SourceError`."""
        from assignors.clients.librdkafka.connection import reached  # noqa: PLC0415 - as above

        found = reached(
            self.where,
            lambda step_s: self.consumer.list_topics(self.topic, timeout=step_s),
            lambda: self.consumer.poll(0),
            self.events,
        ).topics[self.topic]
        if found.error is not None:
            raise self.failure(found.error)
        return sorted(found.partitions)

    def _behind(self, message: Message, span: Span) -> int:
        """Return the offset behind a message; a partition that has ended is behind its span."""
        from confluent_kafka import KafkaError  # noqa: PLC0415 - as above

        from assignors.clients.librdkafka.connection import PARTITION_EOF  # noqa: PLC0415 - as above

        error = message.error()
        if error is None:
            return (message.offset() or 0) + 1
        if error.code() == PARTITION_EOF:
            return span.end
        if error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            return span.start  # asked for by librdkafka, needed by nobody here
        raise self.failure(error, span.partition)

    def failure(self, error: KafkaError, partition: int | None = None) -> SourceError:
        """Return an error of the client as one of the source."""
        from confluent_kafka import KafkaError  # noqa: PLC0415 - as above

        from assignors.clients.librdkafka.connection import (  # noqa: PLC0415 - as above
            UNKNOWN_TOPIC,
            explained,
        )

        place = "" if partition is None else f" partition {partition}:"
        texts = {
            KafkaError.TOPIC_AUTHORIZATION_FAILED: (
                f"no permission on topic {self.topic}: Describe and Read are needed"
            ),
            KafkaError.UNKNOWN_TOPIC_OR_PART: f"no topic {self.topic}",
            UNKNOWN_TOPIC: f"no topic {self.topic}",
        }
        text = texts.get(error.code()) or explained(error, self.events)
        return SourceError(f"{self.where}:{place} {text}")

    def _stalled(self, span: Span, position: int) -> SourceError:
        from assignors.clients.librdkafka.connection import last_reason  # noqa: PLC0415 - as above

        text = (
            f"{self.where}: partition {span.partition}: nothing for {STALLED_S:g} seconds at "
            f"offset {position} of {span.end}"
        )
        return SourceError(text + last_reason(self.events))


def raw_of(message: Message) -> Raw:
    """Return a message as a row."""
    kind, timestamp_ms = message.timestamp()
    return Raw(
        key=_bytes(message.key()),
        value=_bytes(message.value()),
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        timestamp_ms=time_or_none(timestamp_ms) if kind else None,
        timestamp_type=kind - 1 if kind else None,
    )


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _is_since(raw: Raw, since_ms: int | None) -> bool:
    return since_ms is None or (raw.timestamp_ms is not None and raw.timestamp_ms >= since_ms)
