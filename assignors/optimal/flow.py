"""The fewest moves that reach given loads: a min-cost flow on the table of rows x members.

The primal-dual method: find the distance of the nearest node that can still absorb flow, send
as much as shortest paths carry, and repeat until no surplus is left. After every phase the flow
is the cheapest for the amount it delivers, so when everything is delivered it is the cheapest of
all. A group in which little changed needs no phase after the initial flow.

If some surplus can reach nothing that absorbs, what it does reach is a minimum cut: the
proof that the demanded loads do not exist.
"""

from __future__ import annotations

from dataclasses import dataclass

from assignors.optimal.blocking import push_all
from assignors.optimal.distances import measure, shortest
from assignors.optimal.network import Network
from assignors.problem import Bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A minimum cut: rows reached from the surplus, bool[R], and members reached, bool[M].

    Partitions of these rows can be taken only by these members, which are all full.
    """

    row: Bool
    member: Bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the search ended: `cut` is `None` when everything supplied was absorbed."""

    cut: Cut | None
    phases: int


def settle(network: Network) -> Outcome:
    """Send all surplus of the network to where it can be absorbed, at the least cost.

    Changes the arrays of `network`. Cost: phases x sweeps x R M + paths x their length; the
    number of phases is the number of different distances, 0 to 30 in practice.
    """
    if network.is_settled:
        return Outcome(cut=None, phases=0)
    arcs = measure(network)
    phases = 0
    nearest = 0
    while not network.is_settled:
        distances = shortest(network, arcs)
        if distances.goal >= arcs.far:
            cut = Cut(row=distances.row < arcs.far, member=distances.member < arcs.far)
            return Outcome(cut=cut, phases=phases)
        assert distances.goal >= nearest, "the cheapest path became cheaper"
        nearest = distances.goal
        path_count = push_all(network, arcs, distances)
        assert path_count > 0, "a goal at finite distance that no path reaches"
        phases += 1
    return Outcome(cut=None, phases=phases)
