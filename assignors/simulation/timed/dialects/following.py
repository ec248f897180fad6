"""A member reads its assignment as its client does."""

from __future__ import annotations

from assignors.simulation.timed.dialects.dialect import Dialect, Reaction
from wire import Decoded, MemberAssignment, Mode, TopicPartitions
from wire.cursor import Cursor


def received(
    dialect: Dialect,
    blob: bytes,
    decoded: Decoded[MemberAssignment],
    before: TopicPartitions,
    topics: tuple[str, ...],
) -> tuple[TopicPartitions, Reaction | None]:
    """Return what a member takes from its assignment, and what stops it, if anything.

    `decoded` is `blob` as it was read tolerantly, `before` what the member has, `topics` its
    subscription. Cost: O(notes), O(bytes) where topics are left out or stand twice.
    """
    given: TopicPartitions = {} if decoded.value is None else decoded.value.partitions
    found = {dialect.follows[note.code] for note in decoded.notes if note.code in dialect.follows}
    for reaction in (Reaction.DIES, Reaction.ENDS, Reaction.STUCK):
        if reaction in found:
            return before, reaction
    if Reaction.KEEPS in found:
        return before, None
    if Reaction.LAST_ENTRY in found:
        return _last_entries(blob), None
    if dialect.knows_own_topics_alone:
        given = {topic: given[topic] for topic in given if topic in topics}
    return given, None


def _last_entries(blob: bytes) -> TopicPartitions:
    """Return the last entry of each topic of an Assignment that can be read."""
    cursor = Cursor(blob, Mode.TOLERANT)
    cursor.int16("version")
    taken: dict[str, tuple[int, ...]] = {}
    for _ in range(cursor.int32("topics")):
        topic = cursor.nullable_string("topic") or ""
        count = cursor.int32("partitions")
        taken[topic] = tuple(cursor.int32("partition") for _ in range(count))
    return taken
