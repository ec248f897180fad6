"""Racks of members and replicas: whether they count, and who is local to what (KIP-881)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assignors.model import Cluster, Member, Topic
from assignors.problem import NOBODY, Bool, Int32, Int64, Problem
from wire.text import utf16_sorted


@dataclass(frozen=True, slots=True, kw_only=True)
class RackTable:
    """Which members are local to which partitions.

    Lengths: M members, S partitions and nonexistent ones, B sets of racks. Racks without members
    are left out; the last set is empty, that of nonexistent partitions.
    """

    matter: bool
    """Whether the sticky assignors look at racks at all."""
    has_racks: bool
    """Whether some member has a rack: then the order of partitions depends on racks anyway."""
    rack: Int32
    """int32[M]: -1 for none."""
    replica_set: Int32
    """int32[S]: row of `covers`."""
    covers: Bool
    """bool[B, R]: the set has a replica in the rack."""
    weight: Int64
    """int64[B]: how many members are in racks of the set."""

    def mismatch(self, member: Int32, partition: Int64) -> Bool:
        """Return, pair by pair, whether racks forbid the pair; never where they do not matter."""
        if not self.matter:
            return np.zeros(len(member), dtype=np.bool_)
        rack = self.rack[member]
        far: Bool = (rack != NOBODY) & ~self.covers[self.replica_set[partition], rack]
        return far


def partition_racks(topic: Topic) -> list[frozenset[str]]:
    """Return the racks of each partition; empty where nothing is known."""
    if not topic.racks:
        return [frozenset()] * topic.partition_count
    return [frozenset(racks) for racks in topic.racks]


def racks_count(members: Sequence[Member], racks: Sequence[frozenset[str]]) -> bool:
    """Return whether the racks of these members and partitions can make a difference.

    Somebody has a rack, some partition has a replica there, and not every partition has
    replicas in all racks.
    """
    member_racks = {member.rack_id for member in members if member.rack_id}
    if not member_racks:
        return False
    different = set(racks)
    all_racks = frozenset[str]().union(*different)
    return not member_racks.isdisjoint(all_racks) and any(
        replicas != all_racks for replicas in different
    )


def is_local(member: Member, replicas: frozenset[str]) -> bool:
    """Return whether a replica is in the member's rack; True for a member without a rack."""
    return not member.rack_id or member.rack_id in replicas


def rack_table(cluster: Cluster, problem: Problem, *, number_count: int) -> RackTable:
    """Return the racks as arrays; `number_count` is S.

    Cost: O(M + P), nothing for partitions where no member has a rack.
    """
    names = utf16_sorted({member.rack_id for member in problem.members if member.rack_id})
    index = {name: number for number, name in enumerate(names)}
    rack = np.array(
        [index[member.rack_id] if member.rack_id else NOBODY for member in problem.members],
        dtype=np.int32,
    )
    racks: list[frozenset[str]] = []
    if names:
        for topic in problem.topics:
            racks += partition_racks(cluster.topics[topic])
    sets = {replicas: number for number, replicas in enumerate(dict.fromkeys(racks))}
    covers = np.zeros((len(sets) + 1, max(len(names), 1)), dtype=np.bool_)
    for replicas, number in sets.items():
        covers[number, [index[name] for name in replicas if name in index]] = True
    replica_set = np.full(number_count, len(sets), dtype=np.int32)
    replica_set[: len(racks)] = [sets[replicas] for replicas in racks]
    members_in = np.bincount(rack[rack != NOBODY], minlength=covers.shape[1])
    return RackTable(
        matter=racks_count(problem.members, racks),
        has_racks=bool(names),
        rack=rack,
        replica_set=replica_set,
        covers=covers,
        weight=covers.astype(np.int64) @ members_in,
    )
