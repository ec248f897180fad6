"""confluent-kafka takes no assignor from outside. What the toolkit does for its users: look.

Two members share a topic. What they said and what their leader answered stands in the broker's own
topic; it is read there, decoded, and checked.

    python confluent_example.py [BOOTSTRAP] [TOPIC]
"""

import sys
import time

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic

from assignors import Cluster, Group, Member
from assignors.checks import check
from wire.records import decode_record, members_of

PARTITIONS, RECORDS = 6, 60
OFFSETS = "__consumer_offsets"


def member(bootstrap, topic, name):
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": f"{topic}-readers",
            "client.id": name,
            "auto.offset.reset": "earliest",
            "partition.assignment.strategy": "cooperative-sticky",
        }
    )
    consumer.subscribe([topic])
    return consumer


def poll_until(members, seen, is_done):
    """Take turns; what was read stands in `seen` by partition and offset."""
    until = time.monotonic() + 60
    while not is_done():
        assert time.monotonic() < until, "the group never got there"
        for consumer in members.values():
            message = consumer.poll(0.05)
            if message is not None and not message.error():
                seen.add((message.partition(), message.offset()))


def counts(members):
    return [len(consumer.assignment()) for consumer in members.values()]


def newest_record(bootstrap, group):
    """The last word of the broker about the group."""
    reader = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "unused", "enable.partition.eof": True}
    )
    found = None
    for number in reader.list_topics(OFFSETS).topics[OFFSETS].partitions:
        reader.assign([TopicPartition(OFFSETS, number, OFFSET_BEGINNING)])
        # The end of a partition comes as an error.
        while not (message := reader.poll(10)).error():
            record = decode_record(message.key(), message.value())
            if record.name == "GROUP_METADATA" and record.key["group"] == group:
                found = record
    reader.close()
    return found


def main(bootstrap="localhost:9092", topic="orders"):
    admin = AdminClient({"bootstrap.servers": bootstrap})
    try:
        admin.create_topics([NewTopic(topic, PARTITIONS, 1)])[topic].result()
    except KafkaException as failure:
        if failure.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
    producer, written = Producer({"bootstrap.servers": bootstrap}), set()

    def delivered(error, message):
        assert error is None, error
        written.add((message.partition(), message.offset()))

    for number in range(RECORDS):
        value, place = str(number).encode(), number % PARTITIONS
        producer.produce(topic, value, partition=place, on_delivery=delivered)
    producer.flush()

    members, seen = {"a": member(bootstrap, topic, "a")}, set()
    poll_until(members, seen, lambda: counts(members) == [6])
    members["b"] = member(bootstrap, topic, "b")
    poll_until(members, seen, lambda: counts(members) == [3, 3] and seen >= written)
    print(f"{len(seen & written)} of {RECORDS} records read")

    record = newest_record(bootstrap, f"{topic}-readers")
    print("chosen:", record.value["protocol"])
    told, given = [], {}
    for one in sorted(members_of(record), key=lambda one: one.member_id):
        wrote = one.subscription.value
        odd = [str(note.code) for note in one.subscription.notes]
        print(f"  {one.member_id.partition('-')[0]} wrote version {wrote.version}, odd:", *odd)
        told.append(Member(member_id=one.member_id, topics=wrote.topics, owned=wrote.owned))
        given[one.member_id] = one.assignment.value.partitions
    group = Group(cluster=Cluster.of({topic: PARTITIONS}), members=tuple(told))
    report = check(group, given)
    print("rules broken:", len(report.violations))
    print("short of the best balance by:", report.gaps["balance_gap"])
    for one in members.values():
        one.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
