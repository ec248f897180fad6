"""`replay`: rebuilds the history of a cluster's groups from a dump of `__consumer_offsets`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assignors.assignor import Assignor
from assignors.cli.commands.replay_python import replay_with_python
from assignors.cli.commands.replay_request import (
    STANDARD_INPUT,
    ReplayRequest,
    ReplayResult,
    UnreadableError,
)
from assignors.cli.commands.replay_spark import replay_with_spark
from assignors.cli.inputs.assignor_names import AssignorName
from assignors.cli.inputs.cluster_options import cluster_settings, config_option
from assignors.cli.inputs.extras import require_package
from assignors.cli.inputs.file_values import JsonFile, LogEndsFile
from assignors.cli.inputs.finding_options import finding_options
from assignors.cli.inputs.option_types import NewFile, Pattern
from assignors.cli.inputs.run_options import refuse
from assignors.cli.outputs.cells import is_full_width
from assignors.cli.outputs.forms import VIOLATIONS, Form, output_option, write
from assignors.cli.outputs.replay_tables import ROWS_SHOWN, show_replayed, show_summary
from assignors.documents.values import SCHEMA, Document, as_object
from assignors.replay.analysis.outcome_rows import total
from assignors.replay.findings import Selection, Thresholds
from assignors.replay.findings.causes import worst_first
from assignors.replay.findings.finding import amount
from assignors.replay.findings.upgrade import conversion_answer
from assignors.replay.history.log_ends import LogEnds
from assignors.replay.settings import Settings
from assignors.replay.tables.columns import as_dict
from assignors.replay.tables.rows import TABLES, FindingKind, Row, Tables

if TYPE_CHECKING:
    from assignors.clients.librdkafka.settings import ClientSettings

SHOWN = ("groups", "findings", "outcomes")
"""Tables that are printed without `--table`."""

COUNTED = "generations"
"""The table of which a line on standard error has figures."""

HIDDEN_TITLE = "replay"
"""Title of a redacted report: the name of the source may say whose it is."""


def _partition_counts(document: object) -> dict[str, int]:
    """Return the numbers of partitions of a JSON object, topic -> number."""
    from assignors.documents.groups import (  # noqa: PLC0415 - only who asks pays for it
        partition_count_from_document,
    )

    return {
        topic: partition_count_from_document(count, (topic,))
        for topic, count in as_object(document, ()).items()
    }


@click.command()
@click.argument("source", type=click.Path(), required=False)
@click.option(
    "--sample",
    "is_sample",
    is_flag=True,
    help="Read the sample of this package: real records of two groups.",
)
@click.option(
    "--group",
    "wanted",
    type=Pattern(),
    help="Only groups whose name matches this expression, anywhere in it.",
)
@click.option(
    "--what-if",
    "assignors",
    type=AssignorName(),
    multiple=True,
    help="Try this assignor on the same history; can be repeated.",
)
@click.option(
    "--partitions",
    "partition_counts",
    type=JsonFile(_partition_counts),
    help='Partition counts, {"topic": 6}; others are inferred.',
)
@click.option(
    "--log-ends",
    "log_ends",
    type=LogEndsFile(),
    help='For rates and lag, lines as {"at_ms": 1795376715000, "log_ends": {"orders": [120, 7]}}.',
)
@click.option(
    "--bootstrap",
    metavar="HOST:PORT",
    help="Partition counts of this cluster; without SOURCE, its records.",
)
@config_option
@click.option(
    "--engine",
    type=click.Choice(["python", "spark"]),
    default="python",
    show_default=True,
    help="spark needs Java and the extra `spark`.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False),
    help="Write every table as a Parquet file.",
)
@click.option(
    "--report",
    type=NewFile(),
    help="Write one HTML page that needs no network.",
)
@click.option("--redact", is_flag=True, help="Hide group names, hosts, client and member ids.")
@click.option(
    "--table",
    "shown",
    metavar="NAME",
    type=click.Choice(list(TABLES)),
    multiple=True,
    help=f"Print this table: {', '.join(TABLES)}.",
)
@click.option(
    "--all",
    "is_all",
    is_flag=True,
    help="Print every row, not the ten worst groups alone.",
)
@finding_options
@output_option
@click.pass_context
def replay(
    context: click.Context,
    *,
    source: str | None,
    is_sample: bool,
    wanted: re.Pattern[str] | None,
    assignors: tuple[Assignor, ...],
    partition_counts: dict[str, int] | None,
    log_ends: tuple[LogEnds, ...] | None,
    bootstrap: str | None,
    config: str | None,
    engine: str,
    out: str | None,
    report: str | None,
    redact: bool,
    shown: tuple[str, ...],
    is_all: bool,
    selection: Selection,
    thresholds: Thresholds,
    form: Form,
) -> None:
    """Rebuild the history of groups from __consumer_offsets.

    SOURCE is a dump (.jsonl, .jsonl.gz, .parquet), the output of kcat -J, of
    kafka-console-consumer or of kafka-dump-log --offsets-decoder, a log segment or a folder of
    them, or - for standard input. Exit code 1: there are findings of --min-severity or worse, or an
    assignor of --what-if fails. In Python: assignors.replay.replay.
    """
    if is_sample:
        if source is not None or bootstrap is not None or config is not None:
            raise click.UsageError("--sample is a source: name no SOURCE and no --bootstrap")
        source = _sample(context)
    if source is None and bootstrap is None and config is None:
        words = "name a SOURCE (- for standard input), a cluster with --bootstrap, or try --sample"
        raise click.UsageError(words)
    if shown and "outcomes" not in shown and not (report or out):
        words = "has no effect without its table: --table outcomes, --report or --out"
        refuse(context, ("assignors",), words)
    _require_packages({"--report": report, "--out": out})
    _check_engine(engine, source)
    is_asked = bootstrap is not None or config is not None
    cluster = cluster_settings(bootstrap, config) if is_asked else None
    counts, names = _of_cluster(cluster)
    settings = Settings(
        partition_counts={**counts, **(partition_counts or {})},
        assignors=_different(assignors),
        log_ends=log_ends or (),
        selection=selection,
        thresholds=thresholds,
        tables=TABLES if out or report else {*(shown or SHOWN), COUNTED, "groups"},
    )
    request = ReplayRequest(
        source=source,
        is_sample=is_sample,
        cluster=cluster,
        wanted=wanted,
        settings=settings,
        topic_names=names,
        redact=redact,
        out=out,
    )
    with (replay_with_spark if engine == "spark" else replay_with_python)(request) as result:
        tables = result.tables
        if out is not None:
            sys.stderr.write(f"wrote {len(TABLES)} tables to {out}\n")
        _write_report(
            tables, report, HIDDEN_TITLE if redact else Path(source or request.where).name
        )
        if settings.assignors:
            _note_untried(tables)
        is_whole = is_all or form is not Form.TABLE or is_full_width()
        documents = _documents(result, shown or SHOWN, None if is_whole else ROWS_SHOWN)
        show = (
            partial(show_replayed, limit=None if is_whole else ROWS_SHOWN)
            if shown
            else partial(show_summary, tables=tables, is_all=is_all)
        )
        if FindingKind.CLASSIC_ONLY in selection.kinds and selection.until_ms is None:
            answer = conversion_answer(tables.groups, tables.findings)
            click.echo(answer, err=form is not Form.TABLE)
        code = write(documents, form, show)
        if form is Form.TABLE and not tables.findings and "findings" in (shown or SHOWN):
            kinds = ", ".join(sorted(selection.kinds))
            of_kind = f" of kind {kinds}" if kinds else ""
            click.echo(f"no findings{of_kind} of severity {selection.min_severity} or worse")
    has_failed = any(row.error is not None for row in tables.outcomes)
    context.exit(max(code, VIOLATIONS) if tables.findings or has_failed else code)


def _sample(context: click.Context) -> str:
    """Return the path of the sample, a file until the command ends."""
    from importlib.resources import as_file  # noqa: PLC0415 - only who asks pays for it

    from assignors.replay.sample import incident_file  # noqa: PLC0415 - as above

    return str(context.with_resource(as_file(incident_file())))


def _check_engine(engine: str, source: str | None) -> None:
    """Raise `click.UsageError` where Spark is to read what is no file."""
    if engine == "spark" and source in {None, STANDARD_INPUT}:
        raise click.UsageError("--engine spark reads files: name one; dump writes one of a cluster")


def _require_packages(given: Mapping[str, object]) -> None:
    """Raise `click.UsageError` where an option is given whose package is not installed."""
    for option, package in {"--report": "jinja2", "--out": "pyarrow"}.items():
        if given[option] is not None:
            require_package(package, option, "replay")


def _of_cluster(
    cluster: ClientSettings | None,
) -> tuple[Mapping[str, int], Mapping[str, str]]:
    """Return partition counts, and topic names by id, of a cluster; nothing without a cluster."""
    if cluster is None:
        return {}, {}
    from assignors.clients.librdkafka.topics import known_topics  # noqa: PLC0415 - an extra

    try:
        known = known_topics(cluster)
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


def _note_untried(tables: Tables) -> None:
    """Print how many groups with members `--what-if` has no outcome for, and why."""
    tried = {row.group for row in tables.outcomes}
    untried = {row.group for row in tables.groups if row.member_count_max} - tried
    if untried:
        sys.stderr.write(
            f"note: --what-if leaves out {amount(len(untried), 'group')}: share groups, streams "
            "groups, and groups whose protocol type is not consumer, such as Kafka Connect's\n"
        )


def _documents(
    result: ReplayResult, shown: Iterable[str], commits_shown: int | None
) -> Iterator[Document]:
    """Yield the rows of the tables, each with the name of its table.

    Findings of all groups come worst first. If commits are left out, a document without a row has
    their number in `left_out`.
    """
    for name in dict.fromkeys(shown):
        if name == "offsets":
            yield from (_document(name, row) for row in result.commits(commits_shown))
            left_out = 0 if commits_shown is None else result.commit_count() - commits_shown
            if left_out > 0:
                yield {**_document(name, None), "left_out": left_out}
            continue
        rows = getattr(result.tables, name)
        if name == "findings":
            rows = sorted(rows, key=worst_first)
        yield from (_document(name, row) for row in rows)
        if name == "outcomes":
            yield from (_document(name, row) for row in total(result.tables.outcomes))


def _document(table: str, row: Row | None) -> Document:
    fields = None if row is None else as_dict(row)
    return {"schema": SCHEMA, "table": table, "row": fields, "error": None}
