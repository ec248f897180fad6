"""`replay`: what the groups of a cluster went through, from a dump of `__consumer_offsets`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assignors.assignor import Assignor
from assignors.cli.assign import ASSIGNOR_HELP, AssignorName
from assignors.cli.json_text import parse
from assignors.cli.output import UNREADABLE, VIOLATIONS, Form, output_option, write
from assignors.cli.progress import worked
from assignors.cli.replay_tables import show_replayed
from assignors.documents import Document
from assignors.reading import DocumentError, int32, struct
from assignors.replay.columns import as_dict
from assignors.replay.entries import entries
from assignors.replay.history import Entry, GroupHistory
from assignors.replay.redact import numbered
from assignors.replay.run import Settings, joined, replayed
from assignors.replay.tables import TABLES, Tables
from assignors.replay.timeline import learned_names, timeline
from assignors.replay.what_if import total

if TYPE_CHECKING:
    from assignors.replay.sources import Raw

SHOWN = ("groups", "anomalies", "outcomes")
"""Tables that are shown where none is asked for."""

HIDDEN_TITLE = "replay"
"""The title of a report whose source is not to be named."""

SCHEMA = 1


class UnreadableError(click.ClickException):
    """A source in which there is nothing to tell, in one line."""

    exit_code = UNREADABLE


class Pattern(click.ParamType[re.Pattern[str]]):
    """A regular expression."""

    name = "regex"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> re.Pattern[str]:
        """Return the expression, or say where it is wrong."""
        try:
            return re.compile(str(value))
        except re.error as error:
            self.fail(f"{value!r}: {error}", param, ctx)


class Counts(click.ParamType[dict[str, int]]):
    """A file with a JSON object: topic -> how many partitions it has."""

    name = "file"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, int]:
        """Return the counts, or say what is wrong with the file."""
        try:
            fields = struct(parse(Path(str(value)).read_bytes()), ())
            counts = {topic: int32(count, (topic,)) for topic, count in fields.items()}
        except (OSError, DocumentError) as error:
            self.fail(f"{value}: {error}", param, ctx)
        if any(count < 0 for count in counts.values()):
            self.fail(f"{value}: a partition count is negative", param, ctx)
        return counts


@click.command()
@click.argument("source", type=click.Path())
@click.option("--group", "wanted", type=Pattern(), help="Only groups whose name has this in it.")
@click.option(
    "--what-if",
    "assignors",
    type=AssignorName(),
    multiple=True,
    help=f"Try this one on the same history, again and again if you like: {ASSIGNOR_HELP}",
)
@click.option(
    "--partitions",
    "partition_counts",
    type=Counts(),
    help='A JSON file, {"topic": 6}. Without it counts are inferred from each group itself.',
)
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="Write every table there, as a Parquet file.",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False, writable=True),
    help="Write one HTML page that tells it all and needs no network.",
)
@click.option("--redact", is_flag=True, help="Hide group names, hosts, client and member ids.")
@click.option(
    "--table",
    "shown",
    type=click.Choice(list(TABLES)),
    multiple=True,
    help=f"Which tables to print. Default: {', '.join(SHOWN)}.",
)
@output_option
@click.pass_context
def replay(
    context: click.Context,
    *,
    source: str,
    wanted: re.Pattern[str] | None,
    assignors: tuple[Assignor, ...],
    partition_counts: dict[str, int] | None,
    out: str | None,
    report: str | None,
    redact: bool,
    shown: tuple[str, ...],
    form: Form,
) -> None:
    """Rebuild what every group went through, from a dump of __consumer_offsets.

    SOURCE is a dump in JSON lines (.jsonl, .jsonl.gz) or Parquet, with the columns of Spark's
    Kafka source; a log segment (.log), or a folder of them. Generations, members, who held
    what, what went wrong, and with --what-if what another assignor would have done.

    Exit code 1 when something went wrong in a group, 2 when the source cannot be read.
    """
    read = _read(source)
    histories = _histories(source, read, wanted)
    settings = Settings(
        partition_counts=partition_counts or {},
        assignors=_different(assignors),
        label=numbered(histories) if redact else None,
    )
    told = worked((replayed(history, settings) for history in histories), len(histories), "groups")
    tables = joined(told)
    _write_files(tables, out, report, HIDDEN_TITLE if redact else Path(source).name)
    code = write(_documents(tables, shown or SHOWN), form, show_replayed)
    context.exit(max(code, VIOLATIONS) if tables.anomalies else code)


def _read(source: str) -> list[Entry]:
    """Return the records of a source; what cannot be read at all is a sentence."""
    if find_spec("pyarrow") is None:
        raise click.UsageError("replay needs pyarrow: pip install 'kafka-assignors[replay]'")
    from assignors.replay.sources import (  # noqa: PLC0415  # the extra `replay`
        SourceError,
        open_source,
        rows,
    )

    try:
        raws: Iterable[Raw] = rows(open_source(source))
        return list(entries(worked(raws, None, "records")))
    except (SourceError, OSError) as error:
        raise UnreadableError(str(error)) from error


def _histories(
    source: str, read: Sequence[Entry], wanted: re.Pattern[str] | None
) -> list[GroupHistory]:
    """Return the history of each group asked for; say so where there is none."""
    if not read:
        raise UnreadableError(f"{source}: no records: is it empty?")
    first = read[0].record.error
    if first is not None and all(entry.record.error is not None for entry in read):
        raise UnreadableError(
            f"{source}: none of {len(read)} records is one of __consumer_offsets: {first}"
        )
    histories = list(timeline(read, topic_names=learned_names(read)))
    if wanted is None:
        return histories
    found = [history for history in histories if wanted.search(history.group)]
    if not found:
        names = ", ".join(history.group for history in histories[:5])
        raise UnreadableError(
            f"{source}: no group is called {wanted.pattern!r}; {len(histories)} are there: {names}"
        )
    return found


def _different(assignors: Sequence[Assignor]) -> tuple[Assignor, ...]:
    return tuple({assignor.full_name: assignor for assignor in assignors}.values())


def _write_files(tables: Tables, out: str | None, report: str | None, title: str) -> None:
    if out is not None:
        from assignors.replay.arrow_tables import write_tables  # noqa: PLC0415  # needs pyarrow

        paths = write_tables(tables, out)
        sys.stderr.write(f"wrote {len(paths)} tables to {out}\n")
    if report is not None:
        from assignors.replay.report import page  # noqa: PLC0415  # only who asks pays for it

        Path(report).write_text(page(tables, title=title), encoding="utf-8")
        sys.stderr.write(f"wrote {report}\n")


def _documents(tables: Tables, shown: Iterable[str]) -> Iterator[Document]:
    """Yield the rows of the tables, each with the name of its table."""
    for name in dict.fromkeys(shown):
        for row in getattr(tables, name):
            yield {"schema": SCHEMA, "table": name, "row": as_dict(row), "error": None}
        if name == "outcomes":
            for row in total(tables.outcomes):
                yield {"schema": SCHEMA, "table": name, "row": as_dict(row), "error": None}
