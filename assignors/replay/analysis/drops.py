"""Commits below the last of their partition, and commits that were removed.

Commits of aborted transactions do not count, and a topic that was made again under its name begins
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assignors.ownership.changes import TopicPartition
from assignors.replay.tables.rows import OffsetRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """A commit below the last one of its partition, or a tombstone."""

    earlier: OffsetRow | None
    """The commit before `last`."""
    last: OffsetRow | None
    commit: OffsetRow


def drops_of(commits: Iterable[OffsetRow]) -> Iterator[Drop]:
    """Yield each commit below the last of its partition, and each tombstone after a commit.

    `commits` are in the order of the records. Cost: linear.
    """
    last: dict[TopicPartition, OffsetRow | None] = {}
    earlier: dict[TopicPartition, OffsetRow] = {}
    for commit in commits:
        if commit.is_aborted:
            continue
        place = commit.topic, commit.partition
        before = last.get(place)
        if commit.offset is None:
            if before is not None or place not in last:
                yield Drop(earlier=None, last=before, commit=commit)
            earlier.pop(place, None)
            last[place] = None
            continue
        if before is not None:
            assert before.offset is not None, "what is removed is None"
            if None is not before.topic_id != commit.topic_id is not None:
                earlier.pop(place, None)  # a topic of the same name
            else:
                if commit.offset < before.offset:
                    yield Drop(earlier=earlier.get(place), last=before, commit=commit)
                earlier[place] = before
        last[place] = commit
