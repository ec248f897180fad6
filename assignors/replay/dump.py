"""Write the offsets topic of a cluster into a file that `replay` reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path

from assignors.clients.librdkafka.settings import ClientSettings
from assignors.replay.decode.logged_records import of_groups
from assignors.replay.engines.by_group import no_group_matches
from assignors.replay.sources import Isolation, Raw, SourceError
from assignors.replay.sources.topic_by_consumer import Chunk, open_topic
from assignors.replay.sources.writing import write_records
from wire.text import utf16_key

Progress = Callable[[Iterable[Chunk], int], Iterable[Chunk]]
"""Passes on the chunks of a topic with so many offsets, and may show how far reading is."""


def dump(
    cluster: ClientSettings,
    path: str | PathLike[str],
    *,
    group: re.Pattern[str] | None = None,
    since_ms: int | None = None,
    isolation: Isolation = Isolation.READ_COMMITTED,
    progress: Progress = lambda chunks, _: chunks,
) -> int:
    """Write the records of a cluster's offsets topic into a file; return how many there are.

    The path ends in `.parquet`, `.jsonl` or `.jsonl.gz`; a file is there only once it is whole.
    `group` is searched in the names of groups, `since_ms` is the time of the first record.
    Raises `SourceError` as `live_records`, and `OSError` where the file cannot be written.
    """
    chunks = live_records(
        cluster, group=group, since_ms=since_ms, isolation=isolation, progress=progress
    )
    return write_whole(path, chunks)


def live_records(
    cluster: ClientSettings,
    *,
    group: re.Pattern[str] | None = None,
    since_ms: int | None = None,
    isolation: Isolation = Isolation.READ_COMMITTED,
    progress: Progress = lambda chunks, _: chunks,
) -> Iterator[Sequence[Raw]]:
    """Yield the records of a cluster's offsets topic, chunk by chunk, of groups that match.

    Raises `SourceError` where the topic cannot be read, or has nothing that was asked for.
    Memory: a chunk.
    """
    others: set[str] = set()
    is_empty = True
    with open_topic(cluster, isolation=isolation, since_ms=since_ms) as topic:
        for chunk in progress(topic.chunks, topic.offset_count):
            raws = chunk.raws if group is None else list(of_groups(chunk.raws, group, others))
            is_empty = is_empty and not raws
            yield raws
    if is_empty:
        words = "no records"
        if group is not None and others:
            words = no_group_matches(group, len(others), sorted(others, key=utf16_key))
        raise SourceError(f"{topic.where}: {words}")


def write_whole(path: str | PathLike[str], chunks: Iterable[Sequence[Raw]]) -> int:
    """Write records into a file that is there only once it is whole; return how many."""
    place = Path(path)
    part = place.with_name(f".part-{place.name}")
    try:
        count = write_records(part, chunks)
        part.replace(place)
        return count
    finally:
        part.unlink(missing_ok=True)
