"""`dump`: writes the offsets topic of a cluster into a file that `replay` reads."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import click

from assignors.cli.inputs.cluster_options import cluster_settings, config_option
from assignors.cli.inputs.extras import needed_by, require_package
from assignors.cli.inputs.option_types import INSTANT, INSTANT_HELP, PATTERN, NewFile
from assignors.cli.outputs.forms import BROKEN_PIPE, UnreadableError, discard_buffered
from assignors.cli.outputs.progress import with_progress

STANDARD_OUTPUT = "-"
PARQUET = ".parquet"


@click.command()
@click.option("--bootstrap", metavar="HOST:PORT", help="Brokers to start from: HOST:PORT[,...].")
@config_option
@click.option(
    "--group",
    "wanted",
    type=PATTERN,
    help="Only records of groups whose name matches this regular expression, anywhere in it.",
)
@click.option("--since", "since_ms", type=INSTANT, help=f"Only records since: {INSTANT_HELP}.")
@click.option(
    "--read-committed/--read-uncommitted",
    "is_committed_only",
    default=True,
    show_default=True,
    help="Without commits of aborted and open transactions, or with them.",
)
@click.option(
    "-o",
    "--output",
    "output",
    type=NewFile(allow_dash=True),
    default=STANDARD_OUTPUT,
    show_default=True,
    help="A file that ends in .parquet, .jsonl or .jsonl.gz; -: JSON lines to standard output.",
)
@click.pass_context
def dump(
    context: click.Context,
    *,
    bootstrap: str | None,
    config: str | None,
    wanted: re.Pattern[str] | None,
    since_ms: int | None,
    is_committed_only: bool,
    output: str,
) -> None:
    """Write the offsets topic of a cluster into a file that replay reads.

    Reads __consumer_offsets up to where it ends now, then stops. Joins no group, commits nothing;
    needs the permission to describe and read the topic. The file has names of groups, members'
    hosts and client ids: see docs/dump.md.

    Exit code 2 when the cluster cannot be read, or nothing in it was asked for.
    """
    with needed_by("dump", "dump"):
        from assignors.replay import dump as dumping  # noqa: PLC0415 - an extra
        from assignors.replay.sources import Isolation, SourceError  # noqa: PLC0415 - as above
        from assignors.replay.sources.writing import json_lines  # noqa: PLC0415 - as above

    _check_name(output)
    cluster = cluster_settings(bootstrap, config)
    isolation = Isolation.READ_COMMITTED if is_committed_only else Isolation.READ_UNCOMMITTED
    asked: dict[str, Any] = {"group": wanted, "since_ms": since_ms, "isolation": isolation}
    asked["progress"] = lambda chunks, count: with_progress(
        chunks, count, "offsets", lambda chunk: chunk.offset_count
    )
    try:
        if output == STANDARD_OUTPUT:
            records = chain.from_iterable(dumping.live_records(cluster, **asked))
            count = _print(json_lines(records))
        else:
            count = dumping.dump(cluster, output, **asked)
    except BrokenPipeError:
        discard_buffered()
        context.exit(BROKEN_PIPE)
    except (SourceError, OSError) as error:
        raise UnreadableError(str(error)) from error
    sys.stderr.write(f"wrote {count:,} records to {output}\n")


def _check_name(output: str) -> None:
    """Refuse a name whose form nobody could read."""
    from assignors.replay.sources import is_json_lines  # noqa: PLC0415 - as above

    place = Path(output)
    if output != STANDARD_OUTPUT and place.suffix != PARQUET and not is_json_lines(place):
        raise click.UsageError(f"{output}: ends neither in .parquet nor in .jsonl or .jsonl.gz")
    if place.suffix == PARQUET:
        require_package("pyarrow", "dump", "dump")


def _print(lines: Iterable[str]) -> int:
    count = 0
    for line in lines:
        sys.stdout.write(line)
        count += 1
    sys.stdout.flush()
    return count
