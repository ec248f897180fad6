"""`dump`: writes the offsets topic of a cluster into a file that `replay` reads."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assignors.cli.inputs.cluster_options import cluster_settings, config_option
from assignors.cli.inputs.extras import needed_by, require_package
from assignors.cli.inputs.option_types import INSTANT, INSTANT_HELP, PATTERN, NewFile
from assignors.cli.outputs.forms import BROKEN_PIPE, UnreadableError, discard_buffered
from assignors.cli.outputs.progress import with_progress
from wire.text import utf16_key

if TYPE_CHECKING:
    from assignors.clients.librdkafka.settings import ClientSettings
    from assignors.replay.sources import Isolation, Raw

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
        from assignors.replay.sources import Isolation, SourceError  # noqa: PLC0415 - as above

    _check_name(output)
    chunks = live_records(
        cluster_settings(bootstrap, config),
        wanted=wanted,
        since_ms=since_ms,
        isolation=Isolation.READ_COMMITTED if is_committed_only else Isolation.READ_UNCOMMITTED,
    )
    try:
        count = written(chunks, output)
    except BrokenPipeError:
        discard_buffered()
        context.exit(BROKEN_PIPE)
    except (SourceError, OSError) as error:
        raise UnreadableError(str(error)) from error
    sys.stderr.write(f"wrote {count:,} records to {output}\n")


def live_records(
    settings: ClientSettings,
    *,
    wanted: re.Pattern[str] | None,
    since_ms: int | None,
    isolation: Isolation,
) -> Iterator[Sequence[Raw]]:
    """Yield the records of a cluster's offsets topic, chunk by chunk, of groups that match.

    Raises `SourceError` where the topic cannot be read, or has nothing that was asked for.
    Memory: a chunk.
    """
    from assignors.replay.decode.logged_records import of_groups  # noqa: PLC0415 - an extra
    from assignors.replay.engines.by_group import no_group_matches  # noqa: PLC0415 - as above
    from assignors.replay.sources import SourceError  # noqa: PLC0415 - as above
    from assignors.replay.sources.topic_by_consumer import open_topic  # noqa: PLC0415 - as above

    others: set[str] = set()
    is_empty = True
    with open_topic(settings, isolation=isolation, since_ms=since_ms) as topic:
        for chunk in with_progress(
            topic.chunks, topic.offset_count, "offsets", lambda chunk: chunk.offset_count
        ):
            raws = chunk.raws if wanted is None else list(of_groups(chunk.raws, wanted, others))
            is_empty = is_empty and not raws
            yield raws
    if is_empty:
        words = "no records"
        if wanted is not None and others:
            words = no_group_matches(wanted, len(others), sorted(others, key=utf16_key))
        raise SourceError(f"{topic.where}: {words}")


def _check_name(output: str) -> None:
    """Refuse a name whose form nobody could read."""
    from assignors.replay.sources import is_json_lines  # noqa: PLC0415 - as above

    place = Path(output)
    if output != STANDARD_OUTPUT and place.suffix != PARQUET and not is_json_lines(place):
        raise click.UsageError(f"{output}: ends neither in .parquet nor in .jsonl or .jsonl.gz")
    if place.suffix == PARQUET:
        require_package("pyarrow", "dump", "dump")


def written(chunks: Iterable[Sequence[Raw]], output: str) -> int:
    """Write the records, and return how many; a file is there only once it is whole."""
    from assignors.replay.sources.writing import json_lines, write_records  # noqa: PLC0415 - as above

    if output == STANDARD_OUTPUT:
        count = 0
        for line in json_lines(chain.from_iterable(chunks)):
            sys.stdout.write(line)
            count += 1
        sys.stdout.flush()
        return count
    place = Path(output)
    part = place.with_name(f".part-{place.name}")
    try:
        count = write_records(part, chunks)
        part.replace(place)
        return count
    finally:
        part.unlink(missing_ok=True)
