"""What the timed simulator predicts of real groups holds: three repetitions of some cells.

The heartbeats are a second long here, so that it takes half a minute. What thirty repetitions of
every cell gave, with the defaults, stands in RESULTS.md.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from assignors.simulation.timed.scenario import Verb
from tests.conftest import need
from tests.foreign.calibrate import fit
from tests.foreign.calibrate.compare import compare
from tests.foreign.calibrate.crowds import CROWD
from tests.foreign.calibrate.plan import KINDS, cell, plan_of
from tests.foreign.calibrate.predictions import predict
from tests.foreign.calibrate.real import Recording, play, settings
from tests.interop.broker import Broker

HEARTBEAT_MS = 1000
REPETITIONS = 4
"""The first one is left out."""
SEEDS = range(10)
PATIENCE = 0.35
"""Seconds that a busy machine may add to a median of three."""
PLANS = {
    kind: plan_of(cell(kind, 3, heartbeat_ms=HEARTBEAT_MS), repetitions=REPETITIONS, seed=1)
    for kind in KINDS
}

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Recording]]:
    """Every kind's group, played side by side on one broker."""
    for tool in (*CROWD.missing_tools(), "java"):
        need(tool)
    with Broker(settings(HEARTBEAT_MS)) as broker:
        played = play(
            broker, list(PLANS.values()), mark="ci", folder=tmp_path_factory.mktemp("crowds")
        )
        yield dict(zip(PLANS, played, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("verb", [Verb.START, Verb.STOP])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_join_or_leave_costs_is_predicted(
    kind: str, verb: Verb, recordings: dict[str, Recording]
) -> None:
    recording = recordings[kind]
    assert recording.died == 0
    simulated = predict(recording, fit.kept()[kind], seeds=SEEDS)
    found = compare(recording.plan, verb, recording.figures, simulated)
    assert found.repetitions >= REPETITIONS - 2
    assert found.moves == found.repetitions
    more, _ = found.more_rounds
    assert found.generations + more >= found.repetitions
    if not KINDS[kind].is_eager:
        longest = found.times["longest_s"]
        assert longest.real[1] == pytest.approx(longest.simulated[1], rel=0.1, abs=PATIENCE)
