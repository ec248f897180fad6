"""An assignor of one's own: the partitions that are furthest behind are dealt first.

All that is needed is a function from a `Group` to a `Rebalance`, and an `Assignor` around it.
kafka-python takes it by `strategy(LAG_AWARE)` or `strategy("lag_aware:LAG_AWARE")`; the command
takes `--assignor lag_aware:LAG_AWARE`, and the simulator and the checks take it too.

    python lag_aware.py [BOOTSTRAP] [TOPIC]
"""

import os
import sys
import time
from contextlib import suppress

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import TopicAlreadyExistsError

from assignors import Assignor, Rebalance
from assignors.clients.kafka_python import strategy


def lags(topics):
    """How many records the group has still to read, by topic and number."""
    asking = KafkaConsumer(bootstrap_servers=os.environ["BOOTSTRAP"], group_id=os.environ["GROUP"])
    places = [
        TopicPartition(name, number)
        for name, topic in topics.items()
        for number in range(topic.partition_count)
    ]
    ends = asking.end_offsets(places)
    found = {tuple(place): ends[place] - (asking.committed(place) or 0) for place in places}
    asking.close()
    return found


def assign(group):
    """Give each partition, the longest queue first, to whoever has least to read by then."""
    load = {member.member_id: 0 for member in group.members}
    given = {member.member_id: {} for member in group.members}
    for (topic, number), lag in sorted(lags(group.cluster.topics).items(), key=lambda one: -one[1]):
        takers = [member.member_id for member in group.members if topic in member.topics]
        if takers:
            lightest = min(takers, key=lambda member_id: (load[member_id], member_id))
            load[lightest] += lag
            given[lightest].setdefault(topic, []).append(number)
    return Rebalance(
        assignment={
            member_id: {topic: tuple(sorted(numbers)) for topic, numbers in share.items()}
            for member_id, share in given.items()
        }
    )


LAG_AWARE = Assignor(family="mine", name="lag-aware", assign=assign)


def member(name):
    consumer = KafkaConsumer(
        bootstrap_servers=os.environ["BOOTSTRAP"],
        group_id=os.environ["GROUP"],
        client_id=name,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        partition_assignment_strategy=[strategy("lag_aware:LAG_AWARE")],
    )
    consumer.subscribe([os.environ["TOPIC"]])
    return consumer


def main(bootstrap="localhost:9092", topic="orders"):
    os.environ.update(BOOTSTRAP=bootstrap, TOPIC=topic, GROUP=f"{topic}-readers")
    waiting = {0: 90, 1: 40, 2: 30, 3: 20}
    with suppress(TopicAlreadyExistsError):
        KafkaAdminClient(bootstrap_servers=bootstrap).create_topics(
            {topic: {"num_partitions": len(waiting), "replication_factor": 1}}
        )
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    sent = [
        producer.send(topic, str(number).encode(), partition=partition)
        for partition, count in waiting.items()
        for number in range(count)
    ]
    producer.flush()
    written = {(one.partition, one.offset) for one in (future.get() for future in sent)}

    members, seen = {name: member(name) for name in "ab"}, set()
    until = time.monotonic() + 60
    while not seen >= written or not all(one.assignment() for one in members.values()):
        assert time.monotonic() < until, "the group never got there"
        for consumer in members.values():
            for place, records in consumer.poll(timeout_ms=100).items():
                seen.update((place.partition, record.offset) for record in records)
    for name, consumer in members.items():
        partitions = sorted(place.partition for place in consumer.assignment())
        print(
            f"{name} has", *partitions, "with", sum(waiting[one] for one in partitions), "records"
        )
        consumer.close()
    print(f"{len(seen & written)} of {len(written)} records read")


if __name__ == "__main__":
    main(*sys.argv[1:])
