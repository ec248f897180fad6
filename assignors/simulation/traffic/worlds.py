"""Scenarios that have a name: the worlds of `docs/weights.md`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assignors.names.nearest import question
from assignors.simulation.traffic.scenario import (
    HOUR_S,
    LeaderConfig,
    RateConfig,
    TrafficAction,
    TrafficMember,
    TrafficScenario,
    Verb,
)

TWELVE = TrafficScenario().members
CALM = RateConfig(noise=0.05, bursts_a_day=0)
FIXED = RateConfig(drift=0, noise=0, bursts_a_day=0)


def _act(at_s: int, do: Verb, member: str) -> TrafficAction:
    return TrafficAction(at_s=at_s, do=do, member=member)


_NOISY = TrafficScenario(
    name="noisy",
    members=(*TWELVE, TrafficMember(name="m12")),
    plan=(
        _act(HOUR_S, Verb.LEAVE, "m03"),
        _act(HOUR_S + 600, Verb.JOIN, "m03"),
        _act(2 * HOUR_S, Verb.JOIN, "m12"),
        _act(3 * HOUR_S, Verb.LEAVE, "m12"),
    ),
)
_CATCH_UP = TrafficScenario(name="catch-up", rates=CALM, behind_share=0.2)
_STEADY = TrafficScenario(
    name="steady", until_s=2 * HOUR_S, count_from_s=600, rates=FIXED, leader=LeaderConfig(error=0.1)
)
_DAY = TrafficScenario(
    name="day",
    until_s=24 * HOUR_S,
    tick_s=30,
    members=(*TWELVE, TrafficMember(name="m12")),
    plan=(
        _act(6 * HOUR_S, Verb.JOIN, "m12"),
        _act(15 * HOUR_S, Verb.LEAVE, "m07"),
        _act(15 * HOUR_S + 900, Verb.JOIN, "m07"),
    ),
    rates=RateConfig(drift=0.5, drift_period_s=24 * HOUR_S),
    leader=LeaderConfig(decides_every_s=300, samples_every_s=60, half_life_s=300),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A scenario, and what happens in it."""

    scenario: TrafficScenario
    text: str


WORLDS: Mapping[str, World] = {
    "noisy": World(
        scenario=_NOISY,
        text="Four hours of noise and bursts; a member leaves and is back after ten minutes,"
        " another one comes for an hour.",
    ),
    "catch-up": World(
        scenario=_CATCH_UP,
        text="A fifth of the partitions begin an hour behind, and all is calm.",
    ),
    "steady": World(
        scenario=_STEADY,
        text="Rates do not change; what the leader measures is off by a tenth, each time anew.",
    ),
    "day": World(
        scenario=_DAY,
        text="A day: traffic that rises and falls, a member more, a member that restarts.",
    ),
}
"""By name."""


def world(name: str) -> TrafficScenario:
    """Return the scenario of this name. Raises `ValueError` for a name that none has.

    >>> world("day").until_s
    86400
    """
    if name not in WORLDS:
        words = question(name, WORLDS) or f"; known: {', '.join(WORLDS)}"
        raise ValueError(f"no traffic scenario {name!r}{words}")
    return WORLDS[name].scenario
