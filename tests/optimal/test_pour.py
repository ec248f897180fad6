"""Free partitions are shared out in plain Python as in numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assignors.optimal.flow.pour import chosen_shares, share_many, shares_of


@given(st.lists(st.integers(1, 30), min_size=1, max_size=9), st.integers(1, 300))
def test_few_and_many_get_the_same_shares(room: list[int], amount: int) -> None:
    members, few = shares_of(range(len(room)), room, amount, [0] * len(room))
    rooms = np.array(room, dtype=np.int64)
    shares = dict.fromkeys(range(len(room)), 0) | dict(zip(members, few, strict=True))
    assert list(shares.values()) == share_many(rooms, amount).tolist()
    assert sum(few) == min(amount, sum(room))
    assert all(0 <= share <= room[member] for member, share in shares.items())
    some, given = chosen_shares(rooms, amount, sum(room), lambda: 0 * rooms)
    assert dict(zip(some.tolist(), given.tolist(), strict=True)) == {
        place: share for place, share in shares.items() if share
    }
