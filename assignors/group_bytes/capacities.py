"""What members can carry, as they write it at the end of UserData (`wire.protocol.capacity`).

One member must not harm the others by what it writes. A capacity below 1, or one far from what the
others have, counts as the usual one, as does a missing one: while a group is restarted with
capacities some have none yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assignors.group_bytes.members import ReadMembers
from assignors.model import Member
from wire.protocol.capacity import split_capacity

FAR = 100
"""A capacity so many times the usual one, or as small a part of it, is taken for a mistake."""


def capacities_of(members: Sequence[Member]) -> dict[str, int]:
    """Return the capacity of every member by id, none where no member writes one. Never raises.

    The usual one is the lower median of all that are 1 or more. Cost: O(M log M).

    >>> from wire import encode_cooperative_user_data as written
    >>> capacities_of([
    ...     Member(member_id=name, user_data=written(7, capacity=capacity))
    ...     for name, capacity in [("a", 2), ("b", 4), ("c", 2_000_000_000), ("d", None)]
    ... ])
    {'a': 2, 'b': 4, 'c': 4, 'd': 4}
    """
    found = {member_id: _written(data) for member_id, data in _user_data(members)}
    known = sorted(one for one in found.values() if one is not None and one >= 1)
    if not known:
        return {}
    usual = known[(len(known) - 1) // 2]
    return {
        member_id: one
        if one is not None and one >= 1 and usual <= one * FAR and one <= usual * FAR
        else usual
        for member_id, one in found.items()
    }


def _written(user_data: bytes | None) -> int | None:
    return None if user_data is None else split_capacity(user_data)[1]


def _user_data(members: Sequence[Member]) -> Iterable[tuple[str, bytes | None]]:
    """Yield the id and the UserData of each member, without making any."""
    if not isinstance(members, ReadMembers):
        for member in members:
            yield member.member_id, member.user_data
        return
    yield from zip(members.arrays.member_ids, members.arrays.everybodys_user_data(), strict=True)
