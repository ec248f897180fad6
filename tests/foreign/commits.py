"""Requests about committed offsets in random histories: of members, of others, of transactions.

Members commit what they like under the generation or epoch that they know, now and then an old one
or one to come; consumers outside the group commit with generation -1. Transactions are left open,
committed or aborted; an administrator deletes offsets.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from assignors.simulation.timed.protocols.effects import Record, Reply
from assignors.simulation.timed.protocols.kafka.messages import (
    EndTransaction,
    ErrorCode,
    OffsetCommit,
    OffsetCommitResponse,
    OffsetDelete,
    OffsetDeleteResponse,
    OffsetFetch,
    OffsetFetchResponse,
)
from assignors.simulation.timed.protocols.kafka.messages import OffsetsRequest as Request
from assignors.simulation.timed.protocols.kafka.records import OffsetRecord
from tests.foreign.operations import Operation, operation_of

Asked = tuple[Operation, Request]
Topics = tuple[str, ...]
START_MS = 1_000_000
"""What the judge's clock shows at the start."""
NEVER_MS = 2**40
KEEPING: tuple[dict[str, str], ...] = (
    {"offsets.retention.check.interval.ms": str(NEVER_MS)},
    {"offsets.retention.check.interval.ms": str(NEVER_MS)},
    {"offsets.retention.check.interval.ms": "15000", "offsets.retention.minutes": "1"},
)
"""How a broker keeps offsets: mostly for ever, or it looks for expired ones again and again."""
PRODUCERS = (7, 8)
ANSWERS = (OffsetCommitResponse, OffsetFetchResponse, OffsetDeleteResponse)


def asked(
    random: Random,
    member_id: str,
    instance_id: str | None,
    generation: int,
    topics: tuple[str, ...],
) -> Asked:
    """Return the next request about offsets, of a member that knows this generation."""
    dice = random.random()
    if dice < 0.12:
        return _fetch(random, member_id, generation, topics)
    if dice < 0.2:
        deleted = OffsetDelete(tuple(_partitions(random, topics)))
        return operation_of(deleted), deleted
    if dice < 0.28:
        producer, is_commit = random.choice(PRODUCERS), random.random() < 0.6
        ended = EndTransaction(producer, is_commit)
        return operation_of(ended), ended
    return _commit(random, member_id, instance_id, generation, topics)


def _commit(
    random: Random,
    member_id: str,
    instance_id: str | None,
    generation: int,
    topics: tuple[str, ...],
) -> Asked:
    kind = random.random()
    if kind < 0.15:
        member_id, instance_id, generation = "", None, -1
    elif kind < 0.18:
        instance_id = None
    elif kind < 0.2:
        instance_id = random.choice(("i0", "i1", "nobody"))
    elif kind < 0.22:
        member_id = random.choice(("", "nobody"))
    elif kind < 0.4:
        generation += random.choice((-2, -1, -1, 1))
    request = OffsetCommit(
        member_id,
        generation,
        tuple((*each, random.randint(0, 99)) for each in _partitions(random, topics)),
        instance_id,
        random.choice(PRODUCERS) if random.random() < 0.2 else -1,
        8 if random.random() < 0.15 else 10,
    )
    return operation_of(request), request


def _fetch(random: Random, member_id: str, generation: int, topics: Topics) -> Asked:
    partitions = _partitions(random, topics)
    is_outside = random.random() < 0.3
    member, epoch = (None, -1) if is_outside else (member_id, generation)
    epoch -= random.random() < 0.1
    is_stable = random.random() < 0.5
    request = OffsetFetch(tuple(partitions), member, epoch, is_stable)
    return operation_of(request), request


def _partitions(random: Random, topics: Topics) -> list[tuple[str, int]]:
    """Return one to four partitions, those of a topic together."""
    found = {(random.choice(topics), random.randint(0, 3)) for _ in range(random.randint(1, 4))}
    return sorted(found, key=lambda each: (each[0], random.random()))


def answer(reply: Reply, request: Request) -> dict[str, Any]:
    """Return an answer as the judge gives it."""
    response = reply.response
    assert isinstance(response, OffsetCommitResponse | OffsetFetchResponse | OffsetDeleteResponse)
    out: dict[str, Any] = {"number": reply.number, "error": int(response.error)}
    if response.error is not ErrorCode.NONE:
        return out
    parts: list[list[Any]] = []
    if isinstance(response, OffsetCommitResponse):
        assert isinstance(request, OffsetCommit)
        parts = [[topic, number, 0] for topic, number, _ in request.offsets]
    elif isinstance(response, OffsetFetchResponse):
        unstable = int(ErrorCode.UNSTABLE_OFFSET_COMMIT)
        parts = [
            [topic, number, unstable * ((topic, number) in response.unstable), offset]
            for topic, number, offset in response.offsets
        ]
    else:
        assert isinstance(request, OffsetDelete)
        used = int(ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC)
        parts = [[*each, used * (each[0] in response.subscribed)] for each in request.partitions]
    return out | {"partitions": parts}


def record(written: OffsetRecord, starts_ms: int = START_MS) -> dict[str, Any]:
    """Return a record as the judge gives it; the clock of ours began at `starts_ms`."""
    out = {"type": 1, "topic": written.topic, "partition": written.partition}
    if written.offset is None:
        return out
    return out | {"offset": written.offset, "at": written.at_ms - starts_ms}


def in_one_order(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of a step, tombstones of offsets sorted: in Kafka a map orders them."""
    gone = [each for each in records if each.get("type") == 1 and "offset" not in each]
    rest = [each for each in records if each not in gone]
    return [*sorted(gone, key=lambda each: (each["topic"], each["partition"])), *rest]


def logged(records: Sequence[Record]) -> list[Record]:
    """Return a batch in the order in which a reload counts it, the same as the judge's.

    Tombstones of offsets come first, by partition: in Kafka a map orders them.
    """

    def place(record: Record) -> tuple[bool, str, int]:
        if isinstance(record, OffsetRecord) and record.offset is None:
            return False, record.topic, record.partition
        return True, "", 0

    return sorted(records, key=place)
