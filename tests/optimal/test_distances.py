"""Distances against Bellman and Ford, and integers that no path and no table is too long for."""

from __future__ import annotations

from itertools import product

import pytest

from assignors.optimal.flow import settle as settle_module
from assignors.optimal.flow.blocking import push_all
from assignors.optimal.flow.distances import Distances, Layers, layers_of
from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.residual import RACK, Residual
from tests.optimal.groups import SHAPES, group, with_racks
from tests.optimal.oracles import best_by_trial

Arc = tuple[int, int, int]


def arcs_of(residual: Residual) -> list[Arc]:
    """Return (from, to, cost) of every arc that has capacity; rows, hub, goal, then members."""
    hub, goal = residual.hub, residual.hub + 1
    found = [(hub, goal, 0)] if residual.hub_room[0] > 0 else []
    for row, member in product(range(goal + 1), range(len(residual.load))):
        node = goal + 1 + member
        for kind, cost in enumerate(residual.costs):
            if residual.down[kind][row] >> member & 1:
                found.append((row, node, -cost))
            if residual.up[kind][row] >> member & 1:
                found.append((node, row, cost))
    return found


def cheapest_ways(residual: Residual) -> list[int | None]:
    """Return the cost from each node to the goal the slow way, `None` where there is no way."""
    best: list[int | None] = [None] * (residual.hub + 2 + len(residual.load))
    best[residual.hub + 1] = 0
    arcs = arcs_of(residual)
    for _ in best:
        for begin, end, cost in arcs:
            onward, here = best[end], best[begin]
            if onward is not None and (here is None or onward + cost < here):
                best[begin] = onward + cost
    return best


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Check every search from now on; return a list that fills with the distances seen."""
    seen: list[int] = []
    distances_now: list[Distances] = []

    def compute(residual: Residual, distances: Distances, effort: Effort) -> Layers:
        distances_now[:] = [distances]
        return layers_of(residual, distances, effort)

    def check_and_push(residual: Residual, layers: Layers, effort: Effort) -> int:
        (distances,) = distances_now
        members = range(len(residual.load))
        of_member = [
            next(at for at, there in distances.members_at.items() if there >> member & 1)
            for member in members
        ]
        stated, true = [*distances.row, *of_member], cheapest_ways(residual)
        for begin, end, cost in arcs_of(residual):
            assert stated[begin] <= cost + stated[end], "an arc shorter than the difference"
        reached = [residual.hub + 2 + m for m in members if sum(layers.members) >> m & 1]
        for node in [*layers.layer_of, *reached]:
            assert stated[node] == true[node]
        seen.extend(stated)
        return push_all(residual, layers, effort)

    monkeypatch.setattr(settle_module, "layers_of", compute)
    monkeypatch.setattr(settle_module, "push_all", check_and_push)
    return seen


@pytest.mark.parametrize("shape", SHAPES)
def test_what_reaches_the_goal_is_as_far_as_the_cheapest_way(
    shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = watched(monkeypatch)
    for seed, owners in product(range(6), ("random", "one member")):
        made = group(seed, member_max=7, topic_max=5, size_max=9, shape=shape, owners=owners)
        made.solve()
        with_racks(made, seed, rack_max=3).solve()
    assert seen or shape.startswith("equal")


def test_distances_do_not_fit_into_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rack outweighs all moves there can be, so what counts both needs more than int32."""
    seen = watched(monkeypatch)
    for seed in range(40):
        made = group(seed, member_max=4, topic_max=3, size_max=4, shape="any", owners="skewed")
        made = with_racks(made, seed, rack_max=3)
        assert made.figures(made.solve().owner) == best_by_trial(made)
    assert max(seen) > 2**31
    assert all(type(distance) is int for distance in seen)


def test_a_rack_outweighs_the_moves_of_any_path() -> None:
    """A path visits a member once, and members are numbered in int32."""
    assert RACK > 2 * 2**31
