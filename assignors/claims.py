"""Read the claims of members, and decide which member stickiness favours for a partition.

A claim is an owned partition as a member reports it, true or not. Which field holds it depends
on the assignor: the eager sticky one reads UserData and nothing else (Java ignores the
Subscription's owned partitions there), the cooperative one reads OwnedPartitions. `READERS`
is that table. A member whose bytes do not say what it owns may still consume anything:
`Claims.unknown` lists it.

Claims answer two different questions:

* whom does stickiness favour? The subscribed claimant of the highest generation; where two
  have the highest, nobody (`favoured_owners`);
* who may still consume the partition? Every claimant, of any generation (`handover`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np

from assignors.arrays import Bool, Int32, Int64, names_of, partition_arrays
from assignors.assignor import UserData
from assignors.group_bytes.claim_rows import ClaimRows, claim_rows
from assignors.group_bytes.members import ReadMembers
from assignors.model import NO_GENERATION, Group, Member, MemberNote, MemberNoteCode
from assignors.problem import NOBODY, Problem
from wire import TopicPartitions, decode_cooperative_user_data, decode_sticky_user_data


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one member claims to own, from the field that the assignor reads."""

    owned: TopicPartitions
    generation: int = NO_GENERATION
    is_known: bool = True


NO_CLAIM = Claim(owned={})


@dataclass(frozen=True, slots=True, kw_only=True)
class Claims:
    """All claims of a group as arrays, one entry for each (partition, member) pair.

    A pair that a member names twice stands here once. C is the number of pairs.
    """

    partition: Int64
    """int64[C]: partition in the problem's numbering."""
    member: Int32
    """int32[C]: the claimant."""
    generation: Int64
    """int64[C]: of the claim, -1 for none or for one above the group's last."""
    last: int
    """The group's last completed generation, -1 when nobody knows one."""
    unknown: tuple[int, ...] = ()
    """Members whose claims are not known."""
    notes: tuple[MemberNote, ...] = ()


def read_claim(member: Member, kind: UserData) -> Claim:
    """Return what `member` claims under an assignor with this kind of UserData. Never raises.

    >>> read_claim(Member(member_id="a", owned={"t": (0,)}, generation=4), UserData.STICKY)
    Claim(owned={'t': (0,)}, generation=4, is_known=True)
    """
    return READERS[kind](member)


def is_claim_known(member: Member) -> bool:
    """Return whether the member's Subscription says what it owns: bytes of version 0 cannot.

    >>> is_claim_known(Member(member_id="a", version=0))
    False
    """
    return member.owned_known and (member.version is None or member.version >= 1)


def is_claim_in_fields(member: Member) -> bool:
    """Return whether a cooperative claim is `owned` and `generation` of the member as they are.

    >>> is_claim_in_fields(Member(member_id="a", generation=4)), is_claim_in_fields(
    ...     Member(member_id="a", generation=4, version=1)
    ... )
    (True, False)
    """
    return (
        member.generation >= 0
        and member.owned_known
        and (member.version is None or member.version >= 2)
    )


def last_generation(group: Group, claims: Iterable[Claim]) -> int:
    """Return the group's last completed generation, -1 where nobody knows one.

    `Group.generation` if it is given, else the highest one claimed below `Group.joined`, if that
    is given, else the highest one claimed.
    """
    return last_of(group, (claim.generation for claim in claims))


def last_of(group: Group, claimed: Iterable[int]) -> int:
    """Return the last completed generation where these are claimed."""
    if group.generation is not None:
        return group.generation
    if group.joined is not None:
        claimed = (generation for generation in claimed if generation < group.joined)
    return max(claimed, default=NO_GENERATION)


def claims_of(problem: Problem, group: Group, kind: UserData) -> Claims:
    """Return the claims of all members as arrays.

    Claims of unknown topics and of partition numbers beyond the topic are dropped with a
    note; a generation above the group's last counts as none, with a note.
    Cost: O(number of claimed partitions + number of claimed topics).
    """
    generation, is_known, rows, alone = _read_claims(problem.members, kind)
    last = last_of(group, generation.tolist())
    noted = sorted((*alone, *rows.noted)) if rows else list(alone)
    notes = byte_notes([problem.members[member] for member in noted])
    is_above = generation > last
    for position in np.flatnonzero(is_above | ~is_known).tolist():
        member = problem.members[position]
        if is_above[position]:
            notes.append(future_generation_note(member, int(generation[position]), last))
        if not is_known[position]:
            notes.append(unknown_claims_note(member))
    generation[is_above] = NO_GENERATION
    partition, claimant, dropped = _pairs(problem, group, rows, alone)
    return Claims(
        partition=partition,
        member=claimant,
        generation=generation[claimant],
        last=last,
        unknown=tuple(np.flatnonzero(~is_known).tolist()),
        notes=(*notes, *dropped),
    )


def favoured_owners(problem: Problem, claims: Claims) -> Int32:
    """Return whom stickiness favours for each partition, int32[P], `NOBODY` for no member.

    The subscribed claimant with the highest generation; nobody where two claimants have it.
    Cost: O(P + C), plus C' log C' for the C' claims of partitions claimed more than once.
    Source: KIP-54, KIP-792; the tie rule is KAFKA-12984's.
    """
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


