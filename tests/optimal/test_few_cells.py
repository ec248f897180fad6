"""Tables of few cells are settled as arrays settle them: every owner and every figure."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from assignors.optimal import few_cells, loads
from assignors.optimal.solve import Solved, solve
from tests.optimal.groups import OWNERS, SHAPES, Arrays, group

SEEDS = 12
COUNTED_APART = ("owner", "changed")


def solved_by_arrays(made: Arrays, monkeypatch: pytest.MonkeyPatch) -> Solved:
    """Return the answer that is found without lists."""
    with monkeypatch.context() as patch:
        patch.setattr(few_cells, "CELLS_MAX", -1)
        return made.solve()


def solved_by_lists(made: Arrays, monkeypatch: pytest.MonkeyPatch) -> Solved:
    """Return the answer that is found on lists whatever is free, if the group is no simpler."""
    with monkeypatch.context() as patch:
        patch.setattr(few_cells, "FREE_MAX", 1 << 30)
        return made.solve()


def figures(solved: Solved) -> dict[str, object]:
    names = (name for name in Solved.__slots__ if name not in COUNTED_APART)
    return {name: getattr(solved, name) for name in names}


@pytest.mark.parametrize(("shape", "owners"), list(product(SHAPES, OWNERS)))
def test_lists_settle_few_cells_as_arrays_do(
    shape: str, owners: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(SEEDS):
        large = {"member_max": 90, "topic_max": 16, "size_max": 60}
        sizes = large if seed % 2 else {"member_max": 12, "topic_max": 6, "size_max": 40}
        made = group(seed, shape=shape, owners=owners, **sizes)
        wanted = solved_by_arrays(made, monkeypatch)
        found = solved_by_lists(made, monkeypatch)
        assert found.owner.tolist() == wanted.owner.tolist()
        assert found.changed.tolist() == wanted.changed.tolist()
        assert figures(found) == figures(wanted)


def test_groups_of_that_size_are_settled_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the test above would compare arrays with arrays."""
    seen: list[bool] = []

    def noted(*arguments: object) -> object:
        found = few_cells.settle_few_cells(*arguments)  # type: ignore[arg-type]
        seen.append(found is not None)
        return found

    monkeypatch.setattr(loads, "settle_few_cells", noted)
    for seed, shape in product(range(6), ("any", "halves", "nested")):
        sizes = {"member_max": 60, "topic_max": 12, "size_max": 60}
        solved_by_lists(group(seed, shape=shape, owners="random", **sizes), monkeypatch)
    assert set(seen) == {True, False}, "with loads that there are, and with others"


def test_racks_a_limit_and_many_cells_take_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"member_max": 30, "topic_max": 9, "size_max": 40}
    made = group(5, shape="halves", owners="settled, then changed", **sizes)
    rack = np.zeros(made.member_count, dtype=np.int32)
    racked = replace(
        made,
        rack=rack,
        replica_set=np.zeros(len(made.owner), dtype=np.int32),
        replica_racks=np.array([[True]]),
    )
    with monkeypatch.context() as patch:
        patch.setattr(loads, "settle_few_cells", None)
        assert racked.solve().kept
        solved_by_arrays(made, monkeypatch)
        assert solve(**made.arguments(), limit=1_000_000).is_best
        with pytest.raises(TypeError, match="not callable"):
            solved_by_lists(made, monkeypatch)
