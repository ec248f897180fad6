"""Notes on what members claim, and on the bytes it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from assignors.claims.reading import is_version_0
from assignors.model import Member, MemberNote, MemberNoteCode


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
    return _note(member, MemberNoteCode.CLAIMS_NOT_KNOWN, unknown_claims_text(member))


def unknown_claims_text(member: Member) -> str:
    """Return why a member's claims are not known, and what its client can do about it."""
    if is_version_0(member):
        return "version 0 has no owned partitions: write version 1 or newer"
    return "its bytes do not say what it owns"


def unknown_topic_note(member: Member, topic: str, count: int) -> MemberNote:
    """Return the note on claimed partitions of a topic that the cluster does not know."""
    text = f"claims {count} partitions of unknown topic {topic!r}"
    return _note(member, MemberNoteCode.UNKNOWN_TOPIC, text)


def out_of_range_note(member: Member, topic: str, size: int, wrong: Sequence[int]) -> MemberNote:
    """Return the note on claimed numbers beyond a topic of `size` partitions; some are shown."""
    shown = ", ".join(map(str, wrong[:5])) + (", ..." if len(wrong) > 5 else "")
    text = f"claims {topic}[{shown}], which has {size} partitions"
    return _note(member, MemberNoteCode.PARTITION_OUT_OF_RANGE, text)


def _note(member: Member, code: MemberNoteCode, text: str) -> MemberNote:
    return MemberNote(code=code.value, text=text, member_id=member.member_id)
