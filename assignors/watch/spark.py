"""A watch on Spark, for topics whose groups one process cannot follow.

    alerts = watch_stream(stream_topic(spark, "broker:9092"), Rules())
    alerts.writeStream.format("parquet").option("checkpointLocation", ...).start("alerts")

The step is that of a watch in one process, and so are the bytes of its state: Spark keeps them for
each group, and calls the step with the group's records. A query that starts again from its
checkpoint goes on where it was. Works on classic sessions and over Connect. What executors on other
machines need is in `assignors.replay.engines.spark`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from assignors.extras import imported_from

with imported_from("spark"):
    from pyspark.sql import Row
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from assignors.arrow.schemas import schema_of
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.engines.spark import with_group
from assignors.replay.sources import Raw, SourceError
from assignors.spark import spark_schema
from assignors.watch.events import Alert, as_document
from assignors.watch.group_state import Cluster, GroupWatch, state_bytes, state_from_bytes
from assignors.watch.machine import Input, Tick, step
from assignors.watch.rules import Rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NEEDED = ("key", "value", "partition", "offset", "timestamp")
"""Columns of a stream of the topic, as Spark's Kafka source has them."""

STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
"""The only store that `transformWithState` works with."""

DELAY_MS = 10_000
"""How old a record may be when Spark gives it to its group: what is later was not late then."""
CATCHING_UP_MS = 600_000
"""A group whose records are older than that is still read; its clock is its records' until no more
of them have come for so long."""

DEFAULT = Rules()


def watch_stream(
    frame: DataFrame,
    rules: Rules = DEFAULT,
    *,
    partitions: Mapping[str, int] = MappingProxyType({}),
    since_ms: int = 0,
    is_ticking: bool = True,
) -> DataFrame:
    """Return the events of a stream's groups, a row each: the fields of `Alert`.

    `frame` is a streaming DataFrame of the topic, with the columns `NEEDED`; raises `SourceError`
    where one is missing. `partitions` are the counts of topics, as far as they are known. Events
    before `since_ms` are left out. Timers say that time has passed where a group has no records; a
    stream that ends by itself (`availableNow`) needs `is_ticking=False`, as Spark waits for timers
    for ever, and then a group's time is that of its records. Sets `STATE_STORE` in the session.

    One shuffle, of all records by group. Memory of a worker: the state and the new records of a
    group. The output mode is `append`.
    """
    missing = [name for name in NEEDED if name not in frame.columns]
    if missing:
        raise SourceError(f"no column {' and '.join(missing)} among {', '.join(frame.columns)}")
    from pyspark.sql.functions import unix_millis  # noqa: PLC0415 - the extra `spark`

    frame.sparkSession.conf.set(STATE_STORE, ROCKSDB)
    # Times as numbers: a Python row has them in the zone of the worker.
    records = with_group(frame.select(*NEEDED)).withColumn(
        "timestamp", unix_millis(frame["timestamp"])
    )
    processor = _Groups(rules, Cluster(at_ms=0, counts=dict(partitions)), since_ms)
    return records.groupBy("group").transformWithState(
        processor,
        spark_schema(schema_of(Alert)),
        "Update",
        "ProcessingTime" if is_ticking else "None",
    )


class _Groups(StatefulProcessor):
    """Calls the step for one group after another. Spark passes arguments by their names."""

    def __init__(self, rules: Rules, cluster: Cluster, since_ms: int) -> None:
        self._rules = rules
        self._cluster = cluster
        self._since_ms = since_ms
        self._handle: Any = None
        self._state: Any = None

    def init(self, handle: Any) -> None:  # noqa: ANN401 - pyspark has no types
        """Open the state of all groups."""
        self._handle = handle
        self._state = handle.getValueState("group", "state binary")

    def handleInputRows(  # noqa: N802 - pyspark's name
        self,
        key: tuple[str],
        rows: Iterator[Any],
        timerValues: Any,  # noqa: ANN401, N803 - as above
    ) -> Iterator[Any]:
        """Add the new records of a group, in the order of its partition: Spark has none."""
        ordered = sorted(rows, key=lambda row: (row["partition"], row["offset"]))
        raws = (
            Raw(
                key=_bytes(row["key"]),
                value=_bytes(row["value"]),
                partition=row["partition"],
                offset=row["offset"],
                timestamp_ms=row["timestamp"],
            )
            for row in ordered
        )
        yield from self._step(key[0], logged_records(raws), timerValues)

    def handleExpiredTimer(  # noqa: N802 - pyspark's name
        self,
        key: tuple[str],
        timerValues: Any,  # noqa: ANN401, N803 - as above
        expiredTimerInfo: Any,  # noqa: ANN401, ARG002, N803 - as above
    ) -> Iterator[Any]:
        """Tell a group that time has passed."""
        now_ms = timerValues.getCurrentProcessingTimeInMs()
        yield from self._step(key[0], [Tick(now_ms - DELAY_MS)], timerValues)

    def close(self) -> None:
        """Do nothing: Spark keeps the state."""

    def _step(
        self,
        group: str,
        inputs: Iterable[Input],
        timers: Any,  # noqa: ANN401 - as above
    ) -> Iterator[Any]:
        """Yield the events of these inputs, and leave the new state behind."""
        kept = self._state.get() if self._state.exists() else None
        watch = GroupWatch(group) if kept is None else state_from_bytes(bytes(kept[0]))
        for given in inputs:
            for alert in step(watch, given, self._rules, self._cluster, self._since_ms):
                yield row_of(alert)
        if watch.is_forgotten:
            self._state.clear()
        else:
            self._state.update((state_bytes(watch),))
        now_ms = timers.getCurrentProcessingTimeInMs()
        if now_ms > 0:
            self._set_timer(watch, now_ms)

    def _set_timer(self, watch: GroupWatch, now_ms: int) -> None:
        """Look at the group again when it is due; later than now, or the timer may be lost."""
        for timer in [*self._handle.listTimers()]:
            self._handle.deleteTimer(timer)
        if watch.due_ms is not None:
            is_behind = now_ms - watch.clock_ms > CATCHING_UP_MS
            soonest_ms = now_ms + (CATCHING_UP_MS if is_behind else 1)
            self._handle.registerTimer(max(watch.due_ms + DELAY_MS, soonest_ms))


def row_of(alert: Alert) -> Row:
    """Return an event as a row of Spark; text in it is text that UTF-8 can encode."""
    held = {topic: list(numbers) for topic, numbers in alert.partitions.items()}
    fields = {
        **as_document(alert),
        "event": alert.event.value,
        "partitions": [Row(topic=_text(topic), partitions=held[topic]) for topic in held],
    }
    return Row(**{k: _text(v) if isinstance(v, str) else v for k, v in fields.items()})


def _text(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _bytes(value: bytearray | bytes | None) -> bytes | None:
    return None if value is None else bytes(value)
