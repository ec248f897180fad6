"""Read the claims of members, and decide which member stickiness favours for a partition.

A claim is an owned partition as a member reports it, true or not. Which field holds it depends
on the assignor: the eager sticky one reads UserData and nothing else (Java ignores the
Subscription's owned partitions there), the cooperative one reads OwnedPartitions
(`reading.READERS`). A member whose bytes do not say what it owns may still consume anything:
`Claims.unknown` lists it.

Claims answer two different questions:

* whom does stickiness favour? The subscribed claimant of the highest generation; where two
  have the highest, nobody (`favoured_owners`);
* who may still consume the partition? Every claimant, of any generation (`handover`).

Nearly every partition has one claimant at most, who subscribes to its topic. What differs stands
beside that, so both questions are decided once, for lists of a small group and arrays of a large
one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from assignors.arrays import (
    INT64,
    Bool,
    Int32,
    Int64,
    OwnedArrays,
    PartitionArrays,
    partition_arrays,
)
from assignors.assignor import UserData
from assignors.claims.notes import (
    byte_notes,
    future_generation_note,
    out_of_range_note,
    unknown_claims_note,
    unknown_claims_text,
    unknown_topic_note,
)
from assignors.claims.reading import (
    NO_CLAIM,
    Claim,
    ReadClaims,
    is_claim_known,
    last_generation,
    last_of,
    read_claim,
    read_claims,
)
from assignors.model import NO_GENERATION, Group, Member, MemberNote
from assignors.problem import NOBODY, Problem
from wire import TopicPartitions

Owners = TypeVar("Owners", list[int], Int32)
"""P members, `NOBODY` where a partition has none: a list or an array."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims(Generic[Owners]):
    """All claims of a group. Lengths: M members, P partitions."""

    claimant: Owners
    """P: the first member that claims the partition, `NOBODY` for none."""
    contested: Mapping[int, Sequence[int]]
    """Partition -> its claimants, ascending, for those that have several."""
    unsubscribed: AbstractSet[tuple[int, int]]
    """(partition, member) for claims of topics that the member does not subscribe to."""
    generation: Sequence[int]
    """M: of each member's claims, -1 for none or for one above the group's last."""
    last: int
    """The group's last completed generation, -1 when nobody knows one."""
    unknown: AbstractSet[int]
    """Members whose claims are not known."""
    notes: tuple[MemberNote, ...] = ()

    def last_claimants(self, partition: int) -> list[int]:
        """Return who claims a partition with the group's last generation."""
        if self.last < 0:
            return []
        claimants = self.contested.get(partition, (self.claimant[partition],))
        return [m for m in claimants if m != NOBODY and self.generation[m] == self.last]


def claims_of(problem: Problem, group: Group, kind: UserData) -> Claims[Int32]:
    """Return the claims of all members.

    Claims of unknown topics and of partition numbers beyond the topic are dropped with a
    note; a generation above the group's last counts as none, with a note.
    Cost: O(number of claimed partitions + number of claimed topics), and a sort if a partition has
    several claimants.
    """
    read = read_claims(problem.members, kind, problem.topics)
    last, generation, notes = generations_of(problem.members, group, read)
    index = problem.topic_index()
    if isinstance(read.owned, OwnedArrays):
        given = read.owned.by_topic(index)
    else:
        given = partition_arrays(read.owned, index)
    if not given.is_complete:
        notes += _unknown_topics(problem.members, group, read.owned)
    member, topic, number = given.member_of, given.topic_of, given.number
    sizes = problem.first[1:] - problem.first[:-1]
    exists = None
    if len(number) and (number[number.argmax()] >= sizes.min() or number[number.argmin()] < 0):
        exists = (number >= 0) & (number < sizes.take(topic))
    if exists is not None and np.count_nonzero(exists) < len(exists):
        notes += _out_of_range(problem, given, ~exists)
        member, topic, number = member[exists], topic[exists], number[exists]
    partition = problem.first.take(topic)
    partition += number
    claimant = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    claimant[partition] = member
    contested = {}
    if np.count_nonzero(claimant != NOBODY) < len(partition):
        contested = _contested(partition, member)
        claimant[list(contested)] = [several[0] for several in contested.values()]
    unsubscribed: set[tuple[int, int]] = set()
    if len(problem.takes) > 1:  # a topic of the problem has a subscriber
        other = (~problem.may_take(member, partition)).nonzero()[0]
        unsubscribed.update(zip(partition[other].tolist(), member[other].tolist(), strict=True))
    return Claims(
        claimant=claimant,
        contested=contested,
        unsubscribed=unsubscribed,
        generation=generation,
        last=last,
        unknown=read.unknown,
        notes=tuple(notes),
    )


def favoured_owners(claims: Claims[Owners]) -> Owners:
    """Return whom stickiness favours for each partition, `NOBODY` for no member.

    The subscribed claimant with the highest generation; nobody where two claimants have it.
    It may be `Claims.claimant` itself. Cost: O(P), less where nothing is contested.
    Source: KIP-54, KIP-792; the tie rule is KAFKA-12984's.
    """
    if not claims.contested and not claims.unsubscribed:
        return claims.claimant
    favoured = claims.claimant.copy()
    for partition, _ in claims.unsubscribed:
        favoured[partition] = NOBODY
    for partition, several in claims.contested.items():
        newest = [each for each in several if (partition, each) not in claims.unsubscribed]
        if newest:
            best = max(claims.generation[member] for member in newest)
            newest = [member for member in newest if claims.generation[member] == best]
        favoured[partition] = newest[0] if len(newest) == 1 else NOBODY
    return favoured


