"""Our coordinators of classic and consumer groups against Kafka's: answer for answer.

Kafka's `GroupCoordinatorShard` plays what ours has played: every response with its fields and the
operation at which it leaves, every record that is written, and the ids, generations and leaders in
them have to be equal. HISTORIES and SUITE_SEED try more, or others.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from tests.foreign import consumer_coordinator, coordinator, mixed_coordinator, plays
from tests.foreign.judge import Judge
from tests.foreign.trial import seed

pytestmark = pytest.mark.foreign

HISTORIES = int(os.environ.get("HISTORIES", "700")) * int(os.environ.get("DEEP", "1"))
LENGTHS = (12, 40, 80, 12, 40, 150)
BATCH = 200


CLASSIC_CODES = {-1, 0, 22, 23, 25, 27, 68, 69, 79, 81, 82}
MIXED_CODES = {-1, 0, 22, 23, 25, 27, 35, 68, 69, 79, 81, 82, 110, 111, 113, 128}
CONSUMER_CODES = {0, 22, 25, 35, 69, 81, 82, 110, 111, 113}
RARE = {68}
"""Answers that some hundred histories may be without; all others are in one of forty."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("history", "codes"),
    [
        pytest.param(coordinator.history, CLASSIC_CODES, id="classic"),
        pytest.param(consumer_coordinator.history, CONSUMER_CODES, id="consumer"),
        pytest.param(mixed_coordinator.history, MIXED_CODES, id="mixed"),
    ],
)
def test_kafkas_coordinator_answers_as_ours(
    judge: Judge,
    history: Callable[[int, int], tuple[dict[str, Any], list[plays.Step]]],
    codes: set[int],
) -> None:
    first = seed() * 10_000_000
    met = set()
    for start in range(0, HISTORIES, BATCH):
        played = [
            (number, *history(first + number, LENGTHS[number % len(LENGTHS)]))
            for number in range(start, min(start + BATCH, HISTORIES))
        ]
        answers = judge.ask_all([request for _, request, _ in played])
        for (number, request, ours), answer in zip(played, answers, strict=True):
            assert "steps" in answer, (first + number, answer)
            found = list(plays.differences(ours, answer["steps"]))
            assert not found, f"seed {first + number}, {len(request['ops'])} operations: {found[0]}"
            met |= {each["error"] for step in ours for each in step["responses"]}
    assert met | RARE == codes | RARE, "a kind of answer was not met"


@pytest.mark.parametrize(
    ("history", "seed_", "length"),
    [
        # a classic group beyond its size rebalances once another coordinator has loaded it
        pytest.param(coordinator.history, 24010131, 40, id="too-large"),
        # a member without a rebalance timeout is too slow at once
        pytest.param(mixed_coordinator.history, 23013719, 150, id="no-timeout"),
        # the last look-up of patterns is that of the first one in Kafka's map
        pytest.param(mixed_coordinator.history, 25003595, 150, id="first-pattern"),
        # a group without a generation has no protocol that a SyncGroup could contradict
        pytest.param(coordinator.history, 31044021, 66, id="sync-before-a-protocol"),
        # what a log cleaner leaves is the same, whatever the order of tombstones of offsets
        pytest.param(consumer_coordinator.history, 31092010, 143, id="order-of-tombstones"),
        # a consumer group becomes a classic one at epoch 0
        pytest.param(mixed_coordinator.history, 31092713, 22, id="downgrade-at-epoch-0"),
        # a dynamic member comes back with the instance id of a static one that is away
        pytest.param(consumer_coordinator.history, 42016891, 23, id="in-place-of-another"),
        pytest.param(consumer_coordinator.history, 42013774, 47, id="in-place-of-another-too"),
        # the same, and Kafka counts the static member that is gone: subscriptions seem to differ
        pytest.param(mixed_coordinator.history, 43004471, 62, id="in-place-of-another-mixed"),
        # who asks after a request that failed compares topics only until the epoch is reached
        pytest.param(mixed_coordinator.history, 41052935, 135, id="refresh-of-a-failed-request"),
    ],
)
def test_histories_of_long_runs_that_once_differed(
    judge: Judge,
    history: Callable[[int, int], tuple[dict[str, Any], list[plays.Step]]],
    seed_: int,
    length: int,
) -> None:
    request, ours = history(seed_, length)
    answer = judge.ask(request)
    assert list(plays.differences(ours, answer["steps"])) == []
