"""From changes to ownerships: when each member owned each partition.

Changes are taken one by one. What a member no longer owns ends an ownership, what is new to it
begins one. Members do not know of each other here: two ownerships of one partition may overlap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

from assignors.model import NO_GENERATION
from assignors.ownership.changes import Change, TopicPartition, pairs

FOREVER = 2**63 - 1
"""Later than every moment: the largest int64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """One member owned one partition, from `start` to before `end`."""

    topic: str
    partition: int
    member_id: str
    start: int
    end: int | None = None
    """The first moment after it; `None` while it lasts."""
    from_generation: int = NO_GENERATION
    to_generation: int | None = None
    """The generation that ended it; `None` while it lasts."""
    ended_by: str | None = None
    """`Change.reason` of the change that ended it."""
    is_certain: bool = True
    """False where changes may be missing between its start and its end."""
    was_frozen: bool = False
    """The member had it before its process was frozen, and has it since it goes on."""

    @property
    def topic_partition(self) -> TopicPartition:
        """Topic and partition number."""
        return self.topic, self.partition

    @property
    def until(self) -> int:
        """Its end, `FOREVER` where it has none."""
        return FOREVER if self.end is None else self.end


@dataclass(slots=True, kw_only=True)
class _Begun:
    """An ownership that has begun."""

    order: int
    start: int
    generation: int
    was_frozen: bool
    is_certain: bool = True


def ownerships(changes: Iterable[Change]) -> list[Ownership]:
    """Return every ownership, in the order in which they began.

    `changes` are in order of time for each member; an end before its start, as clocks may give
    it, is moved to the start. Cost: O(partitions in all changes).

    >>> found = ownerships([
    ...     Change(at=1, member_id="a", owned={"t": (0, 1)}),
    ...     Change(at=4, member_id="a", owned={"t": (1,)}, reason="revoked"),
    ... ])
    >>> [(one.partition, one.start, one.end, one.ended_by) for one in found]
    [(0, 1, 4, 'revoked'), (1, 1, None, None)]
    """
    owned: dict[str, dict[TopicPartition, _Begun]] = {}
    done: list[tuple[int, Ownership]] = []
    count = 0
    for change in changes:
        mine = owned.setdefault(change.member_id, {})
        now = pairs(change.owned)
        for one in [one for one in mine if one not in now]:
            begun = mine.pop(one)
            done.append((begun.order, _ended(change.member_id, one, begun, change)))
        for one in now:
            if one not in mine:
                mine[one] = _Begun(
                    order=count,
                    start=change.at,
                    generation=change.generation,
                    was_frozen=change.was_frozen,
                )
                count += 1
            elif change.after_gap:
                mine[one].is_certain = False
    for member_id, mine in owned.items():
        done += [(begun.order, _ended(member_id, one, begun, None)) for one, begun in mine.items()]
    return [one for _, one in sorted(done, key=itemgetter(0))]


def by_partition(listed: Iterable[Ownership]) -> dict[TopicPartition, list[Ownership]]:
    """Return the ownerships of each partition, both in the order in which they are listed."""
    found: dict[TopicPartition, list[Ownership]] = {}
    for one in listed:
        found.setdefault(one.topic_partition, []).append(one)
    return found


def _ended(member_id: str, one: TopicPartition, begun: _Begun, change: Change | None) -> Ownership:
    """Return an ownership that `change` ended, or that lasts."""
    topic, partition = one
    if change is None:
        end = to_generation = reason = None
    else:
        end, to_generation = max(change.at, begun.start), change.generation
        reason = change.reason
    return Ownership(
        topic=topic,
        partition=partition,
        member_id=member_id,
        start=begun.start,
        end=end,
        from_generation=begun.generation,
        to_generation=to_generation,
        ended_by=reason,
        is_certain=begun.is_certain and not (change is not None and change.after_gap),
        was_frozen=begun.was_frozen,
    )
