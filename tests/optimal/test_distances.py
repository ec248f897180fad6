"""One integer that sorts like (racks, moves, hops), for tables of any size."""

from __future__ import annotations

import pytest

from assignors.optimal.distances import units

SIZES = [1, 2, 100, 8_190, 8_191, 8_192, 50_000, 300_000]


@pytest.mark.parametrize("has_racks", [False, True])
@pytest.mark.parametrize("members", SIZES)
@pytest.mark.parametrize("rows", SIZES)
def test_hops_never_outweigh_a_move_nor_moves_a_rack(
    rows: int,
    members: int,
    has_racks: bool,  # noqa: FBT001
) -> None:
    move, rack, far = units(rows, members, has_racks=has_racks)
    hops = 2 * min(rows, members) + 2
    assert hops < move
    longest = hops + hops // 2 * move
    assert not has_racks or longest < rack
    longest += hops // 2 * rack
    assert longest < far
    assert far + longest < (2**31 if far < 1 << 29 else 2**63)


def test_a_wide_group_is_searched_in_int32() -> None:
    """What decides is the fewer of rows and members: a path takes turns between them."""
    assert units(20, 100_000, has_racks=False)[2] < 2**31
