"""Small runs on a real broker hold what the long one has found: `make execution` plays that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import need
from tests.interop.install import BROKER
from tests.lab.execution import commits, recordings, traces
from tests.lab.execution.commits import Server, Times
from tests.lab.execution.predicted_commits import MEDIAN, fit, predict
from tests.lab.execution.programs import PROGRAMS
from tests.lab.execution.rebalances import Kind

QUICK = Times(seconds=1.5, warm_seconds=0.5, first_seconds=1.0)
RATE = 500
REPETITIONS = 2
BUSY_US = 10_000
"""What a busy machine may add to the least median."""

pytestmark = pytest.mark.interop


@pytest.fixture(autouse=True)
def _tools() -> None:
    for tool in (*PROGRAMS.missing_tools(), *BROKER.missing_tools(), "java"):
        need(tool)


def test_a_commit_waits_for_the_linger(tmp_path: Path) -> None:
    """At few commits each opens a batch of its own, and waits for the whole linger."""
    server = Server(linger_ms=50)
    played = commits.play(server, (RATE,) * REPETITIONS, QUICK, folder=tmp_path)
    row = min(played, key=lambda each: each["per_mille_us"][MEDIAN])
    said = predict(server, RATE, fit(recordings.load().commits), requests=1000)
    assert row["answered"] / row["seconds"] == pytest.approx(RATE, rel=0.2)
    assert row["per_mille_us"]["990"] > 45_000
    assert row["per_mille_us"][MEDIAN] == pytest.approx(said["p50_us"], abs=BUSY_US)


def test_callbacks_are_those_of_the_long_run(tmp_path: Path) -> None:
    kept = recordings.load().traces
    stories = {name: traces.STORIES[name] for name in ("close", "second member", "removed")}
    for kind, found in traces.play((Kind.CONSUMER,), stories, folder=tmp_path).items():
        assert found == {name: kept[kind][name] for name in stories}
