"""A Python member beside one of Java, Go or Node: it leads, the other writes, both read.

The two share a topic under a protocol that both speak; then the Python member shows what was said
in the group, and leaves. Start this first; it says when to start the other.

    python mixed_group.py [BOOTSTRAP] [TOPIC] [PROTOCOL]
"""

import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from kafka import KafkaAdminClient, KafkaConsumer
from kafka.errors import TopicAlreadyExistsError

from assignors import assignor_named
from assignors.clients.kafka_python import strategy

PARTITIONS, RECORDS = 6, 60


def named(protocol):
    """Ours, under the name that the other joins with: kafkajs calls round-robin its own way."""
    if protocol == "RoundRobinAssigner":
        return strategy(replace(assignor_named("roundrobin"), name=protocol))
    return strategy(protocol)


def poll_until(consumer, seen, is_done, patience_s=60):
    """What was read stands in `seen` by partition and offset."""
    until = time.monotonic() + patience_s
    while not is_done():
        assert time.monotonic() < until, "the group never got there"
        for partition, records in consumer.poll(timeout_ms=100).items():
            seen.update((partition.partition, record.offset) for record in records)


def show(when, consumer):
    print(f"{when}: python has", *sorted(place.partition for place in consumer.assignment()))


def main(bootstrap="localhost:9092", topic="orders", protocol="cooperative-sticky"):
    with suppress(TopicAlreadyExistsError):
        KafkaAdminClient(bootstrap_servers=bootstrap).create_topics(
            {topic: {"num_partitions": PARTITIONS, "replication_factor": 1}}
        )
    group, seen = f"{topic}-readers", set()
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=group,
        client_id="python",
        auto_offset_reset="earliest",
        partition_assignment_strategy=[named(protocol)],
    )
    consumer.subscribe([topic])
    poll_until(consumer, seen, lambda: len(consumer.assignment()) == PARTITIONS)
    show("alone", consumer)
    # What an earlier run left in the topic is read and put aside.
    ends = consumer.end_offsets(consumer.assignment())
    poll_until(
        consumer, seen, lambda: all(consumer.position(place) >= end for place, end in ends.items())
    )
    seen.clear()
    print("start the other member now", flush=True)
    poll_until(consumer, seen, lambda: len(consumer.assignment()) == PARTITIONS // 2, 600)
    show("together", consumer)
    poll_until(consumer, seen, lambda: len(seen) == RECORDS // 2)
    print(f"{len(seen)} of {RECORDS} records read", flush=True)
    look = Path(__file__).with_name("inspect_group.py")
    subprocess.run([sys.executable, look, bootstrap, group], check=True)  # noqa: S603 - our own
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