def counted_kind(group: Group, kind: UserData) -> UserData:
    """Return where moves are counted from: the kind that the assignor reads, if it reads claims.

    Else (range, round-robin, assignors of a broker) owned partitions of the Subscriptions, and
    UserData of the sticky assignor where no Subscription has any.
    """
    if kind is not UserData.NONE:
        return kind
    owns = any(member.owned for member in group.members)
    return UserData.COOPERATIVE if owns else UserData.STICKY


def counted_owners(problem: Problem, group: Group, kind: UserData) -> Int32:
    """Return the member that each partition is moved from if it leaves it, int32[P].

    `kind` is the assignor's own. Cost: that of `claims_of` and `favoured_owners`.
    """
    return favoured_owners(claims_of(problem, group, counted_kind(group, kind)))


def generations_of(
    members: Sequence[Member], group: Group, read: ReadClaims
) -> tuple[int, Sequence[int], list[MemberNote]]:
    """Return the last generation, those of the members' claims, and notes on bytes and claims."""
    notes = byte_notes(read.noted)
    highest = max(read.generation, default=NO_GENERATION)
    is_last = group.generation is None and (group.joined is None or highest < group.joined)
    last = highest if is_last else last_of(group, read.generation)
    if not read.unknown and highest <= last:
        return last, read.generation, notes
    generation = list(read.generation)
    for number, found in enumerate(read.generation):
        if found > last:
            generation[number] = NO_GENERATION
            notes.append(future_generation_note(members[number], found, last))
        if number in read.unknown:
            notes.append(unknown_claims_note(members[number]))
    return last, generation, notes


def dropped_notes(
    members: Sequence[Member],
    topics: Mapping[tuple[int, str], int],
    numbers: Mapping[tuple[int, str], tuple[int, list[int]]],
) -> list[MemberNote]:
    """Return the notes on claims that name no partition.

    `topics` has (member, unknown topic) -> how many partitions are claimed, `numbers` (member,
    topic) -> how many partitions the topic has, and the numbers beyond.
    """
    least, most = int(INT64.min), int(INT64.max)
    return [
        *(
            unknown_topic_note(members[member], topic, count)
            for (member, topic), count in topics.items()
        ),
        *(
            out_of_range_note(
                members[member], topic, size, [min(max(number, least), most) for number in wrong]
            )
            for (member, topic), (size, wrong) in numbers.items()
        ),
    ]


def _contested(partition: Int64, member: Int64) -> dict[int, list[int]]:
    """Return the claimants of each partition that has several. Cost: O(C log C)."""
    order = partition.argsort(kind="stable")
    partition, member = partition[order], member[order]
    again = np.flatnonzero(partition[1:] == partition[:-1])
    found: dict[int, list[int]] = {}
    for one, first, other in zip(
        partition[again].tolist(), member[again].tolist(), member[again + 1].tolist(), strict=True
    ):
        several = found.setdefault(one, [first])
        if several[-1] != other:  # members ascend
            several.append(other)
    return {one: several for one, several in found.items() if len(several) > 1}


def _unknown_topics(
    members: Sequence[Member], group: Group, owned: Sequence[TopicPartitions] | OwnedArrays
) -> list[MemberNote]:
    """Return a note for each member and topic claimed that the cluster does not know."""
    known = group.cluster.topics.keys()
    found: dict[tuple[int, str], int] = {}
    if not isinstance(owned, OwnedArrays):
        for member, claimed in enumerate(owned):
            for topic, numbers in claimed.items():
                if topic not in known:
                    found[member, topic] = len(numbers)
        return dropped_notes(members, found, {})
    is_unknown = np.array([name not in known for name in owned.names])
    entries = np.flatnonzero(is_unknown[owned.topic])
    row = owned.entry_ptr.searchsorted(entries, "right") - 1
    length = np.diff(owned.number_ptr)[entries]
    for member, at, count in zip(
        row.tolist(), owned.topic[entries].tolist(), length.tolist(), strict=True
    ):
        found[member, owned.names[at]] = count
    return dropped_notes(members, found, {})


def _out_of_range(problem: Problem, given: PartitionArrays, is_wrong: Bool) -> list[MemberNote]:
    """Return one note for each member and topic with claims that name no partition."""
    found: dict[tuple[int, int], list[int]] = {}
    for member, topic, number in zip(
        given.member_of[is_wrong].tolist(),
        given.topic_of[is_wrong].tolist(),
        given.number[is_wrong].tolist(),
        strict=True,
    ):
        found.setdefault((member, topic), []).append(number)
    sizes = np.diff(problem.first).tolist()
    wrong = {
        (member, problem.topics[topic]): (sizes[topic], found[member, topic])
        for member, topic in sorted(found)
    }
    return dropped_notes(problem.members, {}, wrong)


__all__ = [
    "NO_CLAIM",
    "Claim",
    "Claims",
    "Owners",
    "byte_notes",
    "claims_of",
    "counted_kind",
    "counted_owners",
    "dropped_notes",
    "favoured_owners",
    "future_generation_note",
    "generations_of",
    "is_claim_known",
    "last_generation",
    "last_of",
    "out_of_range_note",
    "read_claim",
    "read_claims",
    "unknown_claims_note",
    "unknown_claims_text",
    "unknown_topic_note",
]
