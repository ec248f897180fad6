"""The loads that members shall have, and the table with these that keeps most."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.network import Network, start
from assignors.optimal.flow.settle import Outcome, settle
from assignors.optimal.flow.table import table_of
from assignors.optimal.rows import Rows
from assignors.problem import Bool, Int64


class Loads(NamedTuple):
    """What M members must get, what they may get beyond, and how much of that there is.

    Nobody may get more than one beyond, and who may get none must get none.
    """

    least: Int64
    """int64[M]."""
    optional: Int64
    """int64[M]."""
    spare: int


def mean_loads(rows: Rows, active: Bool) -> Loads:
    """Return the loads in which every member gets the mean, rounded up or down.

    `active`, bool[M], says who takes anything.
    """
    total, count = int(rows.size.sum()), int(np.count_nonzero(active))
    floor = -(-total // count) - 1
    return Loads(active * np.int64(floor), active.astype(np.int64), total - floor * count)


def promised_loads(rows: Rows, price: Int64) -> Loads:
    """Return the loads that prices promise, int64[M]."""
    least: Int64 = np.maximum(price - 1, 0)
    return Loads(least, (price > 0).astype(np.int64), int(rows.size.sum()) - int(least.sum()))


def with_loads(rows: Rows, loads: Loads, effort: Effort) -> tuple[Network, Outcome]:
    """Return the table with these loads that keeps most, and how the search ended.

    There is a cut where no table has them; where `effort` was spent first, it is not settled.
    """
    network = start(
        size=rows.size,
        table=table_of(rows.cell, *rows.allowed.shape),
        allowed=rows.allowed,
        remote=rows.remote,
        least=loads.least,
        optional=loads.optional,
        spare=loads.spare,
    )
    return network, settle(network, effort)
