"""A watch from its source to its sinks: the loops over a cluster and over a recorded source."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assignors.clients.librdkafka.settings import ClientSettings
from assignors.replay.decode.logged_records import (
    NO_GROUP,
    LoggedRecord,
    group_in,
    logged_record,
    of_groups,
)
from assignors.replay.engines.by_group import no_group_matches
from assignors.replay.findings.thresholds import thresholds_from_document
from assignors.replay.history.log_ends import LogEnds
from assignors.replay.result import (
    Instant,
    Source,
    cluster_of,
    entries_of,
    epoch_ms,
    pattern_of,
)
from assignors.replay.sources import SourceError
from assignors.watch.checkpoint import read_checkpoint, write_checkpoint, written_in_parts
from assignors.watch.events import Alert
from assignors.watch.groups import Watch
from assignors.watch.machine import Input, Tick
from assignors.watch.played import played
from assignors.watch.position import Position
from assignors.watch.reach import Reach
from assignors.watch.rules import Rules
from assignors.watch.tail import Polled, tail
from wire.text import utf16_key

CHECKPOINT_S = 30.0
"""The time from one checkpoint to the next."""

SAVED = object()
"""What comes when a checkpoint is whole."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of a watch gave."""

    alerts: Sequence[Alert]
    watch: Watch
    position: Position


def alerts_of(
    source: Source | None,
    *,
    bootstrap: str | ClientSettings | None,
    command_config: str | None,
    group: str | re.Pattern[str] | None,
    since: Instant | None,
    partitions: Mapping[str, int] | None,
    log_ends: Iterable[LogEnds],
    thresholds: Mapping[str, int] | None,
    speed: float | None,
    checkpoint: Path | None,
    say: Callable[[str], None],
) -> Iterator[Alert]:
    """Yield the alerts of a source or a cluster: see `assignors.watch.watch`."""
    rules = thresholds_from_document(thresholds or {}, Rules())
    wanted, since_ms = pattern_of(group), epoch_ms("since", since)
    cluster = cluster_of(bootstrap, command_config)
    if (source is None) == (cluster is None):
        raise ValueError("name a source or a cluster")
    steps: Iterator[Step]
    if cluster is not None:
        steps = watch_cluster(
            cluster, rules, wanted=wanted, since_ms=since_ms, checkpoint=checkpoint, say=say
        )
    else:
        assert source is not None, "one of the two"
        where, entries = entries_of(source, lambda items, *_: items, say)
        steps = watch_records(
            entries,
            rules,
            where=where,
            wanted=wanted,
            since_ms=since_ms or 0,
            counts=partitions or {},
            log_ends=[*log_ends],
            speed=speed,
        )
    return (alert for step in steps for alert in step.alerts)


def watch_cluster(
    settings: ClientSettings,
    rules: Rules,
    *,
    wanted: re.Pattern[str] | None = None,
    since_ms: int | None = None,
    checkpoint: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Generator[Step, None, None]:
    """Yield what happens in the groups of a cluster, without end.

    `wanted` is searched in the names of groups. Alerts from before `since_ms` are given out only
    if they are open then; the default is now. With `checkpoint` the state is read from this
    directory, and written to it every 30 seconds and at the end. `say` gets notes on the cluster.
    Raises `SourceError` as `tail`, `StateError` for a checkpoint of another version, `OSError`
    where it cannot be written.
    """
    found = None if checkpoint is None else read_checkpoint(checkpoint, rules)
    since_ms = _now_ms() if since_ms is None else since_ms
    watch, positions = found or (Watch(rules=rules, since_ms=since_ms), {})
    others: set[str] = set()
    saved_s = time.monotonic()
    saving: Iterator[object] | None = None
    is_given_out = False

    def topics() -> list[str]:
        places = [group.places for group in [*watch.groups.values()]]
        return [*dict.fromkeys(topic for each in places for topic, _ in [*each])]

    polls = tail(settings, positions=positions, topics=topics, say=say)
    try:
        if found is not None:
            yield Step(watch.still_open(), watch, _position(watch, settings.where, None))
        for polled in polls:
            is_given_out = False
            inputs = _inputs(polled, wanted, others)
            alerts = [one for given in inputs for one in watch.add(given)]
            positions = dict(polled.positions)
            delay_ms = 0
            if polled.tick_ms is None:
                delay_ms = max(_now_ms() - watch.clock_ms, 0)
            is_given_out = not alerts
            yield Step(alerts, watch, _position(watch, settings.where, delay_ms))
            is_given_out = True
            if checkpoint is not None and time.monotonic() - saved_s >= CHECKPOINT_S:
                saving = saving or written_in_parts(checkpoint, watch, positions)
                if next(saving, SAVED) is SAVED:
                    saving, saved_s = None, time.monotonic()
    finally:
        polls.close()
        # What was not given out yet is read again after a restart.
        if checkpoint is not None and is_given_out:
            write_checkpoint(checkpoint, watch, positions)


def _inputs(
    polled: Polled, wanted: re.Pattern[str] | None, others: set[str]
) -> Iterator[Input | Reach]:
    """Yield what a poll gave in the order in which it counts: the tick is behind all records."""
    yield from map(
        logged_record,
        polled.raws if wanted is None else of_groups(polled.raws, wanted, others),
    )
    if polled.cluster is not None:
        yield polled.cluster
    if polled.reach is not None:
        yield polled.reach
    if polled.tick_ms is not None:
        yield Tick(polled.tick_ms)


def watch_records(
    entries: Iterable[LoggedRecord],
    rules: Rules,
    *,
    where: str = "the records",
    wanted: re.Pattern[str] | None = None,
    since_ms: int = 0,
    counts: Mapping[str, int],
    log_ends: Sequence[LogEnds] = (),
    speed: float | None = None,
) -> Generator[Step, None, None]:
    """Yield what would have happened, had these records come live; `speed` as `played`.

    Raises `SourceError` where there are no records, or none of a group that is wanted.
    """
    watch = Watch(rules=rules, since_ms=since_ms)
    entries = [*entries]
    if not entries:
        raise SourceError(f"{where}: no records: is it empty?")
    if wanted is not None:
        groups = sorted({group_in(one.record.key) or NO_GROUP for one in entries}, key=utf16_key)
        entries = [one for one in entries if wanted.search(group_in(one.record.key) or NO_GROUP)]
        if not entries:
            raise SourceError(f"{where}: {no_group_matches(wanted, len(groups), groups)}")
    for batch in played(entries, counts=counts, log_ends=log_ends, speed=speed):
        alerts = [one for given in batch for one in watch.add(given)]
        yield Step(alerts, watch, _position(watch, where, None))


def _position(watch: Watch, where: str, delay_ms: int | None) -> Position:
    return Position(
        where=where,
        group_count=len(watch.groups),
        record_count=watch.record_count,
        at_ms=watch.clock_ms or None,
        delay_ms=delay_ms,
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
