"""A watch from its source to its sinks: the loops over a cluster and over a recorded source."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assignors.clients.librdkafka.settings import ClientSettings
from assignors.replay.decode.logged_records import LoggedRecord, logged_record, of_groups
from assignors.replay.history.log_ends import LogEnds
from assignors.watch.checkpoint import read_checkpoint, write_checkpoint
from assignors.watch.events import Alert
from assignors.watch.groups import Watch
from assignors.watch.machine import Tick
from assignors.watch.played import played
from assignors.watch.position import Position
from assignors.watch.rules import Rules
from assignors.watch.tail import tail

CHECKPOINT_S = 30.0
"""How often a checkpoint is written."""


@dataclass(frozen=True, slots=True)
class Step:
    """What one step of a watch gave."""

    alerts: Sequence[Alert]
    watch: Watch
    position: Position


def watch_cluster(
    settings: ClientSettings,
    rules: Rules,
    *,
    wanted: re.Pattern[str] | None = None,
    since_ms: int,
    checkpoint: Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Generator[Step, None, None]:
    """Yield what happens in the groups of a cluster, without end.

    `wanted` is searched in the names of groups. Alerts from before `since_ms` are given out only
    if they are open then. With `checkpoint` the state is read from this directory, and written to
    it every 30 seconds and at the end. `say` gets notes on the cluster. Raises `SourceError` as
    `tail`, `StateError` for a checkpoint of another version, `OSError` where it cannot be written.
    """
    found = None if checkpoint is None else read_checkpoint(checkpoint, rules)
    watch, positions = found or (Watch(rules=rules, since_ms=since_ms), {})
    others: set[str] = set()
    saved_s = time.monotonic()

    def topics() -> list[str]:
        places = [group.places for group in [*watch.groups.values()]]
        return [*dict.fromkeys(topic for each in places for topic, _ in [*each])]

    polls = tail(settings, positions=positions, topics=topics, say=say)
    try:
        for polled in polls:
            raws = polled.raws if wanted is None else of_groups(polled.raws, wanted, others)
            alerts = [one for raw in raws for one in watch.add(logged_record(raw))]
            for given in (polled.cluster, polled.reach):
                if given is not None:
                    alerts += watch.add(given)
            if polled.tick_ms is not None:
                alerts += watch.add(Tick(polled.tick_ms))
            positions = dict(polled.positions)
            delay_ms = 0
            if polled.tick_ms is None:
                delay_ms = max(time.time_ns() // 1_000_000 - watch.clock_ms, 0)
            yield Step(alerts, watch, _position(watch, settings.where, delay_ms))
            if checkpoint is not None and time.monotonic() - saved_s >= CHECKPOINT_S:
                write_checkpoint(checkpoint, watch, positions)
                saved_s = time.monotonic()
    finally:
        polls.close()
        if checkpoint is not None and positions:
            write_checkpoint(checkpoint, watch, positions)


def watch_records(
    entries: Iterable[LoggedRecord],
    rules: Rules,
    *,
    where: str = "the records",
    since_ms: int = 0,
    counts: Mapping[str, int],
    log_ends: Sequence[LogEnds] = (),
    speed: float | None = None,
) -> Generator[Step, None, None]:
    """Yield what would have happened, had these records come live; `speed` as `played`."""
    watch = Watch(rules=rules, since_ms=since_ms)
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
