"""`replay`: rebuilds the history of a cluster's groups from a dump of `__consumer_offsets`."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.resources import as_file
from typing import TYPE_CHECKING

import click

from assignors.assignor import Assignor
from assignors.cli.inputs.assignor_names import ASSIGNOR
from assignors.cli.inputs.cluster_options import cluster_settings, config_option
from assignors.cli.inputs.extras import needed_by, require_package
from assignors.cli.inputs.file_values import json_file, log_ends_of_file
from assignors.cli.inputs.option_types import INSTANT, PATTERN, NewFile, Value
from assignors.cli.inputs.replay_inputs import (
    partition_counts,
    records_of_standard_input,
    threshold,
)
from assignors.cli.inputs.run_options import refuse
from assignors.cli.outputs.cells import is_full_width
from assignors.cli.outputs.forms import VIOLATIONS, Form, UnreadableError, output_option, write
from assignors.cli.outputs.progress import with_progress
from assignors.cli.outputs.replay_tables import ROWS_SHOWN, show_replayed, show_summary
from assignors.documents.failures import NO_ERROR
from assignors.documents.values import SCHEMA, Document
from assignors.replay import replay as replayed
from assignors.replay.findings import Selection
from assignors.replay.findings.finding import amount
from assignors.replay.findings.selection import is_kind_wanted
from assignors.replay.findings.table import FINDINGS, Severity
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.findings.upgrade import conversion_answer
from assignors.replay.history.log_ends import LogEnds
from assignors.replay.sources import SourceError
from assignors.replay.tables.columns import as_dict
from assignors.replay.tables.rows import TABLES, Tables

if TYPE_CHECKING:
    from assignors.replay.result import ReplayResult

STANDARD_INPUT = "-"

SHOWN = ("groups", "findings", "outcomes")
"""Tables that are printed without `--table`."""

COUNTED = "generations"
"""The table of which a line on standard error has figures."""


@click.command()
@click.argument("source", type=click.Path(), required=False)
@click.option(
    "--sample",
    "is_sample",
    is_flag=True,
    help="Read real records of two groups.",
)
@click.option(
    "--group",
    "wanted",
    type=PATTERN,
    help="Only groups whose name matches.",
)
@click.option(
    "--what-if",
    "assignors",
    type=ASSIGNOR,
    multiple=True,
    help="Try this assignor; can be repeated.",
)
@click.option(
    "--partitions",
    "partition_counts",
    type=json_file(partition_counts),
    help='Partition counts: {"topic": 6}.',
)
@click.option(
    "--log-ends",
    "log_ends",
    type=Value("file", log_ends_of_file),
    help='For rates and lag, lines as {"at_ms": 1795376715000, "log_ends": {"orders": [120, 7]}}.',
)
@click.option(
    "--bootstrap",
    metavar="HOST:PORT",
    help="Read from this cluster; with SOURCE, its counts.",
)
@config_option
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
@click.option("--redact", is_flag=True, help="Hide names, hosts and ids.")
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
    help="Print every row, not the worst alone.",
)
@click.option(
    "--min-severity",
    type=click.Choice([severity.value for severity in Severity]),
    help="Only findings as bad as this. Default: low.",
)
@click.option(
    "--kind",
    "kinds",
    metavar="NAME",
    type=click.Choice(list(FINDINGS)),
    multiple=True,
    help="Only findings of this kind; can be repeated.",
)
@click.option(
    "--since",
    "since_ms",
    type=INSTANT,
    help="Only findings that lasted until then: 2h (ago), or 2026-11-21T03:00.",
)
@click.option(
    "--until",
    "until_ms",
    type=INSTANT,
    help="Only findings that began before.",
)
@click.option(
    "--threshold",
    "changed",
    type=Value("NAME=NUMBER", partial(threshold, Thresholds())),
    multiple=True,
    help="What counts as many; an unknown NAME lists all.",
)
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
    out: str | None,
    report: str | None,
    redact: bool,
    shown: tuple[str, ...],
    is_all: bool,
    min_severity: str | None,
    kinds: tuple[str, ...],
    since_ms: int | None,
    until_ms: int | None,
    changed: tuple[dict[str, int], ...],
    form: Form,
) -> None:
    """Rebuild the history of groups from __consumer_offsets.

    SOURCE is a dump (.jsonl, .jsonl.gz, .parquet), the output of kcat -J, of
    kafka-console-consumer or of kafka-dump-log --offsets-decoder, a log segment or a folder of
    them, or - for standard input. Exit code 1: there are findings of --min-severity or worse, or an
    assignor of --what-if fails. In Python: assignors.replay.replay.
    """
    selection = _selection(min_severity, kinds, since_ms, until_ms)
    is_live = bootstrap is not None or config is not None
    source, name = _source(context, source, is_sample=is_sample, is_live=is_live)
    if shown and "outcomes" not in shown and not (report or out):
        words = "has no effect without its table: --table outcomes, --report or --out"
        refuse(context, ("assignors",), words)
    for option, given, package in (("--report", report, "jinja2"), ("--out", out, "pyarrow")):
        if given is not None:
            require_package(package, option, "replay")
    cluster = cluster_settings(bootstrap, config) if is_live else None
    tables = dict.fromkeys(shown) or SHOWN
    try:
        with _without_collection(), needed_by("replay", "replay"):
            found = replayed(
                records_of_standard_input() if source == STANDARD_INPUT else source,
                name=name,
                bootstrap=cluster,
                group=wanted,
                what_if=assignors,
                partitions=partition_counts,
                log_ends=log_ends or (),
                min_severity=selection.min_severity,
                kinds=selection.kinds,
                since=selection.since_ms,
                until=selection.until_ms,
                thresholds={name: number for each in changed for name, number in each.items()},
                redact=redact,
                tables=TABLES if out or report else {*tables, COUNTED, "groups"},
                progress=with_progress,
                say=lambda text: click.echo(f"note: {text}", err=True),
            )
    except (SourceError, OSError, ValueError) as error:
        raise UnreadableError(str(error)) from error
    _write_files(found, out, report)
    if assignors:
        _note_untried(found.tables)
    if "classic-only" in selection.kinds and selection.until_ms is None:
        answer = conversion_answer(found.tables.groups, found.tables.findings)
        click.echo(answer, err=form is not Form.TABLE)
    code = _show(found, tables, form, is_summary=not shown, is_all=is_all)
    if form is Form.TABLE and not found.findings and "findings" in tables:
        click.echo(_no_findings(selection))
    has_failed = any(row.error is not None for row in found.outcomes)
    context.exit(max(code, VIOLATIONS) if found.findings or has_failed else code)


def _selection(
    min_severity: str | None, kinds: Sequence[str], since_ms: int | None, until_ms: int | None
) -> Selection:
    """Return which findings are wanted; `click.UsageError` where there can be none."""
    if since_ms is not None and until_ms is not None and since_ms >= until_ms:
        raise click.UsageError("--since must be before --until")
    default = Severity.NOTE if kinds else Severity.LOW
    wanted = Selection(
        min_severity=default if min_severity is None else Severity(min_severity),
        kinds=kinds,
        since_ms=since_ms,
        until_ms=until_ms,
    )
    if not any(is_kind_wanted(kind, wanted) for kind in wanted.kinds or FINDINGS):
        listed = ", ".join(f"{kind} is {FINDINGS[kind].severity}" for kind in wanted.kinds)
        raise click.UsageError(f"--min-severity {min_severity} leaves out every --kind: {listed}")
    return wanted


def _source(
    context: click.Context, source: str | None, *, is_sample: bool, is_live: bool
) -> tuple[str | None, str | None]:
    """Return a path, `-` or `None` for a cluster, and what messages call it."""
    if is_sample:
        if source is not None or is_live:
            raise click.UsageError("--sample is a source: name no SOURCE and no --bootstrap")
        from assignors.replay.sample import incident_file  # noqa: PLC0415 - only who asks pays

        return str(context.with_resource(as_file(incident_file()))), "the sample"
    if source is None and not is_live:
        words = "name a SOURCE (- for standard input), a cluster with --bootstrap, or try --sample"
        raise click.UsageError(words)
    return source, "standard input" if source == STANDARD_INPUT else source


def _write_files(found: ReplayResult, out: str | None, report: str | None) -> None:
    if out is not None:
        found.write_tables(out)
        sys.stderr.write(f"wrote {len(TABLES)} tables to {out}\n")
    if report is not None:
        found.write_report(report)
        sys.stderr.write(f"wrote {report}\n")


def _no_findings(selection: Selection) -> str:
    kinds = ", ".join(sorted(selection.kinds))
    of_kind = f" of kind {kinds}" if kinds else ""
    return f"no findings{of_kind} of severity {selection.min_severity} or worse"


@contextmanager
def _without_collection() -> Iterator[None]:
    """Switch Python's search for garbage in cycles off: rows and records have none.

    It takes a tenth of the time to look for some in all of them, again and again.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _show(
    found: ReplayResult, tables: Iterable[str], form: Form, *, is_summary: bool, is_all: bool
) -> int:
    """Write the tables; return the exit code."""
    limit = None if is_all or form is not Form.TABLE or is_full_width() else ROWS_SHOWN
    show: Callable[[Iterable[Document]], None] = partial(show_replayed, limit=limit)
    if is_summary:
        show = partial(show_summary, tables=found.tables, is_all=is_all)
    return write(_documents(found, tables, limit), form, show)


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
    found: ReplayResult, tables: Iterable[str], commits_shown: int | None
) -> Iterator[Document]:
    """Yield the rows of the tables, each with the name of its table.

    If commits are left out, a document without a row has their number in `left_out`.
    """
    for name in tables:
        rows = list(getattr(found, name))
        shown = rows[:commits_shown] if name == "offsets" else rows
        for row in shown:
            yield {"schema": SCHEMA, "table": name, "row": as_dict(row), **NO_ERROR}
        if len(shown) < len(rows):
            left_out = len(rows) - len(shown)
            yield {
                "schema": SCHEMA,
                "table": name,
                "row": None,
                **NO_ERROR,
                "left_out": left_out,
            }
