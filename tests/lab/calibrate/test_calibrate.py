"""What the timed simulator predicts of real groups holds: three repetitions of some cells.

The heartbeats are a second long here, so that it takes half a minute. What thirty repetitions of
every cell gave, with the defaults, stands in RESULTS.md. A right model fails a test here less than
once in a thousand times (`likely`), and what fails is played again with new groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pytest

from assignors.simulation.timed.scenario import Verb
from tests.conftest import need
from tests.interop.broker import Broker
from tests.lab.calibrate import fit
from tests.lab.calibrate.crowds import CROWD
from tests.lab.calibrate.figures import Figures
from tests.lab.calibrate.likely import (
    false_alarm,
    lean_p,
    of_usual_rounds,
    unlikely,
)
from tests.lab.calibrate.plan import KINDS, cell, plan_of
from tests.lab.calibrate.predictions import predict
from tests.lab.calibrate.real import Recording, play, settings

HEARTBEAT_MS = 1000
REPETITIONS = 4
"""The first one is left out: processes are cold."""
SEEDS = range(42)
"""More than false alarms need: some simulated groups are not at rest in time."""
SLACK_S = 0.35
"""By how much a busy machine may change a time."""
RIGHT = 0.999
"""A right model passes at least so often, each test by itself."""
VERBS = (Verb.START, Verb.STOP)
PLANS = {
    kind: plan_of(cell(kind, 3, heartbeat_ms=HEARTBEAT_MS), repetitions=REPETITIONS, seed=1)
    for kind in KINDS
}
CALM = [kind for kind in KINDS if not KINDS[kind].is_eager]
"""Kinds whose members stop only what moves: how long that stands still is a matter of heartbeats,
not of how far apart the members of a busy machine stop."""

pytestmark = pytest.mark.interop


@dataclass(frozen=True)
class Group:
    """A real group, and what is predicted of it."""

    recording: Recording

    @cached_property
    def runs(self) -> list[list[Figures]]:
        """The figures of each verb for many seeds, over all that is not known of the group."""
        constants = fit.kept()[self.recording.plan.cell.kind]
        return predict(self.recording, constants, seeds=SEEDS)

    def sides(self, verb: Verb) -> tuple[list[Figures], list[Figures]]:
        """Return what happened where the group came to rest, and what was predicted."""
        places = [n for n, action in enumerate(self.recording.plan.verbs) if action.do is verb][1:]
        real = self.recording.figures
        settled = [place for place in places if real[place].is_settled]
        return (
            [real[place] for place in settled],
            [run[place] for run in self.runs for place in settled if run[place].is_settled],
        )


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Group]:
    """The group of every kind, played side by side on one broker; made anew for another run."""
    for tool in (*CROWD.missing_tools(), "java"):
        need(tool)
    with Broker(settings(HEARTBEAT_MS)) as broker:
        found = play(
            broker, list(PLANS.values()), mark="ci", folder=tmp_path_factory.mktemp("crowds")
        )
    return dict(zip(PLANS, map(Group, found), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_join_or_leave_costs_is_predicted(
    kind: str, verb: Verb, groups: Mapping[str, Group]
) -> None:
    assert groups[kind].recording.died == 0
    real, simulated = groups[kind].sides(verb)
    assert len(real) >= REPETITIONS - 2
    assert false_alarm(len(real), len(simulated)) < 1 - RIGHT
    period_s = HEARTBEAT_MS / 1000
    found = unlikely(real, simulated, times=times_of(kind), slack_s=SLACK_S, period_s=period_s)
    assert found == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["longest_s", "duration_s"])
def test_times_do_not_lean_to_one_side_of_what_is_predicted(
    name: str, groups: Mapping[str, Group]
) -> None:
    found = [groups[kind].sides(verb) for kind in CALM for verb in VERBS]
    cells = [
        (
            [getattr(each, name) for each in of_usual_rounds(real, simulated)],
            [getattr(each, name) for each in of_usual_rounds(simulated, simulated)],
        )
        for real, simulated in found
    ]
    assert lean_p(cells, slack_s=SLACK_S) > 1 - RIGHT


def times_of(kind: str) -> tuple[str, ...]:
    """Return the figures that are compared."""
    return ("longest_s", "duration_s") if kind in CALM else ("duration_s",)
