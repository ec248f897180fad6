"""What one member claims, from the field that the assignor reads, and the group's last generation.

The eager sticky assignor reads UserData and nothing else (Java ignores the Subscription's owned
partitions there), the cooperative one reads OwnedPartitions, and UserData where version 0 has none.
`READERS` is that table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from assignors.assignor import UserData
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


def is_claim_in_fields(member: Member) -> bool:
    """Return whether a cooperative claim is `owned` and `generation` of the member as they are.

    >>> is_claim_in_fields(Member(member_id="a", generation=4)), is_claim_in_fields(
    ...     Member(member_id="a", generation=4, version=1)
    ... )
    (True, False)
    """
    generation = member.generation
    is_there = generation >= 0 or (generation == NO_GENERATION and member.user_data is None)
    return is_there and is_owned_in_field(member)


def is_owned_in_field(member: Member) -> bool:
    """Return whether a cooperative claim is `owned`, with a generation field beside it.

    The generation may be none all the same, and stand in UserData.
    """
    return member.owned_known and (member.version is None or member.version >= 2)


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
    if is_claim_in_fields(member):
        return Claim(owned=member.owned, generation=member.generation)
    if is_version_0(member):
        # It has no owned partitions. Clients that write it (brod) may have the sticky layout in
        # UserData: franz-go's leaders leave those partitions where they were, and so do we. Java
        # and Sarama do not read it. It is what the member had been assigned, not what it consumes
        # now, so its claims stay unknown to the hand-over, as they are for all three leaders.
        read = decode_cooperative_user_data(member.user_data).value
        if read is None or read.owned is None or read.generation is None:
            return Claim(owned={}, is_known=False)
        generation = max(read.generation, NO_GENERATION)
        return Claim(owned=read.owned, generation=generation, is_known=False)
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
