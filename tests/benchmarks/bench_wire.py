"""The codecs beside kafka-python's, in one run.

    python -m tests.benchmarks.bench_wire

A version 3 Subscription of 100 topics with 10 owned partitions each: microseconds of CPU, the
least of several runs, and the ratio; memory is the peak of one call.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable

from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from wire import Mode, Subscription, decode_subscription, encode_subscription

TOPICS = tuple(f"topic-{number:03d}" for number in range(100))
SUBSCRIPTION = Subscription(
    topics=TOPICS,
    owned={topic: tuple(range(10)) for topic in TOPICS},
    generation=7,
)
BLOB = encode_subscription(SUBSCRIPTION)
THEIRS = ConsumerProtocolSubscription.decode(BLOB)


def main() -> None:
    """Print the table."""
    assert THEIRS.encode() == BLOB, "both sides write the same bytes"
    print(f"{'':<20} {'ours us':>8} {'kB':>6} {'kafka-python us':>16} {'kB':>6} {'ratio':>6}")
    for name, ours, theirs in PAIRS:
        here, there = microseconds(ours), microseconds(theirs)
        print(
            f"{name:<20} {here:>8.0f} {peak(ours):>6.0f} {there:>16.0f} {peak(theirs):>6.0f} "
            f"{there / here:>6.1f}"
        )


PAIRS: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
    (
        "decode",
        lambda: decode_subscription(BLOB),
        lambda: ConsumerProtocolSubscription.decode(BLOB),
    ),
    (
        "decode, strict",
        lambda: decode_subscription(BLOB, mode=Mode.STRICT),
        lambda: ConsumerProtocolSubscription.decode(BLOB),
    ),
    ("encode", lambda: encode_subscription(SUBSCRIPTION), lambda: THEIRS.encode()),  # noqa: PLW0108
]


def microseconds(call: Callable[[], object], runs: int = 7, calls: int = 40) -> float:
    """Return the least time of one call over several runs."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        for _ in range(calls):
            call()
        best = min(best, time.process_time() - start)
    return best / calls * 1e6


def peak(call: Callable[[], object]) -> float:
    """Return the kilobytes that one call needs at its peak."""
    tracemalloc.start()
    call()
    kilobytes = tracemalloc.get_traced_memory()[1] / 1024
    tracemalloc.stop()
    return kilobytes


if __name__ == "__main__":
    main()
