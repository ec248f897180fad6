"""The history of consumer groups, from the records of `__consumer_offsets`.

`replay` reads a dump and returns every table of it. In stages, a folder each: `sources` reads raw
records from files or a cluster, `decode` decodes them, `history` builds the history of each group,
`tables` has the row classes, `analysis` computes figures, ownership and what-if, `findings` reports
what went wrong; `engines` runs all of it, and `report` makes one HTML page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from assignors.assignor import Assignor

if TYPE_CHECKING:
    from assignors.clients.librdkafka.settings import ClientSettings
    from assignors.replay.history.log_ends import LogEnds
    from assignors.replay.result import Instant, Progress, ReplayResult, Source

__all__ = ["replay"]


def replay(
    source: Source | None = None,
    *,
    name: str | None = None,
    bootstrap: str | ClientSettings | None = None,
    command_config: str | None = None,
    group: str | re.Pattern[str] | None = None,
    what_if: str | Assignor | Iterable[str | Assignor] = (),
    partitions: Mapping[str, int] | None = None,
    log_ends: Iterable[Mapping[str, object] | LogEnds] = (),
    min_severity: str | None = None,
    kinds: str | Iterable[str] = (),
    since: Instant | None = None,
    until: Instant | None = None,
    thresholds: Mapping[str, int] | None = None,
    redact: bool = False,
    tables: Iterable[str] | None = None,
    progress: Progress = lambda items, *_: items,
    say: Callable[[str], None] = lambda _: None,
) -> ReplayResult:
    """Return the tables of a dump or a cluster: groups, generations, members, findings.

    `source` is a path as the command `kafka-assignors replay` takes it; or a table with the columns
    of Spark's Kafka source, of pandas, Polars, pyarrow or any library with Arrow's C stream
    interface; or records (`sample.incident()`); `name` is what messages and the report call it.
    `bootstrap` names a cluster: its partition
    counts are used, and without `source` its topic is read; `command_config` is the properties file
    of its client, and the extra `dump` brings that. The options are those of the command:
    `group` is a regular expression that the names of groups match anywhere, `what_if` names
    assignors to try on the same history, `partitions` has partition counts by topic where they are
    known, `log_ends` where partitions ended at some moments (`{"at_ms": 1795376715000, "log_ends":
    {"orders": [120, 7]}}`), and `redact` hides names. Of the findings those of `kinds` are wanted,
    of `min_severity` or worse, that lasted until `since` and began before `until` (datetimes with a
    time zone, or epoch milliseconds); `thresholds` says by name from when on something is a
    finding. Tables that `tables` does not name stay empty, but for findings: less memory.
    `progress` passes on the items of work and may show how far it is; `say` gets notes on the
    source. Rows and their order are those of the command.

    Raises `ValueError` for a source that cannot be read, has no records or no matching group, and
    for an unknown name, `OSError` for a file that cannot be opened; what is damaged inside a
    source is a row of `findings`. Parquet, tables and most compressed files need pyarrow (the extra
    `replay`). Memory: the tables, and the records of one group in 64.

    >>> from assignors.replay.sample import incident
    >>> found = replay(incident(), group="cooperative-sticky-franz", what_if="server/uniform")
    >>> [(row.kind, row.generation_count) for row in found.groups]
    [('classic', 36)]
    >>> found.findings
    <findings: ... rows; to_pandas(), to_polars(), to_arrow()>
    >>> found.outcomes.to_arrow().column_names[:4]
    ['group', 'life', 'assignor', 'generation']
    """
    from assignors.replay.result import (  # noqa: PLC0415 - only who calls pays for it
        cluster_of,
        replay_source,
        selection_of,
        settings_of,
    )

    selection = selection_of(min_severity=min_severity, kinds=kinds, since=since, until=until)
    return replay_source(
        source,
        settings_of(
            what_if=what_if,
            partitions=partitions,
            log_ends=log_ends,
            selection=selection,
            thresholds=thresholds,
            tables=tables,
        ),
        name=name,
        cluster=cluster_of(bootstrap, command_config),
        group=group,
        redact=redact,
        progress=progress,
        say=say,
    )
