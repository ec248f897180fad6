"""What is compared: assignors, each in the same client, kafka-python, through the same plug-in."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from assignors.clients.common.weight_source import WeightsOf
from assignors.clients.kafka_python import cooperative_weighted, strategy
from assignors.model import Group
from assignors.weighting import Weighting
from assignors.weighting.token_bucket import TimedBudget
from assignors.workload import Sample, Workload, after, work
from tests.interop.admin import Admin
from tests.lab.weights.lag_based import lag_based_assignor, lags_on
from tests.lab.weights.world import World


class Place(NamedTuple):
    """The member that a strategy is made for."""

    world: World
    bootstrap: str
    group: str
    capacity: int


class Contender(NamedTuple):
    """An assignor, and what its members do besides."""

    text: str
    """What it is, for the page."""
    strategy: Callable[[Place], Any]
    """Makes the object for `partition_assignment_strategy`."""
    is_ours: bool = False
    rejoin_s: float | None = None
    """How often the leader has the group rebalanced, `None`: never by itself."""


REFRESH_S = 1.0
HALF_LIFE_S = 3.0
HORIZON_S = 10.0
BATCH_S = 2.0
"""A real group would have all of these about thirty times as long, as the plug-in has."""


def _fixed(place: Place) -> Any:
    """Return the strategy with what partitions weigh before the change."""
    known = place.world.weighting(0.0)

    def weighting_of(group: Group) -> Weighting:
        capacities = {
            each.member_id: known.capacities[each.member_id.partition("-")[0]]
            for each in group.members
        }
        return replace(known, capacities=capacities)

    return strategy(
        "cooperative-weighted",
        weighting=weighting_of,
        budget=TimedBudget(every_ms=round(BATCH_S * 1000)),
    )


def _sampled(place: Place, weights: WeightsOf | None = None) -> Any:
    """Return the plug-in's strategy, which samples offsets if it gets no function for weights."""
    return cooperative_weighted(
        capacity=place.capacity,
        weights=weights,
        horizon_s=HORIZON_S,
        half_life_s=HALF_LIFE_S,
        refresh_s=REFRESH_S,
        batch_every_s=BATCH_S,
    )


class WorkInTime:
    """Weights of a user who knows what a record costs: rate x horizon + lag, times that."""

    def __init__(self, place: Place) -> None:
        """Ask the broker for offsets, as often as weights are asked for."""
        self._admin = Admin(place.bootstrap)
        self._group = place.group
        self._cost_s = place.world.cost_s
        self._partitions = place.world.partitions
        self._workload: Workload | None = None

    def __call__(self, partition_counts: Mapping[str, int]) -> dict[str, list[float]]:
        """Return microseconds of work by topic, NaN where it is not known."""
        sample = Sample.of(
            time.monotonic_ns() // 1_000_000,
            log_end=_by_topic(self._admin.ends(partition_counts), partition_counts),
            committed=_by_topic(self._admin.committed(self._group), partition_counts),
        )
        self._workload = after(self._workload, sample, half_life_s=HALF_LIFE_S)
        assert self._workload.partitions.topics == tuple(sorted(partition_counts))
        waiting = work(self._workload.rate, self._workload.lag, horizon_s=HORIZON_S)
        found: dict[str, list[float]] = {}
        for (topic, _), each in zip(self._partitions, waiting * self._cost_s * 1e6, strict=True):
            found.setdefault(topic, []).append(float(each))
        return found


def _by_topic(
    offsets: Mapping[tuple[str, int], int], partition_counts: Mapping[str, int]
) -> dict[str, list[int | None]]:
    return {
        topic: [offsets.get((topic, number)) for number in range(count)]
        for topic, count in partition_counts.items()
    }


CONTENDERS: Mapping[str, Contender] = {
    "range": Contender(
        text="Kafka's `range`, eager: it counts, and keeps nothing where it was",
        strategy=lambda _: strategy("java/range"),
    ),
    "cooperative-sticky": Contender(
        text="Kafka's `cooperative-sticky`: it counts, and keeps what it can",
        strategy=lambda _: strategy("java/cooperative-sticky"),
    ),
    "lag-based": Contender(
        text=(
            "the rule of grantneale/kafka-lag-based-assignor, eager: fewest partitions of a topic, "
            "then least lag. It acts when members come and go, as the original does"
        ),
        strategy=lambda place: strategy(lag_based_assignor(lags_on(place.bootstrap, place.group))),
    ),
    "lag-based, repeated": Contender(
        text="the same, and the leader has the group rebalanced every 5 seconds",
        strategy=lambda place: strategy(lag_based_assignor(lags_on(place.bootstrap, place.group))),
        rejoin_s=5.0,
    ),
    "fixed weights": Contender(
        text=(
            "`cooperative-weighted` with the members' capacities and what partitions weigh before "
            "the change; nobody corrects these weights afterwards"
        ),
        strategy=_fixed,
        is_ours=True,
    ),
    "sampled records": Contender(
        text=(
            "`cooperative-weighted` as the plug-in has it: members write their capacity, the "
            f"leader's client samples offsets every {REFRESH_S:g} s, a partition weighs its rate x "
            f"{HORIZON_S:g} s plus its lag, in records; moves at most every {BATCH_S:g} s. What a "
            "record costs is not known to it"
        ),
        strategy=_sampled,
        is_ours=True,
    ),
    "sampled work": Contender(
        text=(
            "the same with a function of the user's, which multiplies what it has sampled by what "
            "a record of the partition costs"
        ),
        strategy=lambda place: _sampled(place, WorkInTime(place)),
        is_ours=True,
    ),
}
