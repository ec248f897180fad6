"""What all members claim as (partition, member) pairs, and notes on what names no partition.

Claims that were read together are arrays by row and stay so; those of other members, if there are
any, stand behind them. Where nobody claims a partition that somebody else claims, which is nearly
always, one array of claimants says it all.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from assignors.arrays import Int32, Int64, names_of, partition_arrays
from assignors.claims.notes import out_of_range_note, unknown_topic_note
from assignors.claims.reading import Claim
from assignors.group_bytes.claim_rows import Claimed, ClaimRows
from assignors.model import Group, MemberNote
from assignors.problem import NOBODY, Problem


class Pairs(NamedTuple):
    """C claims, a pair that stands twice once."""

    partition: Int64
    """int64[C]."""
    member: Int32
    """int32[C]."""
    claimant: Int32 | None
    """As in `Claims`."""
    claim_count: Int64 | None = None
    """As in `Claims`."""


def pairs_of(
    problem: Problem, group: Group, rows: ClaimRows | None, alone: Mapping[int, Claim]
) -> tuple[Pairs, list[MemberNote]]:
    """Return who claims which partition, and notes on claims that were dropped.

    `rows` are the claims of members that were read together, `alone` those of others by position.
    Cost: O(P + C), and a sort where some partition is claimed twice.
    """
    notes: list[MemberNote] = []
    found = []
    if rows is not None and rows.owned.names == problem.topics:  # as in most groups
        found.append(rows.claimed(None))
    elif rows is not None:
        found.append(rows.claimed(problem.topic_numbers(rows.owned.names)))
    if alone or not found or found[0].topic is not None:
        notes = _unknown_topics(problem, group, rows, alone)
    if alone or rows is None:
        index = problem.topic_index()
        claimed = partition_arrays([claim.owned for claim in alone.values()], index)
        member = np.array(list(alone), dtype=np.int32)[claimed.member_of]
        found.append(Claimed(member, claimed.topic_of, claimed.number, None))
    existing = [_existing(problem, each) for each in found]
    wrong = [beyond for _, _, beyond in existing if beyond is not None]
    if wrong:
        notes += _out_of_range(problem, *map(np.concatenate, zip(*wrong, strict=True)))
    partition, member, _ = existing[0]
    if len(existing) > 1:
        partition = np.concatenate([partition, existing[1][0]])
        member = np.concatenate([member, existing[1][1]])
    is_counted = len(existing) == 1 and len(partition) == len(found[0].number)
    claim_count = found[0].claim_count if is_counted else None
    return _each_once(problem, partition, member, claim_count), notes


def _existing(
    problem: Problem, claimed: Claimed
) -> tuple[Int64, Int32, tuple[Int32, Int64, Int64] | None]:
    """Return partition and member of claims that exist; member, topic, number of those beyond.

    What is claimed of topics that nobody asks for is left out.
    """
    member, name, number, topic, _ = claimed
    beyond = None
    first = problem.first[:-1] if topic is None else problem.first[topic]
    if len(number):
        # Of a topic of -1 that is negative: no partition.
        size = (problem.first[1:] if topic is None else problem.first[topic + 1]) - first
        # As unsigned, negative numbers are large: one look at all of them instead of two.
        unsigned = number.view(np.uint32 if number.dtype == np.int32 else np.uint64)
        if int(unsigned[unsigned.argmax()]) >= size[size.argmin()]:  # faster than `max`, `min`
            exists = (number >= 0) & (number < size[name])
            if not exists.all():
                asked = np.arange(len(first)) if topic is None else topic
                wrong = ~exists & (asked[name] >= 0)
                if wrong.any():
                    beyond = member[wrong], asked[name[wrong]], number[wrong].astype(np.int64)
                member, name, number = member[exists], name[exists], number[exists]
    partition = first.take(name)
    partition += number
    return partition, member, beyond


def _each_once(
    problem: Problem, partition: Int64, member: Int32, claim_count: Int64 | None
) -> Pairs:
    """Return these pairs without repeats; `claim_count` is how many each member has, if known."""
    claimant = _only_claimants(problem, partition, member)
    if claimant is None:
        key = member * np.int64(problem.partition_count) + partition
        _, kept = np.unique(key, return_index=True)
        if len(kept) < len(key):
            kept.sort()
            partition, member, claim_count = partition[kept], member[kept], None
            claimant = _only_claimants(problem, partition, member)
    return Pairs(partition, member, claimant, claim_count)


def _only_claimants(problem: Problem, partition: Int64, member: Int32) -> Int32 | None:
    """Return who claims each partition, int32[P]; `None` where one stands twice."""
    partition_count = problem.partition_count
    if len(partition) > partition_count:
        return None
    claimant = np.empty(partition_count, dtype=np.int32)
    claimant.fill(NOBODY)
    if not len(partition):
        return claimant
    claimant[partition] = member
    return claimant if np.count_nonzero(claimant != NOBODY) == len(partition) else None


def _unknown_topics(
    problem: Problem, group: Group, rows: ClaimRows | None, alone: Mapping[int, Claim]
) -> list[MemberNote]:
    """Return a note for each member and topic claimed that the cluster does not know."""
    known = group.cluster.topics.keys()
    found = [
        (position, topic, len(numbers))
        for position, claim in alone.items()
        if not names_of(claim.owned) <= known
        for topic, numbers in claim.owned.items()
        if topic not in known
    ]
    if rows is not None:
        found += rows.topics_beside(known)
        found.sort(key=itemgetter(0))
    return [
        unknown_topic_note(problem.members[position], topic, count)
        for position, topic, count in found
    ]


def _out_of_range(problem: Problem, member: Int64, topic: Int64, number: Int64) -> list[MemberNote]:
    """Return one note for each member and topic with claims that name no partition."""
    notes = []
    pairs = sorted(set(zip(member.tolist(), topic.tolist(), strict=True)))
    for m, t in pairs:
        wrong = number[(member == m) & (topic == t)].tolist()
        size = int(problem.first[t + 1] - problem.first[t])
        notes.append(out_of_range_note(problem.members[m], problem.topics[t], size, wrong))
    return notes
