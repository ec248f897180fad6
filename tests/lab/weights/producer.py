"""Writes every record of a world when it is due.

    python -m tests.lab.weights.producer '{"world": {...}, "bootstrap": "..."}'

Standard input takes the start, nanoseconds of the monotonic clock, once "ready" was written;
standard output then says how late records were sent.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from kafka import KafkaProducer

from tests.lab.weights.world import World

TICK_S = 0.005


def main() -> None:
    """Write records."""
    chosen = json.loads(sys.argv[1])
    world = World(**chosen["world"])
    due_s, places = world.schedule
    due_ns = np.rint(due_s * 1e9).astype(np.int64).tolist()
    targets = [world.partitions[place] for place in places.tolist()]
    # Idempotent by default: a retry changes no order, so an offset says which record it is.
    producer = KafkaProducer(bootstrap_servers=chosen["bootstrap"])
    for topic in world.topics:
        producer.partitions_for(topic)
    print(json.dumps({"event": "ready"}), flush=True)
    begin_ns = int(sys.stdin.readline())
    used_ns = time.process_time_ns()
    late_ns = []
    for at_ns, (topic, partition) in zip(due_ns, targets, strict=True):
        while (now_ns := time.monotonic_ns() - begin_ns) < at_ns:
            time.sleep(TICK_S)
        producer.send(topic, b"", partition=partition)
        late_ns.append(now_ns - at_ns)
    producer.flush()
    late = {
        f"late_{each}_ms": round(float(np.percentile(late_ns, each)) / 1e6, 1) for each in (50, 99)
    }
    print(
        json.dumps({"event": "fed", **late, "used_ns": time.process_time_ns() - used_ns}),
        flush=True,
    )
    producer.close()


if __name__ == "__main__":
    main()
