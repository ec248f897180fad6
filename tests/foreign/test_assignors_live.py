"""Our copies of Kafka's assignors against Kafka's: random groups, and rounds that follow on them.

A difference is printed as one line that can be added to the vectors. FOREIGN_PROFILE=deep,
FOREIGN_GROUPS and SUITE_SEED try more, or others; `python -m tests.foreign.deep` far more.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.foreign.convert import NAMES, agree
from tests.foreign.groups import Request
from tests.foreign.judge import Judge
from tests.foreign.strategies import groups
from tests.foreign.trial import answered, line, profile, seed, try_groups

pytestmark = pytest.mark.foreign

TWINS = [pytest.param(algorithm, id=name) for algorithm, name in NAMES.items()]


@pytest.mark.parametrize("algorithm", TWINS)
def test_random_groups_and_their_histories_are_assigned_as_kafka_does(
    algorithm: str, judge: Judge
) -> None:
    count = profile().groups // len(NAMES)
    record = try_groups(judge, count, seed(), [algorithm])
    assert record.groups.total() == count
    assert not record.failed, "\n".join(["", *record.lines])
    assert record.unanswered <= count // 1000


@pytest.mark.parametrize("algorithm", TWINS)
def test_small_groups_are_assigned_as_kafka_does(algorithm: str, judge: Judge) -> None:
    @settings(max_examples=profile().groups // 25)
    @given(groups(algorithm))
    def law(request: Request) -> None:
        answer = judge.ask(request)
        if not agree(request, answer, answered(request)):
            pytest.fail(line(judge, request))

    law()
