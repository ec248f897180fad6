"""Scenarios that have a name: the worlds of `docs/weights.md`, in `worlds.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

from assignors.names.nearest import question
from assignors.simulation.traffic.scenario import TrafficScenario, traffic_from_document


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A scenario, and what happens in it."""

    scenario: TrafficScenario
    text: str


def _worlds() -> dict[str, World]:
    text = files("assignors.simulation.traffic").joinpath("worlds.json").read_text("utf-8")
    return {
        name: World(scenario=traffic_from_document(one["scenario"]), text=one["text"])
        for name, one in json.loads(text).items()
    }


WORLDS: Mapping[str, World] = _worlds()
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
