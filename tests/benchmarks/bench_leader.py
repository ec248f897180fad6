"""A whole leader's round, bytes to bytes, beside kafka-python's cooperative-sticky in the same run.

    python -m tests.benchmarks.bench_leader [members ...]

One member of a balanced group has just left. Both sides get the same Subscription bytes, decode
them, assign, and encode an Assignment for every member. CPU milliseconds, the least of several
runs for us, one run for kafka-python, which takes seconds; memory is the peak that Python and
numpy allocate in one more run.
"""

from __future__ import annotations

import logging
import sys
import time
import tracemalloc
from collections.abc import Callable

from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.protocol.consumer.group import JoinGroupResponse
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from assignors import Cluster, assignor_named, lead
from wire import Subscription, encode_subscription

SIZES = ((30, 300, 3), (100, 1_000, 10), (1_000, 10_000, 100))
"""Members before one leaves, partitions, topics."""

GENERATION = 5


class KafkaPythonCluster:
    """The little of kafka-python's ClusterMetadata that its assignors ask for."""

    def __init__(self, partition_counts: dict[str, int]) -> None:
        self._partitions = {topic: set(range(count)) for topic, count in partition_counts.items()}

    def topics(self) -> set[str]:
        return set(self._partitions)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        found = self._partitions.get(topic)
        return None if found is None else set(found)


def group(
    member_count: int, partition_count: int, topic_count: int
) -> tuple[dict[str, int], dict[str, bytes]]:
    """Return topics and the bytes of all members but the one that left, dealt round robin."""
    counts = {f"topic-{n:03}": partition_count // topic_count for n in range(topic_count)}
    owned: list[dict[str, list[int]]] = [{} for _ in range(member_count)]
    pairs = [(topic, partition) for topic, count in counts.items() for partition in range(count)]
    for position, (topic, partition) in enumerate(pairs):
        owned[position % member_count].setdefault(topic, []).append(partition)
    blobs = {
        f"member-{number:05}": encode_subscription(
            Subscription(
                topics=tuple(counts),
                owned={topic: tuple(numbers) for topic, numbers in claims.items()},
                generation=GENERATION,
            )
        )
        for number, claims in enumerate(owned)
    }
    del blobs["member-00000"]
    return counts, blobs


def ours(counts: dict[str, int], blobs: dict[str, bytes]) -> dict[str, bytes]:
    """Lead the round."""
    led = lead(assignor_named("cooperative-sticky"), Cluster.of(counts), blobs)
    return dict(led.assignments)


def theirs(counts: dict[str, int], blobs: dict[str, bytes]) -> dict[str, bytes]:
    """Lead it as kafka-python's coordinator does."""
    member = JoinGroupResponse.JoinGroupResponseMember
    members = [
        member(
            member_id=member_id,
            group_instance_id=None,
            metadata=ConsumerProtocolSubscription.decode(blob),
        )
        for member_id, blob in blobs.items()
    ]
    answer = CooperativeStickyAssignor().assign(KafkaPythonCluster(counts), members)
    return {member_id: assigned.encode() for member_id, assigned in answer.items()}


def cpu_ms(run: Callable[[], object], *, runs: int) -> float:
    """Return the least CPU time of some runs."""
    spent = []
    for _ in range(runs):
        begin = time.process_time()
        run()
        spent.append(time.process_time() - begin)
    return min(spent) * 1000


def peak_mb(run: Callable[[], object]) -> float:
    """Return the most that one run allocates at a time."""
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def main(arguments: list[str]) -> None:
    """Print the table."""
    logging.disable(logging.CRITICAL)
    chosen = {int(argument) for argument in arguments}
    print("members x partitions / topics   ours, ms  kafka-python, ms   ratio  ours, peak MB")
    for size in SIZES:
        if chosen and size[0] not in chosen:
            continue
        counts, blobs = group(*size)
        quick = cpu_ms(lambda: ours(counts, blobs), runs=5)  # noqa: B023 - called at once
        slow = cpu_ms(lambda: theirs(counts, blobs), runs=3 if size[0] <= 100 else 1)  # noqa: B023
        peak = peak_mb(lambda: ours(counts, blobs))  # noqa: B023
        name = f"{size[0]:,} x {size[1]:,} / {size[2]}"
        print(f"{name:30} {quick:9.2f} {slow:17,.0f} {slow / quick:6,.0f}x {peak:14.1f}")


if __name__ == "__main__":
    main(sys.argv[1:])
