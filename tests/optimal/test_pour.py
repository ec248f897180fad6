"""Free partitions: shared out in plain Python as in numpy; among kinds of members the most."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.optimal.flow import pour
from assignors.optimal.flow.kinds import most_placed
from assignors.optimal.flow.shares import chosen_shares, share_many, shares_of
from tests.conftest import cases
from tests.optimal.groups import SHAPES, group, with_racks
from tests.optimal.workloads import workload


@given(st.lists(st.integers(1, 30), min_size=1, max_size=9), st.integers(1, 300))
def test_few_and_many_get_the_same_shares(room: list[int], amount: int) -> None:
    members, few = shares_of(range(len(room)), room, amount)
    rooms = np.array(room, dtype=np.int64)
    shares = dict.fromkeys(range(len(room)), 0) | dict(zip(members, few, strict=True))
    assert list(shares.values()) == share_many(rooms, amount).tolist()
    assert sum(few) == min(amount, sum(room))
    assert all(0 <= share <= room[member] for member, share in shares.items())
    some, given = chosen_shares(rooms, amount, sum(room))
    assert dict(zip(some.tolist(), given.tolist(), strict=True)) == {
        place: share for place, share in shares.items() if share
    }


@pytest.mark.parametrize("shape", SHAPES)
def test_few_members_are_poured_to_as_many_are(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(25):
        owners = "nobody" if seed % 3 == 0 else "random"
        made = group(seed, member_max=20, topic_max=8, size_max=9, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=3) if seed % 2 else made
        answers = []
        for few in (0, 1 << 30):
            monkeypatch.setattr(pour, "FEW", few)
            answers.append(made.solve().owner.tolist())
        assert answers[0] == answers[1]


@cases(100)
@given(st.data())
def test_the_most_is_placed_that_kinds_of_members_have_room_for(data: st.DataObject) -> None:
    kind_count = data.draw(st.integers(1, 4))
    kinds = st.lists(st.sampled_from(range(kind_count)), unique=True)
    takes = data.draw(st.lists(kinds, min_size=1, max_size=4))
    few = st.integers(0, 9)
    rooms = st.lists(few, min_size=kind_count, max_size=kind_count)
    must, may, spare = data.draw(rooms), data.draw(rooms), data.draw(st.integers(0, 20))
    supply = data.draw(st.lists(few, min_size=len(takes), max_size=len(takes)))
    given_to = most_placed(supply, takes, must=must, may=may, spare=spare)
    by_kind = list(map(sum, zip(*given_to, strict=True)))
    assert all(sum(row) <= amount for row, amount in zip(given_to, supply, strict=True))
    assert all(got <= one + other for got, one, other in zip(by_kind, must, may, strict=True))
    assert sum(max(got - one, 0) for got, one in zip(by_kind, must, strict=True)) <= spare
    for row, amounts in enumerate(given_to):
        assert min(amounts) >= 0
        assert {kind for kind, amount in enumerate(amounts) if amount} <= set(takes[row])

    def cut(beyond: list[int]) -> int:
        """Return the least that some rows and the kinds that take the others let through."""
        return min(
            sum(amount for row, amount in enumerate(supply) if row not in rows)
            + sum(
                must[kind] + beyond[kind] for kind in {kind for row in rows for kind in takes[row]}
            )
            for size in range(len(takes) + 1)
            for rows in combinations(range(len(takes)), size)
        )

    assert sum(map(sum, given_to)) == min(cut([0] * kind_count) + spare, cut(may))


def test_where_every_partition_can_be_local_nothing_has_to_be_searched() -> None:
    phases = {event: made.solve().phases for event, made in workload("R2 1000 x 10000 / 100")}
    assert phases == {"fresh": 0, "leave": 0, "join": 0, "replace": 0, "grow": 0}
