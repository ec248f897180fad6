"""Why a partition moves or stays under an assignor by weight.

The assignment itself is not made here. What the search found for the same claims is put into words:
how full the members were before any move, why nothing moved, and what a budget puts off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assignors.arrays import Int32, Int64
from assignors.problem import NOBODY, Problem
from assignors.weighted.inputs import search_of
from assignors.weighted.search.table import Float64
from assignors.weighted.solve import Hold, solve
from assignors.weighting import Balance, MustHold, Weighting

NOT_KNOWN = {
    MustHold.NO_WEIGHTS: "no weights are known yet",
    MustHold.STALE: "the weights are too old",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightReason:
    """What weights have to do with one partition."""

    weight: int
    fill: Mapping[str, float]
    """Member id -> its use before any move, in parts of its fair use: 1.4 is 40 % above it. Of the
    member that stickiness favours, and of the one that gets the partition."""
    before: int | None
    """How many partitions move before it does, if the budget puts it off; else `None`."""
    hold: str | None
    """Why nothing moves at all (`Hold` or `MustHold`), `None` where something does."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightReasons:
    """What the search found for a group, to explain any of its P partitions."""

    problem: Problem
    balance: Balance
    weight: Int64
    """int64[P]."""
    fill: Float64
    """float64[M]: what each member has before any move, 1.0 is its fair use."""
    hold: Hold | MustHold | None
    helped: frozenset[int]
    """Members that give up a partition, now or as soon as the budget allows."""
    before: Mapping[int, int]
    """Partition that is put off -> how many move before it."""

    def of(self, place: int, owner: int, target: str | None) -> WeightReason | None:
        """Return the reason for partition number `place`, whose favoured member is `owner`.

        `None` without one: a partition without an owner has to be placed, whatever it weighs.
        `target` is the id of the member that it is to go to. Cost: O(M).
        """
        if owner == NOBODY:
            return None
        name = self.problem.members[owner].member_id
        fill = {name: round(float(self.fill[owner]), 4)}
        if target in {None, name}:
            text = self._stays(place, owner, f"the member has {fill[name]:.2f} x its fair use")
        else:
            ids = [member.member_id for member in self.problem.members]
            fill[str(target)] = round(float(self.fill[ids.index(str(target))]), 4)
            text = f"{name} had {fill[name]:.2f} x its fair use, {target} {fill[str(target)]:.2f} x"
        return WeightReason(
            weight=int(self.weight[place]),
            fill=fill,
            before=self.before.get(place),
            hold=None if self.hold is None else self.hold.value,
            text=text,
        )

    def _stays(self, place: int, owner: int, load: str) -> str:
        """Return why a partition stays; `load` says how much its member has."""
        before = self.before.get(place)
        if before is not None:
            return f"put off by the budget, {before} before it: {load}"
        if isinstance(self.hold, MustHold):
            return f"{load}, and {NOT_KNOWN[self.hold]}, so nothing moves"
        if self.hold is Hold.IN_BAND:
            band = f"nobody is more than {float(self.balance.trigger):.0%} above that"
            return f"inside the band: {load}, {band}, and nobody is idle"
        if self.fill[owner] <= float(1 + self.balance.tolerance):
            return f"inside the band: {load}"
        if owner in self.helped:
            return f"{load}, and other partitions of it move"
        return f"{load}, and no move was found that helps"


def weight_reasons(problem: Problem, weighting: Weighting, favoured: Int32) -> WeightReasons | None:
    """Return what the search finds for the claims; `favoured` is int32[P].

    `None` where all weighs the same, and members are balanced by count. Cost: that of `solve`.
    """
    search = search_of(problem, weighting, favoured)
    found = solve(search)
    if found.fill is None:
        return None
    must_hold = weighting.must_hold
    put_off = [] if must_hold else found.deferred.tolist()
    moved = [] if must_hold else (found.placed != found.owner).nonzero()[0].tolist()
    return WeightReasons(
        problem=problem,
        balance=weighting.balance,
        weight=search.weight,
        fill=found.fill,
        hold=must_hold or found.hold,
        helped=frozenset(found.placed[[*moved, *put_off]].tolist()),
        before={partition: rank for rank, partition in enumerate(put_off)},
    )
