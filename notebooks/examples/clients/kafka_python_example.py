"""From producer to consumers with kafka-python: two members share a topic, then one leaves.

python kafka_python_example.py [BOOTSTRAP] [TOPIC]
"""

import sys
import time
from contextlib import suppress

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.errors import TopicAlreadyExistsError

from assignors.clients.kafka_python import cooperative_sticky

PARTITIONS, RECORDS = 6, 60


def member(bootstrap, topic, name):
    consumer = KafkaConsumer(
        bootstrap_servers=bootstrap,
        group_id=f"{topic}-readers",
        client_id=name,
        auto_offset_reset="earliest",
        partition_assignment_strategy=[
            cooperative_sticky(on_note=lambda note: print("odd neighbour:", note))
        ],
    )
    consumer.subscribe([topic])
    return consumer


def poll_until(members, seen, is_done):
    """Take turns; what was read stands in `seen` by partition and offset."""
    until = time.monotonic() + 60
    while not is_done():
        assert time.monotonic() < until, "the group never got there"
        for consumer in members.values():
            for partition, records in consumer.poll(timeout_ms=100).items():
                seen.update((partition.partition, record.offset) for record in records)


def counts(members):
    return [len(consumer.assignment()) for consumer in members.values()]


def show(members):
    for name, consumer in members.items():
        print(f"  {name} has", *sorted(place.partition for place in consumer.assignment()))


def main(bootstrap="localhost:9092", topic="orders"):
    with suppress(TopicAlreadyExistsError):
        KafkaAdminClient(bootstrap_servers=bootstrap).create_topics(
            {topic: {"num_partitions": PARTITIONS, "replication_factor": 1}}
        )
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    sent = [
        producer.send(topic, str(number).encode(), partition=number % PARTITIONS)
        for number in range(RECORDS)
    ]
    producer.flush()
    written = {(one.partition, one.offset) for one in (future.get() for future in sent)}

    members, seen = {"a": member(bootstrap, topic, "a")}, set()
    poll_until(members, seen, lambda: counts(members) == [6])
    print("alone:")
    show(members)
    members["b"] = member(bootstrap, topic, "b")
    poll_until(members, seen, lambda: counts(members) == [3, 3])
    print("b came, and a kept what it could:")
    show(members)
    members.pop("b").close()
    poll_until(members, seen, lambda: counts(members) == [6] and seen >= written)
    print("b left:")
    show(members)
    print(f"{len(seen & written)} of {RECORDS} records read")
    members["a"].close()


if __name__ == "__main__":
    main(*sys.argv[1:])
