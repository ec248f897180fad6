"""What is compared: assignors, each in the same client, kafka-python, through the same plug-in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from assignors.assignor import Assignor
from assignors.clients.kafka_python import strategy
from assignors.model import Group
from assignors.rebalance import Rebalance
from assignors.weighted.cooperative_sticky import COOPERATIVE_WEIGHTED
from tests.foreign.weights.lag_based import lag_based_assignor, lags_on
from tests.foreign.weights.world import World


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


def _known(place: Place) -> Any:
    return strategy(with_known_weights(place.world))


def with_known_weights(world: World) -> Assignor:
    """Return `weighted/cooperative-weighted` with what partitions weigh before the change."""
    known = world.weighting(0.0)

    def assign(group: Group) -> Rebalance:
        capacities = {
            each.member_id: known.capacities[each.member_id.partition("-")[0]]
            for each in group.members
        }
        return COOPERATIVE_WEIGHTED.assign(
            replace(group, weighting=replace(known, capacities=capacities))
        )

    return replace(COOPERATIVE_WEIGHTED, assign=assign)


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
    "known weights": Contender(
        text=(
            "`cooperative-weighted` with the members' capacities and what partitions weigh before "
            "the change; nobody corrects these weights afterwards"
        ),
        strategy=_known,
        is_ours=True,
    ),
}
