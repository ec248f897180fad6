"""Ways over one row: what is written for several members at once."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from assignors.optimal.flow import short_ways
from assignors.optimal.flow.blocking import push_all
from assignors.optimal.flow.distances import Distances, layers_of
from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.network import Network
from assignors.optimal.flow.residual import Residual, residual_of
from assignors.optimal.flow.table import DenseTable
from assignors.problem import Bool, Int64
from tests.optimal.groups import OWNERS, SHAPES, group


def drawn(dice: np.random.Generator) -> tuple[Residual, Bool]:
    """Draw what members own and have of rows, and must get; and who may take what."""
    rows, members = int(dice.integers(1, 5)), int(dice.integers(2, 9))
    allowed = dice.random((rows, members)) < 0.8
    owned = (dice.integers(0, 3, (rows, members)) * allowed).astype(np.int32)
    placed = (dice.integers(0, 3, (rows, members)) * allowed).astype(np.int32)
    load = placed.sum(axis=0, dtype=np.int64)
    least: Int64 = dice.integers(0, 5, members)
    optional: Int64 = dice.integers(0, 2, members)
    extra = np.minimum(np.maximum(load - least, 0), optional)
    network = Network(
        table=DenseTable(owned=owned, placed=placed),
        allowed=allowed,
        remote=None,
        least=least,
        optional=optional,
        unplaced=dice.integers(0, 3, rows),
        load=load,
        extra=extra,
        surplus=np.maximum(load - least - extra, 0),
        hub_room=dice.integers(-extra.sum(), 3, 1),
    )
    residual = residual_of(network)
    # A search starts where nobody has less than it owns: here some do.
    for kind, sets in enumerate(arcs(residual, allowed)):
        (*residual.down, *residual.up)[kind][: len(sets)] = sets
    return residual, allowed


def arcs(residual: Residual, allowed: Bool) -> tuple[list[int], ...]:
    """Return what `down` and `up` must say of every row, and of the hub and the goal."""
    owned, placed = (
        np.array([counts[cell] for cell in range(allowed.size)]).reshape(allowed.shape)
        for counts in (residual.owned, residual.placed)
    )
    extra, optional = np.array(residual.extra), np.array(residual.optional)
    lacks = np.array(residual.load) < np.array(residual.least)
    return (
        packed(placed < owned),
        packed([*(allowed & (placed >= owned)), extra > 0]),
        packed((placed > 0) & (placed <= owned)),
        packed([*(placed > owned), extra < optional, lacks]),
    )


def packed(table: Bool | list[Bool]) -> list[int]:
    return [sum(1 << int(place) for place in np.flatnonzero(row)) for row in table]


@pytest.mark.parametrize("are_as_far", [True, False])
def test_arcs_and_loads_are_those_of_the_counts_after_a_push(are_as_far: bool) -> None:  # noqa: FBT001 - a parameter
    dice, pushed = np.random.default_rng(7), 0
    for _ in range(500):
        residual, allowed = drawn(dice)
        everybody = (1 << residual.width) - 1
        far = 0 if are_as_far else int(dice.integers(0, everybody + 1))
        distances = Distances(
            row=[0 if are_as_far else int(dice.integers(0, 2)) for _ in range(residual.hub)]
            + [0, 0],
            members_at={0: everybody & ~far, 1: far} if far else {0: everybody},
        )
        effort = Effort()
        spare = sum(residual.extra) + residual.hub_room[0]
        pushed += push_all(residual, layers_of(residual, distances, effort), effort)
        found = (*residual.down, *residual.up)
        for sets, wanted in zip(found, arcs(residual, allowed), strict=True):
            assert sets[: len(wanted)] == wanted
        placed = np.array([residual.placed[cell] for cell in range(allowed.size)])
        assert placed.reshape(allowed.shape).sum(axis=0).tolist() == residual.load
        assert sum(residual.extra) + residual.hub_room[0] == spare
        for node, amount in residual.supply.items():
            assert amount > 0
            if node > residual.hub + 1:
                member = node - residual.hub - 2
                keeps = residual.least[member] + residual.extra[member]
                assert residual.load[member] == keeps + amount
    assert pushed > 100


def test_members_together_send_as_much_as_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [
        group(seed, member_max=30, topic_max=20, size_max=9, shape=shape, owners=owners)
        for (shape, owners), seed in product(product(SHAPES, OWNERS), range(3))
    ]
    together = [one.figures(one.solve().owner) for one in made]
    calls = [0]

    def one_by_one(*arguments: object) -> None:
        calls[0] += 1
        short_ways._push(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(short_ways, "_push_ones", one_by_one)
    assert [one.figures(one.solve().owner) for one in made] == together
    assert calls[0] > 20
