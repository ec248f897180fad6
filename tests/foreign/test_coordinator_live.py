"""Our coordinators of classic and consumer groups against Kafka's: answer for answer.

Kafka's `GroupCoordinatorShard` plays what ours has played: every response with its fields and the
operation at which it leaves, every record that is written, and the ids, generations and leaders in
them have to be equal. HISTORIES and SUITE_SEED try more, or others.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.foreign import plays
from tests.foreign.histories import HISTORIES as KINDS
from tests.foreign.histories import history
from tests.foreign.judge import Judge
from tests.foreign.losses import Losing
from tests.foreign.player import replayed
from tests.foreign.trial import seed

pytestmark = pytest.mark.foreign

HISTORIES = int(os.environ.get("HISTORIES", "700")) * int(os.environ.get("DEEP", "1"))
LENGTHS = (12, 40, 80, 12, 40, 150)
BATCH = 200


CODES = {
    "classic": {-1, 0, 22, 23, 25, 27, 68, 69, 79, 81, 82},
    "consumer": {0, 22, 25, 35, 69, 81, 82, 110, 111, 113, 128},
    "mixed": {-1, 0, 22, 23, 25, 27, 35, 68, 69, 79, 81, 82, 110, 111, 113, 128},
}
RARE = {68}
"""Answers that some hundred histories may be without; all others are in one of forty."""
WRITTEN = Path(__file__).with_name("once_differed.jsonl").read_text("utf-8").splitlines()
"""Histories of generators that are gone, each with what it was about."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_kafkas_coordinator_answers_as_ours(judge: Judge, kind: str) -> None:
    first = seed() * 10_000_000
    met = set()
    for start in range(0, HISTORIES, BATCH):
        played = [
            (number, *KINDS[kind](first + number, LENGTHS[number % len(LENGTHS)]))
            for number in range(start, min(start + BATCH, HISTORIES))
        ]
        answers = judge.ask_all([request for _, request, _ in played])
        for (number, request, ours), answer in zip(played, answers, strict=True):
            assert "steps" in answer, (first + number, answer)
            found = list(plays.differences(ours, answer["steps"]))
            assert not found, f"seed {first + number}, {len(request['ops'])} operations: {found[0]}"
            met |= {each["error"] for step in ours for each in step["responses"]}
    assert met | RARE == CODES[kind] | RARE, "a kind of answer was not met"


@pytest.mark.parametrize(
    ("seed_", "length"),
    [
        # a member without a rebalance timeout is too slow at once
        pytest.param(23013719, 150, id="no-timeout"),
        # the last look-up of patterns is that of the first one in Kafka's map
        pytest.param(25003595, 150, id="first-pattern"),
        # a consumer group becomes a classic one at epoch 0
        pytest.param(31092713, 22, id="downgrade-at-epoch-0"),
        # a dynamic member in place of a static one, which Kafka still counts
        pytest.param(43004471, 62, id="in-place-of-another"),
        # who asks after a request that failed compares topics only until the epoch is reached
        pytest.param(41052935, 135, id="refresh-of-a-failed-request"),
    ],
)
def test_histories_of_long_runs_that_once_differed(judge: Judge, seed_: int, length: int) -> None:
    request, ours = history(seed_, length)
    answer = judge.ask(request)
    assert list(plays.differences(ours, answer["steps"])) == []


@pytest.mark.parametrize("line", WRITTEN, ids=lambda line: json.loads(line)["story"])
def test_written_histories_that_once_differed(judge: Judge, line: str) -> None:
    request: dict[str, Any] = json.loads(line)["in"]
    losses = Losing(lingers=True) if "writes" in request else None
    ours = replayed(request["broker"], request["ops"], losses)
    assert list(plays.differences(ours, judge.ask(request)["steps"])) == []
