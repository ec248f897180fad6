"""When racks count, as KIP-881 decides it."""

from __future__ import annotations

from collections.abc import Sequence

from assignors.model import Member, Topic


def partition_racks(topic: Topic) -> list[frozenset[str]]:
    """Return the racks of each partition; empty where nothing is known."""
    if not topic.racks:
        return [frozenset()] * topic.partition_count
    return [frozenset(rack for rack in racks if rack) for racks in topic.racks]


def racks_count(members: Sequence[Member], racks: Sequence[frozenset[str]]) -> bool:
    """Return whether the racks of these members and partitions can make a difference.

    Somebody has a rack, some partition has a replica there, and not every partition has
    replicas in all racks.
    """
    member_racks = {member.rack_id for member in members if member.rack_id}
    all_racks = frozenset[str]().union(*racks)
    return (
        bool(member_racks)
        and not member_racks.isdisjoint(all_racks)
        and any(replicas != all_racks for replicas in racks)
    )


def is_local(member: Member, replicas: frozenset[str]) -> bool:
    """Return whether a replica is in the member's rack; one without a rack is at home anywhere."""
    return not member.rack_id or member.rack_id in replicas
