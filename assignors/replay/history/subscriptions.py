"""What members of classic groups and their leaders wrote: claims, and what is odd in the bytes.

Members write the same bytes from one generation to the next, so what was read last is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from assignors.assignor import UserData
from assignors.claims import read_claim
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.model import NO_GENERATION, Member
from assignors.replay.history.model import Oddity
from wire import (
    Decoded,
    MemberAssignment,
    Note,
    TopicPartitions,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
)

CLAIMS_STAND_IN = {
    "sticky": UserData.STICKY,
    "cooperative-sticky": UserData.COOPERATIVE,
    "weighted": UserData.STICKY,
    "cooperative-weighted": UserData.COOPERATIVE,
}
"""Protocol -> where its members write their claims; others are read from OwnedPartitions."""

GENERATION_BYTES = 4
"""UserData of this size is a generation and nothing else: there is nothing odd in it."""


KEPT_MAX = 20_000
"""Blobs that are kept for the next time that a member writes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSubscription:
    """A Subscription under one protocol; the fields are those of `Participant`."""

    member: Member
    """As a leader reads it, so that claims are judged as the leader judged them. The bytes have
    neither its id nor its group instance id."""
    version: int | None
    claimed: TopicPartitions
    claims_known: bool
    claimed_generation: int | None
    oddities: tuple[Oddity, ...]
    error: str | None
    error_kind: str | None


@lru_cache(maxsize=KEPT_MAX)
def read_subscription(blob: bytes, protocol: str | None) -> ReadSubscription:
    """Return what these bytes say in a group with this protocol. Cost: linear in the bytes."""
    member = member_from_bytes("", blob)
    notes = member.notes
    is_unread = bool(notes) and notes[0].code == "empty-blob"
    claimed, generation, is_known = _claim(member, protocol)
    return ReadSubscription(
        member=member,
        version=None if is_unread else member.version,
        claimed=claimed,
        claims_known=is_known,
        claimed_generation=generation,
        oddities=(
            *oddities("subscription", notes),
            *oddities("user-data", _user_data_notes(member, protocol)),
        ),
        error=notes[0].text if is_unread else None,
        error_kind=notes[0].code.value if is_unread else None,
    )


@lru_cache(maxsize=KEPT_MAX)
def read_assignment(blob: bytes) -> Decoded[MemberAssignment]:
    """Return the Assignment that these bytes are. Cost: linear in the bytes."""
    return decode_assignment(blob)


def oddities(blob: str, notes: tuple[Note, ...]) -> tuple[Oddity, ...]:
    """Return the notes of a decoder, each with what was decoded: `Oddity.blob`."""
    if not notes:
        return ()
    return tuple(
        Oddity(blob=blob, code=note.code, offset=note.offset, text=note.text) for note in notes
    )


def _user_data_notes(member: Member, protocol: str | None) -> tuple[Note, ...]:
    if member.user_data is None:
        return ()
    kind = CLAIMS_STAND_IN.get(protocol or "", UserData.NONE)
    if kind is UserData.STICKY:
        return decode_sticky_user_data(member.user_data).notes
    if kind is UserData.COOPERATIVE and len(member.user_data) != GENERATION_BYTES:
        return decode_cooperative_user_data(member.user_data).notes
    return ()


def _claim(member: Member, protocol: str | None) -> tuple[TopicPartitions, int | None, bool]:
    """Return what the member claims, the claim's generation, and whether its bytes can say so."""
    kind = CLAIMS_STAND_IN.get(protocol or "", UserData.NONE)
    if kind is UserData.NONE:
        generation, owned, is_known = member.generation, member.owned, member.owned_known
    else:
        claim = read_claim(member, kind)
        generation, owned, is_known = claim.generation, claim.owned, claim.is_known
    return owned, None if generation <= NO_GENERATION else generation, is_known
