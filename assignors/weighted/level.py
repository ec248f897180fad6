"""The least largest use if partitions could be divided: a bound for every assignment.

Take any set S of rows. Only the members N(S) that take one of them can carry their weight, so
some member of N(S) has a use of at least weight(S) / capacity(N(S)). This holds for every S,
whoever proposes it. By the theorem of maximum flow and minimum cut the largest such ratio is
reached by partitions that can be divided, so there is no better bound of this kind.

The set is found by the prices of the balance problem (`assignors.optimal.prices`), with
weights as sizes and capacities as numbers of members: rows with the highest price are the most
crowded set. Prices are whole numbers, so weights are multiplied first. The solver only
proposes the set; the ratio is computed here from the weights, so a poor proposal gives a lower
bound, never a wrong one.
Source: Harvey, Ladner, Lovasz, Tamir (2006) for prices; Ford and Fulkerson for the cut.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np

from assignors.problem import Bool, Int64
from assignors.weighted.ratios import largest

QUANTA = 1 << 30
"""Sum of the sizes given to the price function: products of two sums fit into 64 bits."""


class RowPrices(Protocol):
    """Prices of rows: `assignors.optimal.prices.Prices` is one."""

    @property
    def of_row(self) -> Int64:
        """int64[R]: the larger, the more crowded the row is."""


class PriceFunction(Protocol):
    """Computes the prices of a table: `assignors.optimal.prices.prices` is one."""

    def __call__(self, *, size: Int64, takes: Bool, member_count: Int64) -> RowPrices | None:
        """Return the prices, `None` where they were not found."""


def level(*, size: Int64, takes: Bool, capacity: Int64, prices: PriceFunction) -> Fraction:
    """Return a use (weight / capacity) that no assignment can have below as its largest.

    `size` is int64[R], the weight of all partitions of each row, at least 0; `takes` is
    bool[R, K], which classes of members take the row, at least one each; `capacity` is
    int64[K], the sum of the capacities in each class, at least 1 where it takes a row. Sums are
    below 2**53.
    With W and C for the sums of `size` and `capacity`: it is the optimum with divisible
    partitions if W C**2 <= 2**30; else it is no less than 1 - (2 R + 1) C / 2**29 of it, because
    the price function gets rounded sizes, if C <= 2**30. Cost: that of `prices`, and O(R K).

    Topic 0 weighs 9, and two members of capacity 1 and 2 take it alone; a third takes both.

    >>> from assignors.optimal.prices import prices
    >>> takes = np.array([[True, True, False], [False, False, True]])
    >>> level(size=np.array([9, 2]), takes=takes, capacity=np.array([1, 2, 5]), prices=prices)
    Fraction(3, 1)
    """
    heavy = np.flatnonzero(size)
    if not len(heavy):
        return Fraction(0)
    size, takes = size[heavy], takes[heavy]
    assert takes.any(axis=1).all(), "weight that nobody takes"
    scaled, members = scaled_for_prices(size, capacity)
    priced = prices(size=scaled, takes=takes, member_count=members)
    of_row = np.zeros(len(size), dtype=np.int64) if priced is None else priced.of_row
    return _best_set(size, takes, capacity, of_row)


def scaled_for_prices(size: Int64, capacity: Int64) -> tuple[Int64, Int64]:
    """Return weights of rows and capacities of classes as whole numbers for a price function.

    `size` is int64[R], at least 1; `capacity` int64[K]. Cost: O(R + K).
    """
    return _scaled(size), np.maximum(_shrunk(capacity), 1)


def _scaled(size: Int64) -> Int64:
    """Return sizes in proportion whose sum is about `QUANTA`, in whole multiples if it is less."""
    factor = QUANTA // int(size.sum())
    return size * factor if factor else np.maximum(_shrunk(size), 1)


def _shrunk(values: Int64) -> Int64:
    """Return the values divided by the least power of two that brings their sum to `QUANTA`."""
    return values >> max(0, (int(values.sum()) - 1).bit_length() - QUANTA.bit_length() + 1)


def _best_set(size: Int64, takes: Bool, capacity: Int64, of_row: Int64) -> Fraction:
    """Return the largest ratio among the sets of rows whose price is at least some number."""
    bounds, group = np.unique(-of_row, return_inverse=True)  # from the highest price down
    weight = np.zeros(len(bounds), dtype=np.int64)
    np.add.at(weight, group, size)
    room = np.zeros(len(bounds) + 1, dtype=np.int64)
    reached = np.where(takes, group[:, None], len(bounds)).min(axis=0)
    np.add.at(room, reached, capacity)
    return largest(np.cumsum(weight), np.cumsum(room[:-1]))
