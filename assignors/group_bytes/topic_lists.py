"""The topic lists of a group's Subscriptions: each different list is read once.

Most members have the list of the member before, byte for byte, which costs a comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

COUNT_LIMIT = 1_000_000
"""Longest array that Kafka 4.4 reads."""
NAME_LIMIT = 1 << 15
"""A length of so many bytes and more is negative: null."""
PLAIN_VERSIONS = {b"\0\1": 1, b"\0\2": 2, b"\0\3": 3}


@dataclass(slots=True)
class TopicLists:
    """The topic lists of M members: S different ones."""

    topics: list[tuple[str, ...]] = field(default_factory=list)
    list_of: list[int] = field(default_factory=list)
    """M: the list of each member, -1 where its bytes are not plain."""
    version: list[int] = field(default_factory=list)
    """M."""
    end: list[int] = field(default_factory=list)
    """M: where the topic list ends in the member's bytes."""
    names: dict[bytes, str] = field(default_factory=dict)
    """Every name that stands in a list."""


def topic_lists(blobs: Sequence[bytes]) -> TopicLists:
    """Return the topic lists. Cost: a comparison for a list that is known, else its length."""
    read = TopicLists()
    known: dict[bytes, int] = {}
    section, place = b"", -1
    for blob in blobs:
        version = PLAIN_VERSIONS.get(blob[:2], 0)
        if place < 0 or not blob.startswith(section, 2):
            names, end = _names(blob) if version else (None, 0)
            section = blob[2:end]
            place = -1 if names is None else known.get(section, -1)
            if names is not None and place < 0:
                place = known[section] = _new_section(read, names)
        read.list_of.append(place if version else -1)
        read.version.append(version)
        read.end.append(2 + len(section))
    return read


def _names(blob: bytes) -> tuple[list[bytes] | None, int]:
    """Return the names of a topic list and where it ends; `None` where it is not plain."""
    count = int.from_bytes(blob[2:6], "big")
    if count > min(COUNT_LIMIT, len(blob) // 2):
        return None, 0
    names = []
    place = 6
    try:
        for _ in range(count):
            end = place + 2 + (blob[place] << 8 | blob[place + 1])
            names.append(blob[place + 2 : end])
            place = end
    except IndexError:
        return None, 0
    return (names, place) if place <= len(blob) else (None, 0)


def _new_section(read: TopicLists, names: Sequence[bytes]) -> int:
    """Return the number of a list that is new, -1 where a name is odd or stands twice."""
    known = read.names
    for name in names:
        if name not in known:
            try:
                text = name.decode()
            except UnicodeDecodeError:
                return -1
            if len(name) >= NAME_LIMIT:
                return -1
            known[name] = text
    if len(set(names)) < len(names):
        return -1
    read.topics.append(tuple(map(known.__getitem__, names)))
    return len(read.topics) - 1
