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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assignors.arrays import Bool, Int32, Int64
from assignors.assignor import UserData
from assignors.claims.notes import (
    byte_notes,
    future_generation_note,
    out_of_range_note,
    unknown_claims_note,
    unknown_claims_text,
    unknown_topic_note,
)
from assignors.claims.pairs import pairs_of
from assignors.claims.reading import (
    NO_CLAIM,
    Claim,
    is_claim_known,
    last_generation,
    last_of,
    read_claim,
)
from assignors.group_bytes.claim_rows import ClaimRows, claim_rows
from assignors.group_bytes.members import ReadMembers
from assignors.model import NO_GENERATION, Group, Member, MemberNote
from assignors.problem import NOBODY, Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """All claims of a group as arrays, one entry for each (partition, member) pair.

    A pair that a member names twice stands here once. C is the number of pairs.
    """

    partition: Int64
    """int64[C]: partition in the problem's numbering."""
    member: Int32
    """int32[C]: the claimant."""
    claimant: Int32 | None
    """int32[P]: who claims each partition; `None` where several members claim one."""
    claim_count: Int64 | None
    """int64[M]: how many partitions each member claims, where that is known."""
    member_generation: Int64
    """int64[M]: of each member's claims, -1 for none or for one above the group's last."""
    last: int
    """The group's last completed generation, -1 when nobody knows one."""
    unknown: tuple[int, ...] = ()
    """Members whose claims are not known."""
    notes: tuple[MemberNote, ...] = ()

    @property
    def generation(self) -> Int64:
        """int64[C]: of the claim. Cost: O(C)."""
        return self.member_generation[self.member]


def claims_of(problem: Problem, group: Group, kind: UserData) -> Claims:
    """Return the claims of all members as arrays.

    Claims of unknown topics and of partition numbers beyond the topic are dropped with a
    note; a generation above the group's last counts as none, with a note.
    Cost: O(number of claimed partitions + number of claimed topics).
    """
    generation, is_known, rows, alone = _read_claims(problem.members, kind)
    highest = int(generation[generation.argmax()]) if len(generation) else NO_GENERATION
    last = _last_of_array(group, generation, highest)
    noted = sorted((*alone, *rows.noted)) if rows else list(alone)
    notes = byte_notes([problem.members[member] for member in noted]) if noted else []
    unknown: tuple[int, ...] = ()
    if highest > last or np.count_nonzero(is_known) < len(is_known):
        is_above = generation > last
        notes += _generation_notes(problem, generation, last, is_known)
        unknown = tuple(np.flatnonzero(~is_known).tolist())
        generation = np.where(is_above, NO_GENERATION, generation)
    pairs, dropped = pairs_of(problem, group, rows, alone)
    return Claims(
        partition=pairs.partition,
        member=pairs.member,
        claimant=pairs.claimant,
        claim_count=pairs.claim_count,
        member_generation=generation,
        last=last,
        unknown=unknown,
        notes=(*notes, *dropped),
    )


def favoured_owners(problem: Problem, claims: Claims) -> Int32:
    """Return whom stickiness favours for each partition, int32[P], `NOBODY` for no member.

    The subscribed claimant with the highest generation; nobody where two claimants have it.
    Where no partition has two claimants, the answer may be `Claims.claimant` itself.
    Cost: O(P + C), plus C' log C' for the C' claims of partitions claimed more than once.
    Source: KIP-54, KIP-792; the tie rule is KAFKA-12984's.
    """
    if claims.claimant is not None:
        return _subscribed(problem, claims.claimant)
    owner = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    believed = problem.may_take(claims.member, claims.partition)
    if believed.all():
        partition, member, generation = claims.partition, claims.member, claims.generation
    else:
        partition = claims.partition[believed]
        member, generation = claims.member[believed], claims.generation[believed]
    owner[partition] = member
    claimant_count = np.bincount(partition, minlength=problem.partition_count)
    if len(partition) and int(claimant_count.max()) > 1:
        contested = claimant_count[partition] > 1
        partition, member = partition[contested], member[contested]
        generation = generation[contested]
        order = np.lexsort((generation, partition))
        partition, member, generation = partition[order], member[order], generation[order]
        # Claims of one partition now stand together, the highest generation at the end.
        ends = np.append(np.flatnonzero(np.diff(partition) != 0), len(partition) - 1)
        tied = generation[ends] == generation[ends - 1]  # at least two claims each
        owner[partition[ends]] = np.where(tied, NOBODY, member[ends])
    return owner


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
    return favoured_owners(problem, claims_of(problem, group, counted_kind(group, kind)))


def _last_of_array(group: Group, claimed: Int64, highest: int) -> int:
    """Return what `last_of` returns, of an array and the highest number in it."""
    if group.generation is not None:
        return group.generation
    if group.joined is None or highest < group.joined:
        return highest
    return int(claimed[claimed < group.joined].max(initial=NO_GENERATION))


def _generation_notes(
    problem: Problem, generation: Int64, last: int, is_known: Bool
) -> list[MemberNote]:
    """Return notes on generations above the last one, and on claims that are not known."""
    notes = []
    is_above = generation > last
    for position in np.flatnonzero(is_above | ~is_known).tolist():
        member = problem.members[position]
        if is_above[position]:
            notes.append(future_generation_note(member, int(generation[position]), last))
        if not is_known[position]:
            notes.append(unknown_claims_note(member))
    return notes


def _read_claims(
    members: Sequence[Member], kind: UserData
) -> tuple[Int64, Bool, ClaimRows | None, Mapping[int, Claim]]:
    """Return everybody's generation, int64[M], and whether claims are known; then the claims.

    First those of members that were read together, if any were, then the others by position.
    """
    if not isinstance(members, ReadMembers) or kind is UserData.NONE:
        claims = [read_claim(member, kind) for member in members]
        generation = np.array([claim.generation for claim in claims], dtype=np.int64)
        is_known = np.array([claim.is_known for claim in claims], dtype=np.bool_)
        return generation, is_known, None, dict(enumerate(claims))
    rows = claim_rows(members, kind)
    alone = {position: read_claim(members[position], kind) for position in rows.alone}
    generation, is_known = rows.generation, rows.is_known
    if alone:
        generation, is_known = generation.copy(), is_known.copy()
        generation[rows.alone] = [claim.generation for claim in alone.values()]
        is_known[rows.alone] = [claim.is_known for claim in alone.values()]
    return generation, is_known, rows, alone


def _subscribed(problem: Problem, claimant: Int32) -> Int32:
    """Return `claimant`, int32[P], with `NOBODY` for members that do not subscribe to the topic."""
    if len(problem.takes) <= 1:  # a topic of the problem has a subscriber
        return claimant
    # Where nobody claims, that is the class of somebody else.
    cell = problem.class_of.take(claimant, mode="clip") * np.int64(len(problem.topics))
    cell += problem.topic_of
    believed = problem.takes.ravel().take(cell)
    believed |= claimant < 0
    return claimant if believed.all() else np.where(believed, claimant, np.int32(NOBODY))


__all__ = [
    "NO_CLAIM",
    "Claim",
    "Claims",
    "byte_notes",
    "claims_of",
    "counted_kind",
    "counted_owners",
    "favoured_owners",
    "future_generation_note",
    "is_claim_known",
    "last_generation",
    "last_of",
    "out_of_range_note",
    "read_claim",
    "unknown_claims_note",
    "unknown_claims_text",
    "unknown_topic_note",
]