def byte_notes(members: Sequence[Member]) -> list[MemberNote]:
    """Return what the decoder reported about the members' bytes, as notes."""
    return [
        MemberNote(code=str(n.code), text=n.text, member_id=member.member_id, offset=n.offset)
        for member in members
        if member.notes
        for n in member.notes
    ]


def future_generation_note(member: Member, generation: int, last: int) -> MemberNote:
    """Return the note on a claim of a generation above the group's last, which counts as none."""
    text = f"generation {generation} is above the group's last, {last}"
    return _note(member, MemberNoteCode.GENERATION_IN_THE_FUTURE, text)


def unknown_claims_note(member: Member) -> MemberNote:
    """Return the note on a member whose claims are not known."""
    return _note(member, MemberNoteCode.CLAIMS_NOT_KNOWN, "its bytes do not say what it owns")


def unknown_topic_note(member: Member, topic: str, count: int) -> MemberNote:
    """Return the note on claimed partitions of a topic that the cluster does not know."""
    text = f"claims {count} partitions of unknown topic {topic!r}"
    return _note(member, MemberNoteCode.UNKNOWN_TOPIC, text)


def out_of_range_note(member: Member, topic: str, size: int, wrong: Sequence[int]) -> MemberNote:
    """Return the note on claimed numbers beyond a topic of `size` partitions; some are shown."""
    shown = ", ".join(map(str, wrong[:5])) + (", ..." if len(wrong) > 5 else "")
    text = f"claims {topic}[{shown}], which has {size} partitions"
    return _note(member, MemberNoteCode.PARTITION_OUT_OF_RANGE, text)


def _no_claim(_member: Member) -> Claim:
    """Return no claim: range and round-robin read none."""
    return NO_CLAIM


def _sticky_claim(member: Member) -> Claim:
    """Return the claim in UserData, or in a struct's fields where it has no UserData."""
    if member.version is None and member.user_data is None:
        return Claim(owned=member.owned, generation=member.generation)
    read = decode_sticky_user_data(member.user_data).value
    if read is None:
        return NO_CLAIM
    generation = NO_GENERATION if read.generation is None else max(read.generation, NO_GENERATION)
    return Claim(owned=read.owned, generation=generation)


def _cooperative_claim(member: Member) -> Claim:
    """Return OwnedPartitions; the generation from the field, else from UserData (KIP-792)."""
    if is_claim_in_fields(member):
        return Claim(owned=member.owned, generation=member.generation)
    has_field = member.version is None or member.version >= 2
    generation = member.generation if has_field else NO_GENERATION
    if generation < 0:
        read = decode_cooperative_user_data(member.user_data).value
        if read is not None and read.generation is not None:
            generation = max(read.generation, NO_GENERATION)
    is_known = is_claim_known(member)
    return Claim(
        owned=member.owned,
        generation=max(generation, NO_GENERATION) if is_known else NO_GENERATION,
        is_known=is_known,
    )


READERS: dict[UserData, Callable[[Member], Claim]] = {
    UserData.NONE: _no_claim,
    UserData.STICKY: _sticky_claim,
    UserData.COOPERATIVE: _cooperative_claim,
}


def _read_claims(
    members: Sequence[Member], kind: UserData
) -> tuple[Int64, Bool, ClaimRows | None, dict[int, Claim]]:
    """Return everybody's generation, int64[M], and whether claims are known; then the claims.

    First those of members that were read together, if any were, then the others by position.
    """
    rows = None
    if isinstance(members, ReadMembers) and kind is not UserData.NONE:
        rows = claim_rows(members, kind)
        generation, is_known, positions = rows.generation, rows.is_known, rows.alone
    else:
        generation = np.empty(len(members), dtype=np.int64)
        is_known = np.empty(len(members), dtype=np.bool_)
        positions = list(range(len(members)))
    alone = {position: read_claim(members[position], kind) for position in positions}
    generation[positions] = [claim.generation for claim in alone.values()]
    is_known[positions] = [claim.is_known for claim in alone.values()]
    return generation, is_known, rows, alone


def _pairs(
    problem: Problem, group: Group, rows: ClaimRows | None, alone: Mapping[int, Claim]
) -> tuple[Int64, Int32, list[MemberNote]]:
    """Return (partition, member) pairs without repeats, and notes on claims that were dropped."""
    index = problem.topic_index()
    notes = _unknown_topics(problem, group, rows, alone)
    owned = {position: claim.owned for position, claim in alone.items()}
    if rows is None:
        claimed = partition_arrays(list(owned.values()), index)
    else:
        claimed = rows.partitions(index, owned)
    claimant, topic, number = claimed.member_of, claimed.topic_of, claimed.number
    exists = (number >= 0) & (number < np.diff(problem.first)[topic])
    if not exists.all():
        notes += _out_of_range(problem, claimant[~exists], topic[~exists], number[~exists])
        claimant, topic, number = claimant[exists], topic[exists], number[exists]
    partition = problem.first[topic] + number
    if len(partition) and int(np.bincount(partition).max()) > 1:
        key = claimant * np.int64(problem.partition_count) + partition
        _, kept = np.unique(key, return_index=True)
        if len(kept) < len(key):
            kept.sort()
            partition, claimant = partition[kept], claimant[kept]
    return partition, claimant.astype(np.int32), notes


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


def _note(member: Member, code: MemberNoteCode, text: str) -> MemberNote:
    return MemberNote(code=code.value, text=text, member_id=member.member_id)
