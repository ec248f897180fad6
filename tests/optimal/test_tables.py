"""Keys that are sorted give the answer of keys that are counted."""

from __future__ import annotations

from itertools import product

import pytest

from assignors.optimal.flow import table
from tests.optimal.groups import OWNERS, SHAPES, group, with_racks


@pytest.mark.parametrize(("shape", "owners"), list(product(SHAPES, OWNERS)))
def test_keys_sorted_or_counted_end_alike(
    shape: str, owners: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(6):
        made = group(seed, member_max=25, topic_max=10, size_max=12, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=3) if seed % 2 else made
        answers = []
        for factor in (0, 1 << 40):
            monkeypatch.setattr(table, "TABLE_FACTOR", factor)
            answers.append(made.figures(made.solve().owner))
        assert answers[0] == answers[1]
