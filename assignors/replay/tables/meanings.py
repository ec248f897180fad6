"""What columns mean that several tables have, or whose names need a sentence.

A column's own text stands below its field in `rows`; where there is none, this table has it. The
reference of the tables in the documentation is made of both. A column `actual_x` is `x` of what
happened.
"""

from __future__ import annotations

from collections.abc import Mapping

MEANINGS: Mapping[str, str] = {
    "group": "Name of the group (`group.id`).",
    "life": "Which life of that name, from 1: a group from its first record to its tombstone.",
    "kind": "Kind of group: `classic`, `consumer` (KIP-848), `share`, `streams`.",
    "generation": "The generation, or the group epoch of KIP-848.",
    "at_ms": "When it happened: the time of the record.",
    "from_ms": "When it began.",
    "to_ms": "When it ended; null while it lasts at the end of the records.",
    "joined": "Ids of members that the generation before did not have.",
    "until_ms": "When it ended; null while it lasts at the end of the records.",
    "topic": "Name of the topic.",
    "topic_id": "Id of the topic, where the record has one.",
    "partition": "Partition number.",
    "offset": "The committed offset.",
    "leader_epoch": "Epoch of the partition's leader that came with the commit.",
    "metadata": "Text that came with the commit.",
    "commit_ms": "When the offset was committed, by the record's own field.",
    "expire_ms": "When the offset expires, where the record has it (version 1).",
    "record_partition": "Partition of `__consumer_offsets` with the record; null where not known.",
    "record_offset": "Offset of the record there; null where not known.",
    "is_aborted": "Whether the transaction of the commit was aborted.",
    "protocol_type": "Type of the group's protocol: `consumer` for consumers.",
    "leader_id": "Member id of the leader, which computed the assignment (classic).",
    "leader_client_id": "Client id of the leader.",
    "member_id": "Id of the member.",
    "instance_id": "`group.instance.id` of a static member (KIP-345).",
    "client_id": "`client.id` of the member; in a classic group a static one keeps its first.",
    "host": "Host that the member connected from; for static ones as `client_id`.",
    "rack_id": "`client.rack` of the member.",
    "is_leader": "Whether it was the leader.",
    "rebalance_timeout_ms": "Its rebalance timeout (`max.poll.interval.ms`).",
    "session_timeout_ms": "Its `session.timeout.ms`.",
    "topics": "Topics it subscribed to.",
    "topic_regex": "The regular expression it subscribed to (KIP-848).",
    "claims_known": "Whether its bytes say what it owned.",
    "claimed_generation": "The generation that it claimed with.",
    "assigned": "Partitions it was assigned.",
    "member_epoch": "Its member epoch (KIP-848).",
    "notes": "What was odd, as codes.",
    "member_count": "Members.",
    "member_count_max": "The most members that a generation had.",
    "partition_count": "Partitions that are assigned.",
    "finding_count": "Findings.",
    "load_min": "Partitions of the member with the fewest.",
    "load_max": "Partitions of the member with the most.",
    "load_max_optimum": "The most that a member has under the best possible balance.",
    "balance_gap": "Sum of squared loads above the best possible.",
    "moved": "Partitions that left a member that is still in the group and subscribes to them.",
    "unassigned": "Partitions of subscribed topics that are not assigned.",
    "counts_inferred": "Whether partition counts are inferred from the group's own history.",
    "assignor": "Full name of the assignor that was tried.",
    "use_max": "Estimate: records a second of the busiest member.",
    "use_bound": "Estimate: no assignment has fewer records a second for its busiest member.",
    "lag": "Records that the group had not read when the generation began, by `--log-ends`.",
    "evidence": "What was seen, in a sentence.",
    "error": "Why it could not be read or computed, or which rules it breaks; else null.",
    "error_kind": "The same as a code.",
}
"""Column -> its meaning, in every table that has no text of its own for it."""
