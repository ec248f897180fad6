"""Our coordinator of classic groups against Kafka's: the same histories, answer for answer.

Kafka's `GroupCoordinatorShard` plays what ours has played: every response with its fields and the
operation at which it leaves, every record that is written, and the ids, generations and leaders in
them have to be equal. HISTORIES and SUITE_SEED try more, or others.
"""

from __future__ import annotations

import os

import pytest

from tests.foreign.coordinator import differences, history
from tests.foreign.judge import Judge
from tests.foreign.trial import seed

pytestmark = pytest.mark.foreign

HISTORIES = int(os.environ.get("HISTORIES", "2000")) * int(os.environ.get("DEEP", "1"))
LENGTHS = (12, 40, 80, 150)
BATCH = 200


def test_kafkas_coordinator_answers_as_ours(judge: Judge) -> None:
    first = seed() * 10_000_000
    codes = set()
    for start in range(0, HISTORIES, BATCH):
        played = [
            (number, *history(first + number, LENGTHS[number % len(LENGTHS)]))
            for number in range(start, min(start + BATCH, HISTORIES))
        ]
        answers = judge.ask_all([request for _, request, _ in played])
        for (number, request, ours), answer in zip(played, answers, strict=True):
            assert "steps" in answer, (first + number, answer)
            found = list(differences(ours, answer["steps"]))
            assert not found, f"seed {first + number}, {len(request['ops'])} operations: {found[0]}"
            codes |= {each["error"] for step in ours for each in step["responses"]}
    assert codes == {-1, 0, 22, 23, 25, 27, 79, 81, 82}, "a kind of answer was not met"
