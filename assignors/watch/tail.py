"""The offsets topic of a live cluster, from its beginning on and for ever.

All partitions are assigned by hand: the watch joins no group and commits nothing. A compacted topic
has the last record of every key, so the state of all groups is known once its end is reached, and
only then the clock of the watch runs. It is the clock of the brokers: the wall clock, less the
least time that a record has taken to get here.

A broker that goes away is waited for, and the clock stands still meanwhile: what cannot be seen
must not look like silence.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from assignors.clients.librdkafka.settings import ClientSettings
from assignors.replay.sources.raw import Raw, SourceError
from assignors.replay.sources.segments import OFFSETS_TOPIC, Isolation
from assignors.replay.sources.topic_by_consumer import TopicReader, consumer_of, raw_of
from assignors.watch.group_state import Cluster
from assignors.watch.reach import Reach

WAIT_S = 0.25
"""How long to wait for a record before the clock ticks."""
GRACE_MS = 500
"""The clock is so much behind, for records of other partitions that are still on their way."""
CLUSTER_S = 15.0
"""How often the cluster is asked for partition counts and ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """What one poll gave."""

    raws: Sequence[Raw] = ()
    positions: Mapping[int, int] = field(default_factory=dict)
    """Partition -> the offset that is read next."""
    tick_ms: int | None = None
    """The time of the brokers, where every record before it was read."""
    cluster: Cluster | None = None
    reach: Reach | None = None


def tail(
    settings: ClientSettings,
    *,
    positions: Mapping[int, int],
    topics: Callable[[], Sequence[str]],
    say: Callable[[str], None],
    topic: str = OFFSETS_TOPIC,
) -> Generator[Polled, None, None]:
    """Yield what comes, poll after poll, without end.

    `positions` are those of a checkpoint; partitions without one are read from the beginning.
    `topics` returns the topics whose ends matter. `say` gets a sentence when a broker goes away or
    comes back. Raises `SourceError` where the cluster refuses, or cannot be reached at the start.
    """
    from assignors.clients.librdkafka.connection import Events  # noqa: PLC0415 - needs the package

    events, where = Events(), settings.where
    try:
        consumer = consumer_of(settings, Isolation.READ_COMMITTED, events)
        reader = TopicReader(consumer=consumer, events=events, topic=topic, where=where)
        asker = _Asker(settings, topic, topics)
        try:
            asker.start()
            yield from _polls(reader, asker, dict(positions), say)
        finally:
            asker.stop()
            consumer.close()
    except ConnectionError as error:
        raise SourceError(str(error)) from error


def _polls(
    reader: TopicReader,
    asker: _Asker,
    given: Mapping[int, int],
    say: Callable[[str], None],
) -> Generator[Polled, None, None]:
    from confluent_kafka import OFFSET_BEGINNING, TopicPartition  # noqa: PLC0415 - as above

    numbers = reader.partitions()
    asker.numbers = numbers
    starts = {number: given.get(number, OFFSET_BEGINNING) for number in numbers}
    reader.consumer.assign(
        [TopicPartition(reader.topic, number, start) for number, start in starts.items()]
    )
    positions = {number: max(start, 0) for number, start in starts.items()}
    at_end: set[int] = set()
    away = _Away(reader, say)
    lag_ms: int | None = None
    while True:
        raws = []
        messages = reader.messages(WAIT_S)
        now_ms = time.time_ns() // 1_000_000
        is_live = len(at_end) == len(numbers)
        for message in messages:
            error, number = message.error(), message.partition()
            if error is None:
                raw = raw_of(message)
                positions[number or 0] = (raw.offset or 0) + 1
                raws.append(raw)
                if is_live and raw.timestamp_ms is not None:
                    late_ms = now_ms - raw.timestamp_ms
                    lag_ms = late_ms if lag_ms is None else min(lag_ms, late_ms)
            elif away.is_end(error):
                at_end.add(number or 0)
                # The end may be behind markers of transactions, which are no records.
                positions[number or 0] = max(positions[number or 0], message.offset() or 0)
            else:
                away.note(error, number)
        asked = asker.answer(positions)
        away.look(is_back=bool(messages) or asked.cluster is not None)
        if asked.failure is not None:
            away.gone(asked.failure)
        is_live = len(at_end) == len(numbers)
        tick_ms = now_ms - max(lag_ms or 0, 0) - GRACE_MS
        yield Polled(
            raws=raws,
            positions=positions,
            tick_ms=tick_ms if is_live and not away.is_gone else None,
            cluster=asked.cluster and _as_of(asked.cluster, tick_ms if is_live else None),
            reach=asked.reach,
        )


