"""The offsets of a group, read by its leader's own client: a thousand partitions at a time.

Every question is awaited in the client's event loop, between its other requests, so that nothing
is kept waiting. A partition whose offset cannot be read is left out: what was known of it before
stays.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

PARTITIONS_MAX = 1000
"""Partitions of one request: a larger one is encoded and decoded in one go, heartbeats wait."""

TIMEOUT_S = 10.0
"""How long a client may repeat the question for committed offsets."""

Partition = tuple[str, int]
Offsets = dict[str, list[int | None]]
Found = Iterable[tuple[Partition, int]]
"""Partitions with their offsets; a negative one is not known."""


async def read_offsets(
    partition_counts: Mapping[str, int],
    *,
    leader_of: Callable[[Partition], int | None],
    log_ends: Callable[[int, Sequence[Partition]], Awaitable[Found]],
    committed: Callable[[Sequence[Partition]], Awaitable[Found]],
    client_error: type[Exception],
) -> tuple[Offsets, Offsets]:
    """Return the log ends and the committed offsets of topics, `None` where they cannot be read.

    `leader_of` returns the broker that leads a partition, `log_ends` asks a broker and `committed`
    the group's coordinator. Raises the first `client_error` where nothing can be read. Two
    requests for each thousand partitions, more where several brokers lead them.
    """
    ends, read = (_unknown(partition_counts) for _ in range(2))
    errors: list[Exception] = []
    has_read = False
    for part in _parts(partition_counts):
        questions = [(ends, partial(log_ends, *led)) for led in _by_leader(part, leader_of)]
        for offsets, question in (*questions, (read, partial(committed, part))):
            try:
                for (topic, number), offset in await question():
                    offsets[topic][number] = offset
                has_read = True
            except client_error as error:
                errors.append(error)
    if errors and not has_read:
        raise errors[0]
    return ends, read


def _by_leader(
    partitions: Sequence[Partition], leader_of: Callable[[Partition], int | None]
) -> list[tuple[int, list[Partition]]]:
    """Return partitions by the broker that leads them; without those whose leader is not known."""
    found: dict[int, list[Partition]] = {}
    for partition in partitions:
        broker = leader_of(partition)
        if broker is not None and broker >= 0:
            found.setdefault(broker, []).append(partition)
    return list(found.items())


def _parts(partition_counts: Mapping[str, int]) -> Iterator[list[Partition]]:
    """Yield all partitions, a thousand at a time."""
    every = (
        (topic, number) for topic, count in partition_counts.items() for number in range(count)
    )
    while part := list(islice(every, PARTITIONS_MAX)):
        yield part


def _unknown(partition_counts: Mapping[str, int]) -> Offsets:
    return {topic: [None] * count for topic, count in partition_counts.items()}
