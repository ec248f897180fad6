"""Sharing out in plain Python and in numpy are one rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.optimal.flow import network
from assignors.optimal.flow.network import share_few, share_many
from tests.optimal.groups import SHAPES, group, with_racks


@given(st.lists(st.integers(1, 30), max_size=9), st.integers(1, 300))
def test_few_and_many_get_the_same_shares(room: list[int], amount: int) -> None:
    few = share_few(room, amount)
    assert few == share_many(np.array(room, dtype=np.int64), amount).tolist()
    assert sum(few) == min(amount, sum(room))
    assert all(0 <= share <= most for share, most in zip(few, room, strict=True))


@pytest.mark.parametrize("shape", SHAPES)
def test_few_members_are_poured_to_as_many_are(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(25):
        made = group(seed, member_max=20, topic_max=8, size_max=9, shape=shape, owners="random")
        made = with_racks(made, seed, rack_max=3) if seed % 2 else made
        answers = []
        for few in (0, 1 << 30):
            monkeypatch.setattr(network, "FEW", few)
            answers.append(made.solve().owner.tolist())
        assert answers[0] == answers[1]