def _as_of(cluster: Cluster, at_ms: int | None) -> Cluster:
    """Return what the cluster said at a time of the watch; before it is live, no ends."""
    return replace(cluster, at_ms=0, ends={}) if at_ms is None else replace(cluster, at_ms=at_ms)


class _Away:
    """Whether brokers are away, and what was said of it."""

    def __init__(self, reader: TopicReader, say: Callable[[str], None]) -> None:
        self._reader = reader
        self._say = say
        self.is_gone = False

    def is_end(self, error: object) -> bool:
        from assignors.clients.librdkafka.connection import PARTITION_EOF  # noqa: PLC0415 - above

        return error.code() == PARTITION_EOF  # type: ignore[attr-defined, no-any-return]

    def note(self, error: object, partition: int | None) -> None:
        """Take an error of the consumer: wait for a broker, raise anything else."""
        from confluent_kafka import KafkaError  # noqa: PLC0415 - as above

        from assignors.clients.librdkafka.connection import is_waited_for  # noqa: PLC0415 - above

        assert isinstance(error, KafkaError)
        if is_waited_for(error):
            self.gone(f"{self._reader.where}: {error.str()}")
        elif error.code() != KafkaError.GROUP_AUTHORIZATION_FAILED:
            raise self._reader.failure(error, partition)

    def look(self, *, is_back: bool) -> None:
        """Look at what the client has reported since the last time."""
        from assignors.clients.librdkafka.connection import (  # noqa: PLC0415 - as above
            BROKERS_DOWN,
            last_reason,
            raise_refusal,
        )

        events = self._reader.events
        raise_refusal(self._reader.where, events)
        is_down = any(error.code() == BROKERS_DOWN for error in events.errors)
        if is_down and not is_back:
            self.gone(f"{self._reader.where}: no broker answers{last_reason(events)}")
        if is_back and self.is_gone:
            self.is_gone = False
            self._say(f"{self._reader.where}: answers again")
        events.errors.clear()

    def gone(self, words: str) -> None:
        """Say once that a broker is away."""
        if not self.is_gone:
            self.is_gone = True
            self._say(f"{words}; waiting for it")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    cluster: Cluster | None = None
    reach: Reach | None = None
    failure: str | None = None


class _Asker:
    """A thread that asks the cluster from time to time, so that reading never waits for it."""

    def __init__(
        self, settings: ClientSettings, topic: str, topics: Callable[[], Sequence[str]]
    ) -> None:
        self._settings = settings
        self._topic = topic
        self._topics = topics
        self._answers: queue.SimpleQueue[tuple[Cluster, dict[int, int], dict[int, int]] | str] = (
            queue.SimpleQueue()
        )
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.numbers: Sequence[int] = ()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()

    def answer(self, positions: Mapping[int, int]) -> _Answer:
        """Return what the cluster has said since the last time, if anything."""
        try:
            given = self._answers.get_nowait()
        except queue.Empty:
            return _Answer()
        if isinstance(given, str):
            return _Answer(failure=given)
        cluster, stable, high = given
        reach = Reach(at_ms=cluster.at_ms, positions=dict(positions), stable=stable, high=high)
        return _Answer(cluster=cluster, reach=reach)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._answers.put(self._ask())
            except ConnectionError as error:
                self._answers.put(str(error))
            self._stopped.wait(CLUSTER_S)

    def _ask(self) -> tuple[Cluster, dict[int, int], dict[int, int]]:
        from assignors.clients.librdkafka.topics import (  # noqa: PLC0415 - needs the package
            end_offsets,
            known_topics,
        )

        known = known_topics(self._settings)
        counts = {
            topic: known.partition_counts[topic]
            for topic in self._topics()
            if topic in known.partition_counts
        }
        ends = end_offsets(self._settings, counts)
        at_ms = time.time_ns() // 1_000_000
        own = {self._topic: len(self.numbers)}
        found = [
            {
                number: end
                for number, end in enumerate(
                    end_offsets(self._settings, own, is_stable=is_stable).get(self._topic, ())
                )
                if end is not None
            }
            for is_stable in (True, False)
        ]
        cluster = Cluster(at_ms=at_ms, counts=known.partition_counts, ends=ends, names=known.names)
        return cluster, found[0], found[1]
