"""What the members of a group wrote, and whether its leader did well: whatever clients they are.

The last word about each group stands in the broker's own topic. It is read there, decoded, and
checked.

    python inspect_group.py [BOOTSTRAP] [GROUP]
"""

import sys

from kafka import KafkaConsumer, TopicPartition

from assignors import Cluster, Group, Member
from assignors.checks import check
from wire.records import decode_record, members_of

OFFSETS = "__consumer_offsets"


def newest_record(reader, group):
    """The broker's last word about the group."""
    numbers = sorted(reader.partitions_for_topic(OFFSETS))
    places = [TopicPartition(OFFSETS, number) for number in numbers]
    reader.assign(places)
    ends = reader.end_offsets(places)
    found = None
    while any(reader.position(place) < end for place, end in ends.items()):
        for messages in reader.poll(timeout_ms=100).values():
            for message in messages:
                record = decode_record(message.key, message.value)
                if record.name == "GROUP_METADATA" and record.key["group"] == group:
                    found = record
    return found


def main(bootstrap="localhost:9092", group="orders-readers"):
    reader = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    record = newest_record(reader, group)
    if record is None or record.value is None:
        sys.exit(f"no classic group {group} on record")
    print("chosen:", record.value["protocol"])
    told, given = [], {}
    for one in sorted(members_of(record), key=lambda one: one.member_id):
        wrote = one.subscription.require()
        odd = [str(note.code) for note in one.subscription.notes]
        print(f"  {one.member_id.partition('-')[0]} wrote version {wrote.version}, odd:", *odd)
        told.append(Member(member_id=one.member_id, topics=wrote.topics, owned=wrote.owned))
        given[one.member_id] = one.assignment.require().partitions
    topics = {topic for member in told for topic in member.topics}
    cluster = Cluster.of({topic: len(reader.partitions_for_topic(topic)) for topic in topics})
    report = check(Group(cluster=cluster, members=tuple(told)), given)
    print("rules broken:", len(report.violations))
    print("short of the best balance by:", report.gaps["balance_gap"])
    reader.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
