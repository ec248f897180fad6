"""Distances against Bellman and Ford, and integers that no path and no table is too long for."""

from __future__ import annotations

from itertools import product

import pytest

from assignors.optimal.flow import settle as settle_module
from assignors.optimal.flow.blocking import push_all
from assignors.optimal.flow.distances import Distances, Layers
from assignors.optimal.flow.residual import BELOW_MOST, LACKING, RACK, WITH_EXTRA, Residual
from tests.optimal.groups import SHAPES, group, with_racks
from tests.optimal.oracles import best_by_trial

Arc = tuple[int, int, int]


def arcs_of(residual: Residual) -> list[Arc]:
    """Return (from, to, cost) of every arc that has capacity; the goal has the highest number."""
    hub, goal = residual.hub, residual.hub + 1
    members = range(len(residual.load))
    found = [(hub, goal, 0)] if residual.hub_room[0] > 0 else []
    for sets, make in (
        (LACKING, lambda member: (member, goal, 0)),
        (BELOW_MOST, lambda member: (member, hub, 0)),
        (WITH_EXTRA, lambda member: (hub, member, 0)),
    ):
        among = residual.member_sets[sets]
        found += [make(residual.row_count + m) for m in members if among >> m & 1]
    for row, member in product(range(residual.row_count), members):
        node = residual.row_count + member
        for kind, cost in enumerate(residual.costs):
            if residual.down[kind][row] >> member & 1:
                found.append((row, node, -cost))
            assert (residual.up[kind][row] >> member & 1) == (
                residual.up_of[kind][member] >> row & 1
            )
            if residual.up[kind][row] >> member & 1:
                found.append((node, row, cost))
    return found


def cheapest_ways(residual: Residual) -> list[int | None]:
    """Return the cost from each node to the goal the slow way, `None` where there is no way."""
    best: list[int | None] = [None] * (residual.hub + 1) + [0]
    arcs = arcs_of(residual)
    for _ in best:
        for begin, end, cost in arcs:
            onward = best[end]
            here = best[begin]
            if onward is not None and (here is None or onward + cost < here):
                best[begin] = onward + cost
    return best


def said(residual: Residual, distances: Distances) -> list[int]:
    """Return the distance of each node."""
    of_member = [
        next(at for at, there in distances.members_at.items() if there >> member & 1)
        for member in range(len(residual.load))
    ]
    return [*distances.row, *of_member, distances.hub[0], 0]


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Check every search from now on; return a list that fills with the distances seen."""
    seen: list[int] = []

    def check_and_push(residual: Residual, distances: Distances, layers: Layers) -> int:
        stated, true = said(residual, distances), cheapest_ways(residual)
        for begin, end, cost in arcs_of(residual):
            assert stated[begin] <= cost + stated[end], "an arc shorter than the difference"
        layer_of = [*layers.row_layer]
        for node, distance in enumerate(true[: residual.row_count]):
            if layer_of[node] >= 0:
                assert stated[node] == distance
        for (_, distance), members in layers.members.items():
            for member in range(len(residual.load)):
                if members >> member & 1:
                    assert true[residual.row_count + member] == distance
        seen.extend(stated)
        return push_all(residual, distances, layers)

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
