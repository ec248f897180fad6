"""What `replay` asks of an engine, and what an engine returns: `ReplayRequest`, `ReplayResult`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from assignors.cli.outputs.forms import UNREADABLE
from assignors.replay.settings import Settings
from assignors.replay.tables.rows import OffsetRow, Tables

if TYPE_CHECKING:
    from assignors.clients.librdkafka.settings import ClientSettings

STANDARD_INPUT = "-"


class UnreadableError(click.ClickException):
    """A source that cannot be read, or has no records or no matching group; in one line."""

    exit_code = UNREADABLE


def say_skipped(text: str) -> None:
    """Print a note on lines of a source that are not read."""
    click.echo(f"note: {text}", err=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """What the user asked of a replay."""

    source: str | None
    """A file or folder; `STANDARD_INPUT`; `None`: the live topic of `cluster`."""
    is_sample: bool = False
    """Whether `source` is the sample of this package, whose path nobody wants to see."""
    cluster: ClientSettings | None = None
    wanted: re.Pattern[str] | None = None
    """Only groups whose name matches, anywhere in it; `None`: all."""
    settings: Settings = field(default_factory=Settings)
    topic_names: Mapping[str, str] = field(default_factory=dict)
    """Topic id -> name, as the cluster has them."""
    redact: bool = False
    out: str | None = None
    """A folder for the tables as Parquet files."""

    @property
    def where(self) -> str:
        """The source's name, for messages."""
        if self.is_sample:
            return "the sample"
        if self.source is not None:
            return "standard input" if self.source == STANDARD_INPUT else self.source
        assert self.cluster is not None, "without a source there is a cluster"
        return f"__consumer_offsets at {self.cluster.where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """The tables of a replay; commits apart, as there may be more than fit into memory."""

    tables: Tables
    commits: Callable[[int | None], Iterable[OffsetRow]]
    """Returns the first so many, `None`: all, in the order of the groups."""
    commit_count: Callable[[], int]
