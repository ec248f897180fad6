"""`classic-only` of `replay` against Kafka's coordinator: does a member of the new protocol get in?

A classic group of one member with any bytes as its Subscription and Assignment; then a member of
the consumer protocol joins. What `replay` finds in the group's record must be what Kafka refuses.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.conftest import SEED
from tests.foreign.judge import Judge
from tests.foreign.test_migration_faults_live import heartbeat, join, played, sync
from tests.replay.findings import found
from tests.replay.histories import Says, classic
from tests.replay.test_upgrade import ASSIGNMENT, ONLY, SUBSCRIPTION, WITH_USER_DATA
from wire import encode_assignment

pytestmark = pytest.mark.foreign

GROUP_ID_NOT_FOUND = 69
MEMBER = "a-00000000-0000-4000-8000-000000000001"
CASES = 40


def cases() -> Iterator[tuple[bytes, bytes]]:
    """Subscriptions and Assignments: whole, cut, of odd versions, and with UserData."""
    dice = Random(SEED)
    yield from ((SUBSCRIPTION, ASSIGNMENT), (SUBSCRIPTION, b""), (SUBSCRIPTION, WITH_USER_DATA))
    yield SUBSCRIPTION, encode_assignment({}, user_data=b"")
    yield b"\xff\xff" + SUBSCRIPTION[2:], ASSIGNMENT
    yield bytes.fromhex("0001000000010001740000"), ASSIGNMENT
    for _ in range(CASES):
        said, given = dice.choice([SUBSCRIPTION, SUBSCRIPTION + b"more"]), ASSIGNMENT
        if dice.random() < 0.5:
            said = said[: dice.randrange(2, len(said))]
        else:
            given = dice.choice([given, WITH_USER_DATA])[: dice.randrange(1, len(given))]
        yield said, given


def is_refused(judge: Judge, said: bytes, given: bytes) -> bool:
    """Whether Kafka refuses a member of the consumer protocol beside such a classic member."""
    joins = [join("a", ""), join("a", MEMBER)]
    for each in joins:
        each["protocols"] = [["range", said.hex()]]
    *_, synced, last = played(
        judge,
        *joins,
        {"op": "advance", "ms": 1},
        {**sync(MEMBER, 1), "assignments": [[MEMBER, given.hex()]]},
        heartbeat("b", 0, None, topics=["t"], owned={}),
    )
    assert [each["error"] for each in synced["responses"]] == [0]
    (code,) = {each["error"] for each in last["responses"]}
    assert code in {0, GROUP_ID_NOT_FOUND}
    return bool(code)


def test_what_is_found_is_what_kafka_refuses(judge: Judge) -> None:
    seen = set()
    for said, given in cases():
        rows = found(
            classic(0, 1, {"a": Says(subscription=said, assignment=given)}), selection=ONLY
        )
        refused = is_refused(judge, said, given)
        assert bool(rows) == refused, (said.hex(), given.hex())
        seen.add(refused)
    assert seen == {True, False}
