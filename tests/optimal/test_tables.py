"""A table that is kept sparse gives the answer of one that is kept as arrays."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.optimal.flow import table
from assignors.optimal.flow.table import Cells, SparseTable, bit_sets, table_of
from tests.optimal.groups import OWNERS, SHAPES, group, with_racks


@pytest.mark.parametrize(("shape", "owners"), list(product(SHAPES, OWNERS)))
@pytest.mark.parametrize(
    ("ways", "groups"),
    [
        pytest.param(("DENSE_MAX", 1 << 60, -1), 8, id="as-arrays-and-sparse"),
        pytest.param(("TABLE_FACTOR", 0, 1 << 40), 6, id="keys-sorted-and-counted"),
    ],
)
def test_tables_kept_either_way_end_alike(
    ways: tuple[str, int, int],
    groups: int,
    shape: str,
    owners: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setting, *values = ways
    for seed in range(groups):
        made = group(seed, member_max=25, topic_max=10, size_max=12, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=3) if seed % 2 else made
        answers = []
        for value in values:
            monkeypatch.setattr(table, setting, value)
            answers.append(made.figures(made.solve().owner))
        assert answers[0] == answers[1]


cells = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 4)), st.integers(1, 9), max_size=12
)
steps = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(-9, 9)), max_size=30)


@given(cells, steps)
def test_cells_read_and_sum_as_those_of_arrays(
    held: dict[tuple[int, int], int], changes: list[tuple[int, int, int]]
) -> None:
    ordered = sorted(held)
    row, member = (np.array([cell[i] for cell in ordered], dtype=np.int64) for i in (0, 1))
    owned = Cells(row=row, member=member, count=np.array([held[c] for c in ordered], np.int64))
    dense = table_of(np.repeat(row * 5 + member, owned.count), 4, 5)
    sparse = SparseTable(row_count=4, member_count=5, held=owned, keys=row * 5 + member)
    for made in (dense, sparse):
        _, placed = made.views()
        for at_row, at_member, amount in changes:
            at = at_row * 5 + at_member
            placed[at] = max(0, placed[at] + amount)
        made.add_rows(np.array([2, 0]), np.array([[0, 1, 0, 0, 3], [2, 0, 0, 0, 1]]))
    for one, other in zip(dense.sums(), sparse.sums(), strict=True):
        assert one.tolist() == other.tolist()
    allowed = np.arange(4 * 5).reshape(4, 5) % 3 > 0
    assert dense.kinds(allowed, is_below=True) == sparse.kinds(allowed, is_below=True)
    assert dense.kinds(allowed, is_below=True)[0] == bit_sets(allowed)
    for left, right in zip(dense.changes(), sparse.changes(), strict=True):
        for name in ("row", "member", "count"):
            assert getattr(left, name).tolist() == getattr(right, name).tolist()
    for at in range(4 * 5):
        assert [view[at] for view in dense.views()] == [view[at] for view in sparse.views()]
