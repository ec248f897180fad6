"""From producer to consumers with aiokafka: two members share a topic, then one leaves.

python aiokafka_example.py [BOOTSTRAP] [TOPIC]
"""

import asyncio
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from assignors.clients.aiokafka import strategy

PARTITIONS, RECORDS = 6, 60


async def member(bootstrap, topic, name):
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=bootstrap,
        group_id=f"{topic}-readers",
        client_id=name,
        auto_offset_reset="earliest",
        partition_assignment_strategy=[strategy("sticky")],
    )
    await consumer.start()
    return consumer


async def poll_until(members, seen, is_done):
    """Take turns; what was read stands in `seen` by partition and offset."""
    async with asyncio.timeout(60):
        while not is_done():
            for consumer in members.values():
                for partition, records in (await consumer.getmany(timeout_ms=100)).items():
                    seen.update((partition.partition, record.offset) for record in records)


def counts(members):
    return [len(consumer.assignment()) for consumer in members.values()]


def show(members):
    for name, consumer in members.items():
        print(f"  {name} has", *sorted(place.partition for place in consumer.assignment()))


async def main(bootstrap="localhost:9092", topic="orders"):
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    await admin.start()
    # Where the topic exists, the answer says so and nothing is raised.
    await admin.create_topics([NewTopic(topic, PARTITIONS, 1)])
    await admin.close()
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        sent = [
            await producer.send(topic, str(number).encode(), partition=number % PARTITIONS)
            for number in range(RECORDS)
        ]
        written = {(one.partition, one.offset) for one in await asyncio.gather(*sent)}

    members, seen = {"a": await member(bootstrap, topic, "a")}, set()
    await poll_until(members, seen, lambda: counts(members) == [6])
    print("alone:")
    show(members)
    members["b"] = await member(bootstrap, topic, "b")
    await poll_until(members, seen, lambda: counts(members) == [3, 3])
    print("b came, and a got back what it could:")
    show(members)
    await members.pop("b").stop()
    await poll_until(members, seen, lambda: counts(members) == [6] and seen >= written)
    print("b left:")
    show(members)
    print(f"{len(seen & written)} of {RECORDS} records read")
    await members["a"].stop()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
