"""The limit by formula is what a flooded model answers."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.measures import measure
from assignors.simulation.timed.execution.policy import POLICIES, Settings
from assignors.simulation.timed.sweeps.rows import limit_per_second

LOADS = {
    "no check": Load(requests=3000, groups=400),
    "checks": Load(requests=3000, groups=400, check_us=1500),
    "some checks": Load(requests=3000, groups=400, check_us=1500, checks_share=0.25),
    "changes": Load(requests=3000, groups=12, check_us=1500, changes_share=1.0),
    "few changes": Load(requests=6000, groups=12, check_us=1500, changes_share=0.2),
    "hand-over": Load(requests=3000, groups=400, handoff_us=150),
    "slow log": Load(requests=3000, groups=400, append_us=150),
}
SETTINGS = {
    "as many": Settings(),
    "few workers": Settings(workers=2, partitions=8),
    "few partitions": Settings(workers=8, partitions=2),
}


MODELS = ("wait-all", "blocking", "two-stage", "per-group")
FLOODS = [
    pytest.param(name, load, settings, marks=() if sum(at) % 3 == 0 else pytest.mark.deep)
    for at, (name, load, settings) in zip(
        product(range(len(MODELS)), range(len(LOADS)), range(len(SETTINGS))),
        product(MODELS, LOADS, SETTINGS),
        strict=True,
    )
]
"""Every model with every load, and with all settings; `make deep`: under each of them."""


@pytest.mark.parametrize(("name", "load", "settings"), FLOODS)
def test_a_flooded_model_answers_as_many_as_the_formula_says(
    name: str, load: str, settings: str
) -> None:
    policy, chosen = POLICIES[name], SETTINGS[settings]
    limit = limit_per_second(policy, LOADS[load], chosen)
    flooded = replace(LOADS[load], per_second=min(round(4 * limit), 2_000_000))
    measured = measure(policy, flooded, chosen)
    assert not measured.is_sustained
    # Workers of a group that wait for the log of one partition are not in the formula.
    is_crowded = (name, load, settings) == ("per-group", "slow log", "as many")
    assert measured.throughput_per_second == pytest.approx(limit, rel=0.3 if is_crowded else 0.1)
