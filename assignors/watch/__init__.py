"""Watching groups live: findings as they open and close.

`replay` folds all records of a group and reports at the end. `watch` folds the same records one by
one, keeps a bounded part of the rows, runs the same finders over it, and says what changed.
`machine.step` is the state of one group and its next input; `groups.Watch` has all groups, `run`
the loops over a cluster and over a recorded source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assignors.clients.librdkafka.settings import ClientSettings
    from assignors.replay.history.log_ends import LogEnds
    from assignors.replay.result import Instant, Source
    from assignors.watch.events import Alert

__all__ = ["watch"]


def watch(
    source: Source | None = None,
    *,
    bootstrap: str | ClientSettings | None = None,
    command_config: str | None = None,
    group: str | re.Pattern[str] | None = None,
    since: Instant | None = None,
    partitions: Mapping[str, int] | None = None,
    log_ends: Iterable[LogEnds] = (),
    thresholds: Mapping[str, int] | None = None,
    speed: float | None = None,
    checkpoint: str | Path | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Alert]:
    """Yield alerts as they open, occur again and are resolved.

    `source` is what `replay` takes: a path, a table or records; it is played at once, or `speed`
    times as fast as it happened. `bootstrap` names a cluster instead, which is watched without end;
    `command_config` is the properties file of its client. `group` is a regular expression that the
    names of groups match anywhere. Of alerts from before `since` (a datetime with a time zone, or
    epoch milliseconds) only those are yielded that are open then; of a cluster the default is now.
    `partitions` and `log_ends` are those of a recorded source, as `replay` has them. `thresholds`
    says by name when something is an alert (`rules.Rules`). `checkpoint` is the directory in which
    the state of a watch of a cluster is kept. `say` gets notes on the source.

    Raises `ValueError` for a source or cluster that cannot be read, an unknown threshold, and a
    checkpoint of another version.

    >>> from assignors.replay.sample import incident
    >>> events = list(watch(incident()))
    >>> events[0].event.value, events[0].kind, events[0].evidence[:27]
    ('opened', 'needless-moves', '7 partitions moved from mem')
    """
    from assignors.watch.run import alerts_of  # noqa: PLC0415 - only who calls pays for it

    return alerts_of(
        source,
        bootstrap=bootstrap,
        command_config=command_config,
        group=group,
        since=since,
        partitions=partitions,
        log_ends=log_ends,
        thresholds=thresholds,
        speed=speed,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        say=say,
    )
