"""The figures of docs/weights.md, `Over time`, are those of today."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.benchmarks.bench_traffic import COUNTING, OURS, PARTS, measured, played
from tests.benchmarks.traffic.contenders import CONTENDERS
from tests.lab.weights.over_time import kept, least


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("noisy", COUNTING),
        pytest.param("noisy", OURS, marks=pytest.mark.deep),
        pytest.param("catch-up, 70%", OURS, marks=pytest.mark.deep),
    ],
)
def test_the_kept_figures_are_those_of_today(part: str, name: str) -> None:
    ((_, found),) = measured(PARTS[part], only=name)
    again = "play them anew: python -m tests.benchmarks.bench_traffic --store"
    assert found == pytest.approx(kept()[part][name], rel=0.02, abs=0.01), again


def test_no_assignor_catches_up_sooner_than_what_is_called_the_best() -> None:
    assert least().keys() == {name for name, part in PARTS.items() if part.scenario.behind_share}
    for name, seconds in least().items():
        assert all(found["caught_up_after_s"] >= seconds for found in kept()[name].values())


@pytest.mark.parametrize("name", CONTENDERS)
def test_a_peer_hands_over_as_safely_as_ours_and_leaves_nothing_behind(name: str) -> None:
    short = replace(PARTS["noisy"].scenario, until_s=900, plan=())
    found = played(short, CONTENDERS[name], seed=1)
    assert found.double == 0
    assert found.placed == 240
    # Every round stops all partitions of an eager group, and those that move of another.
    rounds = found.rounds_per_hour / 4
    paused = found.paused_s_per_hour / 4 / short.tick_s
    is_cooperative = CONTENDERS[name].made().is_cooperative
    if not is_cooperative:
        assert paused == pytest.approx(240 * rounds)
    else:
        # With new weights, what was taken from a member may come back to it, which is no move.
        assert 240 + found.moves <= round(paused) <= 240 + found.moves + 2
