"""`replay`: what the groups of a cluster went through, from a dump of `__consumer_offsets`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import click

from assignors.assignor import Assignor
from assignors.cli.commands.assign import ASSIGNOR_HELP, AssignorName
from assignors.cli.commands.replay_engines import (
    ReplayRequest,
    ReplayResult,
    UnreadableError,
    replay_with_python,
    replay_with_spark,
)
from assignors.cli.inputs.json_text import parse
from assignors.cli.outputs.output import VIOLATIONS, Form, output_option, write
from assignors.cli.outputs.replay_tables import ROWS_SHOWN, show_replayed
from assignors.documents.groups import partition_count_from_document
from assignors.documents.values import Document, DocumentError, as_object
from assignors.replay.analysis.reproduce import shares
from assignors.replay.analysis.what_if import total
from assignors.replay.engines.python import Settings
from assignors.replay.tables.columns import as_dict
from assignors.replay.tables.rows import TABLES, Row, Tables

SHOWN = ("groups", "anomalies", "outcomes")
"""Tables that are shown where none is asked for."""

HIDDEN_TITLE = "replay"
"""The title of a report whose source is not to be named."""

JAVA_CLIENTS = "kafka-clients"
"""How guesses at writers begin whose plans the copies of Java's assignors should reproduce."""

SCHEMA = 1


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
            fields = as_object(parse(Path(str(value)).read_bytes()), ())
            return {
                topic: partition_count_from_document(count, (topic,))
                for topic, count in fields.items()
            }
        except (OSError, DocumentError) as error:
            self.fail(f"{value}: {error}", param, ctx)


@click.command()
@click.argument("source", type=click.Path(), required=False)
@click.option("--group", "wanted", type=Pattern(), help="Only groups whose name has this in it.")
@click.option(
    "--what-if",
    "assignors",
    type=AssignorName(),
    multiple=True,
    help=f"Try this one on the same history; may be given several times: {ASSIGNOR_HELP}",
)
@click.option(
    "--partitions",
    "partition_counts",
    type=Counts(),
    help='A JSON file, {"topic": 6}. Without it counts are inferred from each group itself.',
)
@click.option(
    "--bootstrap",
    metavar="HOST:PORT",
    help="Ask this cluster for partition counts; without SOURCE, read its topic.",
)
@click.option(
    "--jars",
    type=click.Path(file_okay=False, exists=True),
    help="A folder with the jars of Spark's Kafka connector, to read a live topic.",
)
@click.option(
    "--engine",
    type=click.Choice(["python", "spark"]),
    default="python",
    show_default=True,
    help="spark: for what does not fit into memory; needs Java and the extra of that name.",
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
    source: str | None,
    wanted: re.Pattern[str] | None,
    assignors: tuple[Assignor, ...],
    partition_counts: dict[str, int] | None,
    bootstrap: str | None,
    jars: str | None,
    engine: str,
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
    if source is None and bootstrap is None:
        raise click.UsageError("name a SOURCE, or a cluster with --bootstrap")
    counts, names = _of_cluster(bootstrap)
    settings = Settings(
        partition_counts={**counts, **(partition_counts or {})},
        assignors=_different(assignors),
    )
    asked = ReplayRequest(
        source=source,
        bootstrap=bootstrap,
        jars=jars,
        wanted=wanted,
        settings=settings,
        topic_names=names,
        redact=redact,
        out=out,
    )
    with (replay_with_spark if engine == "spark" else replay_with_python)(asked) as answer:
        tables = answer.tables
        if out is not None:
            sys.stderr.write(f"wrote {len(TABLES)} tables to {out}\n")
        _write_report(tables, report, HIDDEN_TITLE if redact else Path(asked.where).name)
        _say_shares(tables)
        documents = _documents(answer, shown or SHOWN, ROWS_SHOWN if form is Form.TABLE else None)
        code = write(documents, form, show_replayed)
    context.exit(max(code, VIOLATIONS) if tables.anomalies else code)


def _of_cluster(bootstrap: str | None) -> tuple[Mapping[str, int], Mapping[str, str]]:
    """Return partition counts and topic ids of a cluster, none where none was named."""
    if bootstrap is None:
        return {}, {}
    try:
        from assignors.clients.kafka_python.topics import (  # noqa: PLC0415 - an extra
            known_topics,
        )
    except ModuleNotFoundError as error:
        words = f"{error.name} is missing: pip install 'kafka-assignors[kafka-python]'"
        raise click.UsageError(words) from None
    try:
        known = known_topics(bootstrap)
    except ConnectionError as error:
        raise UnreadableError(str(error)) from error
    return known.partition_counts, known.names


def _different(assignors: Sequence[Assignor]) -> tuple[Assignor, ...]:
    return tuple({assignor.full_name: assignor for assignor in assignors}.values())


def _write_report(tables: Tables, report: str | None, title: str) -> None:
    if report is None:
        return
    from assignors.replay.report import page  # noqa: PLC0415 - only who asks pays for it

    Path(report).write_text(page(tables, title=title), encoding="utf-8")
    sys.stderr.write(f"wrote {report}\n")


def _say_shares(tables: Tables) -> None:
    """Say how many of a Java leader's plans are those of Java's assignors."""
    for share in shares(tables.generations):
        if share.writer.startswith(JAVA_CLIENTS):
            sys.stderr.write(
                f"plans of {share.writer} (a guess): {share.agreeing_count} of "
                f"{share.plan_count} are java/*'s, {share.same_count} to the byte\n"
            )


def _documents(
    answer: ReplayResult, shown: Iterable[str], commits_shown: int | None
) -> Iterator[Document]:
    """Yield the rows of the tables, each with the name of its table.

    A document without a row says how many commits are left out, if there are.
    """
    for name in dict.fromkeys(shown):
        if name == "offsets":
            yield from (_document(name, row) for row in answer.commits(commits_shown))
            left_out = 0 if commits_shown is None else answer.commit_count() - commits_shown
            if left_out > 0:
                yield {**_document(name, None), "left_out": left_out}
            continue
        yield from (_document(name, row) for row in getattr(answer.tables, name))
        if name == "outcomes":
            yield from (_document(name, row) for row in total(answer.tables.outcomes))


def _document(table: str, row: Row | None) -> Document:
    told = None if row is None else as_dict(row)
    return {"schema": SCHEMA, "table": table, "row": told, "error": None}
