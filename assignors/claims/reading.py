"""What one member claims, from the field that the assignor reads, and the group's last generation.

The eager sticky assignor reads UserData and nothing else (Java ignores the Subscription's owned
partitions there), the cooperative one reads OwnedPartitions, and UserData where version 0 has none.
`READERS` is that table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

from assignors.arrays import OwnedArrays
from assignors.assignor import UserData
from assignors.group_bytes.in_turn import plain_sticky_user_data, topic_headers
from assignors.group_bytes.members import ReadMembers
from assignors.group_bytes.user_data import GENERATION_SIZE, sticky_claims
from assignors.model import NO_GENERATION, Group, Member
from wire import TopicPartitions, decode_cooperative_user_data, decode_sticky_user_data


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What one member claims to own, from the field that the assignor reads."""

    owned: TopicPartitions
    generation: int = NO_GENERATION
    is_known: bool = True
    """False where the member may consume anything, besides what it claims."""


NO_CLAIM = Claim(owned={})


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
    return member.owned_known and not is_version_0(member)


def is_version_0(member: Member) -> bool:
    """Return whether a member came as bytes of version 0, or below, which is read as 0."""
    return member.version is not None and member.version < 1


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
    if is_version_0(member):
        # It has no owned partitions. Clients that write it (brod) may have the sticky layout in
        # UserData. franz-go's leaders read it to leave partitions where they were, and so do we;
        # Java's and Sarama's do not. No leader reads it to see what must be revoked first: it is
        # what the member was assigned, and so its claims stay unknown to the hand-over.
        read = decode_cooperative_user_data(member.user_data).value
        if read is None or read.owned is None or read.generation is None:
            return Claim(owned={}, is_known=False)
        generation = max(read.generation, NO_GENERATION)
        return Claim(owned=read.owned, generation=generation, is_known=False)
    if not member.owned_known:
        return Claim(owned=member.owned, is_known=False)
    # Version 1 has no such field.
    generation = member.generation if member.version != 1 else NO_GENERATION
    if generation < 0:
        generation = generation_in(member.user_data)
    return Claim(owned=member.owned, generation=generation)


READERS: dict[UserData, Callable[[Member], Claim]] = {
    UserData.NONE: _no_claim,
    UserData.STICKY: _sticky_claim,
    UserData.COOPERATIVE: _cooperative_claim,
}


class ReadClaims(NamedTuple):
    """What M members claim."""

    owned: Sequence[TopicPartitions] | OwnedArrays
    generation: Sequence[int]
    unknown: AbstractSet[int]
    """Members whose claims are not known."""
    noted: Sequence[Member]
    """Members with notes on their bytes are among these."""


def read_claims(members: Sequence[Member], kind: UserData, topics: Iterable[str]) -> ReadClaims:
    """Return everybody's claim as `read_claim` does; claims of `topics` are read faster.

    Members that were read together are not made for it, nor is their claim by name.
    Cost: O(claims + bytes of UserData).
    """
    if isinstance(members, ReadMembers):
        arrays = members.arrays
        found = None
        if kind is UserData.COOPERATIVE:
            generation = arrays.generation.tolist()
            missing = (arrays.generation < 0).nonzero()[0].tolist()
            _fill(generation, {row: arrays.user_data(row) for row in missing})
            found = arrays.owned, generation
        elif kind is UserData.STICKY:
            claimed = sticky_claims(arrays.everybodys_user_data(), arrays.owned.names)
            found = claimed and (claimed[0], claimed[1].tolist())
        if found is not None:
            noted = [members[row] for row in arrays.noted()]
            return ReadClaims(*found, frozenset(), noted)
        members = tuple(members)
    if kind is UserData.COOPERATIVE:
        # `read_claim`, without a call for each member.
        owned = [
            member.owned
            for member in members
            if member.owned_known and (member.version is None or member.version >= 2)
        ]
        if len(owned) == len(members):
            generation = [member.generation for member in members]
            if min(generation, default=0) < 0:
                _fill(generation, {n: m.user_data for n, m in enumerate(members)})
            return ReadClaims(owned, generation, frozenset(), members)
    names = topic_headers(topics) if kind is UserData.STICKY else {}
    read = [_read_one(member, kind, names) for member in members]
    return ReadClaims(
        [claim.owned for claim in read],
        [claim.generation for claim in read],
        frozenset([number for number, claim in enumerate(read) if not claim.is_known]),
        members,
    )


def _read_one(member: Member, kind: UserData, names: dict[bytes, str]) -> Claim:
    if kind is UserData.STICKY and member.user_data is not None:
        plain = plain_sticky_user_data(member.user_data, names)
        if plain is not None:
            return Claim(owned=plain[0], generation=max(plain[1], NO_GENERATION))
    return read_claim(member, kind)


def _fill(generation: list[int], user_data: dict[int, bytes | None]) -> None:
    """Take missing generations from UserData; equal ones are read once."""
    known: dict[bytes | None, int] = {}
    for number, data in user_data.items():
        if generation[number] < 0:
            if data not in known:
                known[data] = generation_in(data)
            generation[number] = known[data]


def generation_in(user_data: bytes | None) -> int:
    """Return the generation in a cooperative member's UserData (KIP-792), -1 for none."""
    if user_data is None:
        return NO_GENERATION
    if len(user_data) == GENERATION_SIZE:  # as Java writes it
        return max(int.from_bytes(user_data, "big", signed=True), NO_GENERATION)
    read = decode_cooperative_user_data(user_data).value
    if read is None or read.generation is None:
        return NO_GENERATION
    return max(read.generation, NO_GENERATION)
