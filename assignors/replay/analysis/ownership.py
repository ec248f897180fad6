"""When each member of a life owned each partition, and why that ended.

The intervals are `assignors.ownership`'s. What records add is how they end: with a member that
left, with the group, with its change to another protocol; otherwise by whether another member
got the partition in the same moment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assignors.ownership.changes import TopicPartition, pairs
from assignors.ownership.intervals import Ownership, ownerships
from assignors.replay.history.model import LEFT, Generation, Life

MOVED, WITHHELD, GROUP_ENDED, CONVERTED = "moved", "withheld", "group-ended", "converted"


def ownerships_of(life: Life) -> tuple[Ownership, ...]:
    """Return every ownership of a life with why it ended, in the order in which they began.

    Times are epoch milliseconds. Cost: O(partitions in all changes), as each ownership begins and
    ends once.
    """
    found = ownerships(life.changes)
    if life.to_ms is not None:
        found = [_closed(one, life, life.to_ms) for one in found]
    return tuple(_with_reasons(found))


def given_too_early(
    generation: Generation, before: Generation | None
) -> Iterator[tuple[TopicPartition, str, str]]:
    """Yield what was assigned while another member owned it: partition, old and new owner.

    Only under cooperative protocols. `before` is the generation before, if there is any.
    """
    is_cooperative = generation.protocol in {"cooperative-sticky", "cooperative-weighted"}
    if before is None or generation.missing_before or not is_cooperative:
        return
    had = {place: m.member_id for m in before.members for place in pairs(m.assigned)}
    claims = {
        m.member_id: pairs(m.claimed)
        for m in generation.members
        if m.claims_known and m.claimed_generation in {None, before.number}
    }
    for member in generation.members:
        for place in pairs(member.assigned):
            old = had.get(place)
            if old is not None and old != member.member_id and place in claims.get(old, {}):
                yield place, old, member.member_id


def _closed(one: Ownership, life: Life, to_ms: int) -> Ownership:
    """Return an ownership of a life that has ended: it does not last."""
    if one.end is not None:
        if life.is_converted and one.end == to_ms and one.ended_by == LEFT:
            return replace(one, ended_by=CONVERTED)
        return one
    last = life.generations[-1].number if life.generations else one.from_generation
    reason = CONVERTED if life.is_converted else GROUP_ENDED
    return replace(one, end=to_ms, to_generation=last, ended_by=reason)


def _with_reasons(found: Sequence[Ownership]) -> list[Ownership]:
    """Return the ownerships with why they ended: `MOVED`, or `WITHHELD` if nobody was next."""
    starts: dict[TopicPartition, set[int]] = {}
    for one in found:
        starts.setdefault(one.topic_partition, set()).add(one.start)
    return [
        replace(one, ended_by=MOVED if one.end in starts[one.topic_partition] else WITHHELD)
        if one.end is not None and one.ended_by is None
        else one
        for one in found
    ]
