"""Our copies of Kafka's assignors against Kafka's: random groups, and rounds that follow on them.

A difference is printed as one line that can be added to the vectors. FOREIGN_PROFILE=deep,
FOREIGN_GROUPS and SUITE_SEED try more, or others; `python -m tests.foreign.deep` far more.
"""

from __future__ import annotations

import pytest

from tests.foreign.convert import NAMES
from tests.foreign.judge import Judge
from tests.foreign.trial import profile, seed, try_groups

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
