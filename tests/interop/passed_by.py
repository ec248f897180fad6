"""Whose fault a record is that nobody reports: what the broker knows of it.

A record is lost to a group in one of four ways, and each leaves another trace. The writer never
wrote it: then the log does not have it. A member took it and did not say so, the program's fault
or the client's: then a commit passes it by while that member owns the partition. A member started
behind it, at the end of the log or where it stood long ago: then that member's first report of
the partition lies behind it although nothing was committed yet. Or its line was lost on the way
to the judge: then nothing else is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, TopicPartition

from tests.interop.audit import PATIENCE_S, offsets_topic
from tests.interop.events import Event, Partition
from tests.interop.ledger import first_reader, owned_at, owned_by
from wire.records import decode_record

OFFSET_COMMIT = b"\x00\x01"
"""How the key of a committed offset begins."""

AROUND_MS = 2000
"""Errors this long before and after the commit are told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """An offset that somebody committed for the group."""

    partition: Partition
    offset: int
    t_ms: int
    """By the broker's clock, which is everybody's."""


def commits(bootstrap: str, group: str, *, since: Mapping[Partition, int]) -> list[Commit]:
    """Every offset the group committed, in order for each partition."""
    found = []
    for key, value in offsets_topic(bootstrap, since):
        if key is None or not key.startswith(OFFSET_COMMIT):
            continue
        record = decode_record(key, value)
        if record.key and record.value and record.key["group"] == group:
            found.append(
                Commit(
                    partition=(record.key["topic"], record.key["partition"]),
                    offset=record.value["offset"],
                    t_ms=record.value["commitTimestamp"],
                )
            )
    return found


def told(
    partition: Partition, sequence: int, *, events: Sequence[Event], made: Iterable[Commit]
) -> str:
    """Who reported what is around a record nobody read, and who had it when it was passed by.

    `made` are the group's commits. The sequence number of a record is its offset.
    """
    before, after = (first_reader(events, partition, sequence + step) for step in (-1, 1))
    text = f"the one before by {before or 'nobody'}, the one after by {after or 'nobody'}"
    passing = [one for one in made if one.partition == partition and one.offset > sequence]
    if not passing:
        return f"{text}; no commit passes it by"
    first = min(passing, key=lambda one: one.t_ms)
    owners = owners_at(events, partition, first.t_ms)
    errors = [
        f"{event.member}: {event.text}"
        for event in events
        if event.kind == "error" and event.member in owners
        if abs(event.t_ms - first.t_ms) <= AROUND_MS
    ]
    return (
        f"{text}; passed by at {first.t_ms} by a commit of {first.offset} "
        f"while {' and '.join(owners) or 'nobody'} had it, who said {errors or 'nothing'}"
    )


def owners_at(events: Sequence[Event], partition: Partition, t_ms: int) -> list[str]:
    """Who owned a partition at a moment, by their own lines."""
    return sorted(
        {
            one.member_id
            for one in owned_by(events)
            if one.topic_partition == partition and owned_at(one, t_ms)
        }
    )


def in_the_log(bootstrap: str, partition: Partition, offset: int) -> str:
    """The value of the record at an offset; empty where there is none."""
    reader = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "audit", "enable.auto.commit": False}
    )
    try:
        reader.assign([TopicPartition(*partition, offset)])
        (message,) = reader.consume(1, PATIENCE_S) or (None,)
        if message is None or message.error() or message.offset() != offset:
            return ""
        value = message.value()
        return value if isinstance(value, str) else (value or b"").decode()
    finally:
        reader.close()
