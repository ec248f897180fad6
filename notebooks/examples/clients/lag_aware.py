"""An example of an assignor of one's own: the partitions that are furthest behind are dealt first.

It shows how to write one, not how to handle lag: it moves nearly everything in each round, and lag
is what the owner before left. For groups with skewed traffic there is `cooperative-weighted`.

All that is needed is a function from a `Group` to a `Rebalance`, and an `Assignor` around it.
kafka-python takes it by `strategy(LAG_AWARE)` or `strategy("lag_aware:LAG_AWARE")`; the command
takes `--assignor lag_aware:LAG_AWARE`, and the simulator and the checks take it too. `assign` asks
no broker: the whole group would wait for it, and kafka-python refuses it. It reads what a thread
looked up last (`watch`); where nothing was, all partitions count the same.

    python lag_aware.py [BOOTSTRAP] [TOPIC]
"""

import os
import sys
import threading
import time
from contextlib import suppress

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import TopicAlreadyExistsError

from assignors import Assignor, Rebalance
from assignors.clients.kafka_python import strategy

LAGS = {}
"""(topic, number) -> how many records the group had still to read when `watch` looked last."""


def watch(topic, looked, stopped):
    """Look the lags up each second, in a thread and with a consumer of its own."""
    asking = KafkaConsumer(bootstrap_servers=os.environ["BOOTSTRAP"], group_id=os.environ["GROUP"])
    while not stopped.is_set():
        numbers = asking.partitions_for_topic(topic) or ()
        ends = asking.end_offsets([TopicPartition(topic, number) for number in numbers])
        LAGS.update({tuple(one): end - (asking.committed(one) or 0) for one, end in ends.items()})
        looked.set()
        stopped.wait(1)
    asking.close()


def assign(group):
    """Give each partition, the longest queue first, to whoever has least to read by then."""
    load = {member.member_id: 0 for member in group.members}
    given = {member.member_id: {} for member in group.members}
    places = [
        (name, number)
        for name, topic in group.cluster.topics.items()
        for number in range(topic.partition_count)
    ]
    for topic, number in sorted(places, key=lambda place: (-LAGS.get(place, 1), place)):
        takers = [member.member_id for member in group.members if topic in member.topics]
        if takers:
            lightest = min(takers, key=lambda member_id: (load[member_id], member_id))
            load[lightest] += LAGS.get((topic, number), 1)
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
        partition_assignment_strategy=[strategy(LAG_AWARE)],
    )
    consumer.subscribe([os.environ["TOPIC"]])
    return consumer


def is_shared(consumers, count):
    """Whether each has some of so many partitions, and no two have the same."""
    counts = [len(consumer.assignment()) for consumer in consumers]
    return all(counts) and sum(counts) == count


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

    looked, stopped = threading.Event(), threading.Event()
    watching = threading.Thread(target=watch, args=(topic, looked, stopped), daemon=True)
    watching.start()
    assert looked.wait(30), "nobody answers"
    members, seen = {name: member(name) for name in "ab"}, set()
    until = time.monotonic() + 60
    # Whoever has not noticed yet that the other one joined still has all partitions.
    while not seen >= written or not is_shared(members.values(), len(waiting)):
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
    stopped.set()
    watching.join()
    print(f"{len(seen & written)} of {len(written)} records read")


if __name__ == "__main__":
    main(*sys.argv[1:])
