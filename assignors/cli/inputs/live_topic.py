"""The records of a live topic for a command, with a bar that shows how far reading is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assignors.cli.outputs.progress import with_progress
from assignors.clients.librdkafka.settings import ClientSettings
from assignors.replay.decode.logged_records import of_groups
from assignors.replay.engines.by_group import no_group_matches
from assignors.replay.sources import Isolation, Raw, SourceError
from assignors.replay.sources.topic_by_consumer import open_topic
from wire.text import utf16_key


def live_records(
    settings: ClientSettings,
    *,
    wanted: re.Pattern[str] | None = None,
    since_ms: int | None = None,
    isolation: Isolation = Isolation.READ_COMMITTED,
) -> Iterator[Sequence[Raw]]:
    """Yield the records of a cluster's offsets topic, chunk by chunk, of groups that match.

    Raises `SourceError` where the topic cannot be read, or has nothing that was asked for.
    Memory: a chunk.
    """
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
        raise SourceError(f"{topic.where}: {_why_nothing(wanted, others)}")


def _why_nothing(wanted: re.Pattern[str] | None, others: set[str]) -> str:
    if wanted is None or not others:
        return "no records"
    return no_group_matches(wanted, len(others), sorted(others, key=utf16_key))
