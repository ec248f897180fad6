"""`watch`: says what goes wrong in consumer groups while it happens."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from importlib.resources import as_file
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assignors.cli.inputs.cluster_options import cluster_settings, config_option
from assignors.cli.inputs.extras import needed_by
from assignors.cli.inputs.file_values import json_file, log_ends_of_file
from assignors.cli.inputs.option_types import INSTANT, INSTANT_HELP, PATTERN, Value
from assignors.cli.inputs.replay_inputs import (
    partition_counts,
    records_of_standard_input,
    threshold,
)
from assignors.cli.outputs.forms import (
    BROKEN_PIPE,
    CLEAN,
    VIOLATIONS,
    Form,
    UnreadableError,
    discard_buffered,
    output_option,
)
from assignors.replay.decode.logged_records import LoggedRecord, logged_records
from assignors.replay.findings.thresholds import thresholds_from_document
from assignors.replay.history.log_ends import LogEnds
from assignors.replay.sources import Raw, SourceError, open_source
from assignors.watch.rules import Rules

if TYPE_CHECKING:
    from assignors.watch.metrics import Metrics
    from assignors.watch.sinks import Sink

_SPEED = re.compile(r"(\d+(?:\.\d+)?)x?")


def _since(text: str) -> int:
    if text == "earliest":
        return 0
    if text == "now":
        return int(datetime.now(tz=UTC).timestamp() * 1000)
    return INSTANT.convert(text, None, None)


def _speed(text: str) -> float | None:
    if text == "max":
        return None
    found = _SPEED.fullmatch(text)
    if found is None or not float(found[1]):
        raise ValueError(f"{text!r}: not 60x, nor max")
    return float(found[1])


@click.command()
@click.argument("source", type=click.Path(), required=False)
@click.option("--sample", "is_sample", is_flag=True, help="Watch the sample of this package.")
@click.option(
    "--bootstrap", metavar="HOST:PORT", help="Watch this cluster; joins no group, commits nothing."
)
@config_option
@click.option(
    "--group",
    "wanted",
    type=PATTERN,
    help="Only groups whose name matches this expression, anywhere in it.",
)
@click.option(
    "--since",
    "since_ms",
    type=Value("time", _since),
    help=f"Only alerts that are open then or open later: now, earliest, or {INSTANT_HELP}. "
    "Default: now, for a recorded SOURCE earliest.",
)
@click.option(
    "--speed",
    type=Value("60x", _speed),
    default="max",
    show_default=True,
    help="Play a recorded SOURCE so many times as fast as it happened, or at once.",
)
@click.option(
    "--checkpoint",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep the state in this directory, and go on from it.",
)
@click.option(
    "--partitions",
    "counts",
    type=json_file(partition_counts),
    help='Partition counts of a recorded SOURCE, {"topic": 6}; others are inferred.',
)
@click.option(
    "--log-ends",
    "log_ends",
    type=Value("file", log_ends_of_file),
    help="Ends of its partitions, as replay takes them: without them no commits are missed.",
)
@click.option(
    "--threshold",
    "changed",
    type=Value("NAME=NUMBER", partial(threshold, Rules())),
    multiple=True,
    help="When something is an alert; an unknown NAME lists all.",
)
@click.option(
    "--metrics",
    metavar="HOST:PORT",
    help="Serve metrics for Prometheus; :9308 serves this machine alone.",
)
@click.option(
    "--alerts",
    metavar="URL|FILE",
    multiple=True,
    help="Send alerts to an Alertmanager, or append them to a file; can be repeated.",
)
@output_option
@click.pass_context
def watch(
    context: click.Context,
    *,
    source: str | None,
    is_sample: bool,
    bootstrap: str | None,
    config: str | None,
    wanted: re.Pattern[str] | None,
    since_ms: int | None,
    speed: float | None,
    checkpoint: Path | None,
    counts: dict[str, int] | None,
    log_ends: tuple[LogEnds, ...] | None,
    changed: tuple[dict[str, int], ...],
    metrics: str | None,
    alerts: tuple[str, ...],
    form: Form,
) -> None:
    """Say what goes wrong in consumer groups while it happens.

    Reads __consumer_offsets of a cluster as it grows, or plays a recorded SOURCE, which is what
    replay takes, as if it were live. Alerts are the findings of replay as they open and close, and
    what no record says: rounds that do not complete, commits that stop. Ends with a recorded
    SOURCE, else when it is interrupted. Exit code 1: an alert opened.
    """
    # Its help needs none of these.
    from assignors.cli.outputs.watch_view import printer_of  # noqa: PLC0415
    from assignors.watch.encoding import StateError  # noqa: PLC0415
    from assignors.watch.events import Event  # noqa: PLC0415
    from assignors.watch.run import watch_cluster, watch_records  # noqa: PLC0415

    is_live = bootstrap is not None or config is not None
    rules = thresholds_from_document({k: v for each in changed for k, v in each.items()}, Rules())
    has_opened = False
    try:
        with ExitStack() as stack:
            # A service is stopped by SIGTERM: it ends as by Ctrl-C, with a checkpoint.
            before = signal.signal(signal.SIGTERM, signal.default_int_handler)
            stack.callback(signal.signal, signal.SIGTERM, before)
            if is_live:
                if source is not None or is_sample:
                    raise click.UsageError("name a SOURCE or a cluster, not both")
                cluster = cluster_settings(bootstrap, config)
                steps = watch_cluster(
                    cluster,
                    rules,
                    wanted=wanted,
                    since_ms=since_ms,
                    checkpoint=checkpoint,
                    say=_note,
                )
            else:
                name, entries = _recorded(context, source, is_sample=is_sample)
                if checkpoint is not None:
                    raise click.UsageError("--checkpoint is for a cluster: name it, --bootstrap")
                steps = watch_records(
                    entries,
                    rules,
                    where=name,
                    wanted=wanted,
                    since_ms=since_ms or 0,
                    counts=counts or {},
                    log_ends=log_ends or (),
                    speed=speed,
                )
            stack.enter_context(closing(steps))
            sinks: list[Sink] = [_sink(place, bootstrap) for place in alerts]
            served = None if metrics is None else _served(metrics)
            printer = printer_of(form)
            sinks += [printer] if served is None else [printer, served]
            for sink in sinks:
                stack.callback(sink.close)
            for step in steps:
                has_opened |= any(one.event is Event.OPENED for one in step.alerts)
                for sink in sinks if step.alerts else ():
                    sink.take(step.alerts)
                if served is not None:
                    served.observe(step.watch, step.position)
                printer.show(step.position)
    except BrokenPipeError:
        discard_buffered()
        context.exit(BROKEN_PIPE)
    except (SourceError, StateError, OSError) as error:
        raise UnreadableError(str(error)) from error
    context.exit(VIOLATIONS if has_opened else CLEAN)


def _recorded(
    context: click.Context, source: str | None, *, is_sample: bool
) -> tuple[str, Iterator[LoggedRecord]]:
    """Return the name of a recorded source and its records."""
    if is_sample:
        if source is not None:
            raise click.UsageError("--sample is a source: name no SOURCE")
        from assignors.replay.sample import incident_file  # noqa: PLC0415 - only who asks pays

        source = str(context.with_resource(as_file(incident_file())))
    if source is None:
        words = "name a cluster with --bootstrap, a SOURCE (- for standard input), or try --sample"
        raise click.UsageError(words)
    raws: Iterator[Raw]
    if source == "-":
        raws = records_of_standard_input()
    else:
        with needed_by("watch", "replay"):
            raws = open_source(source, say=_note)
    return "the sample" if is_sample else source, logged_records(raws)


def _sink(place: str, bootstrap: str | None) -> Sink:
    """Return what sends alerts to a URL or appends them to a file."""
    from assignors.watch.sinks import AlertFile, Alertmanager  # noqa: PLC0415 - only who asks pays

    if "://" not in place:
        return AlertFile(place)
    labels = {} if bootstrap is None else {"cluster": bootstrap}
    try:
        return Alertmanager(place, labels=labels, say=_note)
    except ValueError as error:
        raise click.UsageError(f"--alerts {error}") from error


def _served(address: str) -> Metrics:
    """Return the metrics, served on this address."""
    with needed_by("--metrics", "watch"):
        from assignors.watch.metrics import Metrics  # noqa: PLC0415 - only who asks pays
    try:
        return Metrics(address)
    except ValueError as error:
        raise click.UsageError(f"--metrics {error}") from error


def _note(text: str) -> None:
    click.echo(f"note: {text}", err=True)
