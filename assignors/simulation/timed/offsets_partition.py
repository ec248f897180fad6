"""Which partition of `__consumer_offsets` has the records of a group.

The broker that leads this partition is the group's coordinator. Kafka hashes the group id as Java
hashes a string, over UTF-16 code units, so a client that computes it in another way looks for the
group at the wrong broker.

Source: `GroupCoordinatorService.partitionFor` and `Utils.abs` of Kafka 4.4, by which the smallest
32-bit number, which has no positive counterpart, is 0. `toPositive`, which is the rule for the keys
of a producer's records, is another one: it would give other partitions for half of all groups.
"""

from __future__ import annotations

from assignors.jvm.hash_order import string_hash

INT_MIN = -(1 << 31)
DEFAULT_PARTITIONS = 50
"""`offsets.topic.num.partitions`."""


def offsets_partition(group_id: str, partition_count: int = DEFAULT_PARTITIONS) -> int:
    """Return the partition of `__consumer_offsets` that has the records of a group.

    `partition_count` is `offsets.topic.num.partitions`, at least 1. A lone surrogate counts as the
    code unit that it is. Raises `ValueError` for less than one partition. Cost: O(length).

    >>> offsets_partition("my-group"), offsets_partition("polygenelubricants")
    (12, 0)
    """
    if partition_count < 1:
        raise ValueError(f"a topic has at least one partition, not {partition_count}")
    number = string_hash(group_id)
    return (0 if number == INT_MIN else abs(number)) % partition_count
