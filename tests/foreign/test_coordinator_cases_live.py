"""Cases of coordinators that are too rare for random histories, written down and played to both.

Each is as small as it gets; Kafka's `GroupCoordinatorShard` has to answer and write as ours does.
"""

from __future__ import annotations

from typing import Any

import pytest

from assignors.simulation.timed.protocols.effects import Request
from assignors.simulation.timed.protocols.kafka.messages import (
    STATIC_LEAVE_EPOCH,
    ConsumerHeartbeat,
    JoinGroup,
    Protocol,
)
from tests.foreign import commits, plays
from tests.foreign.judge import Judge
from tests.foreign.operations import operation_of
from tests.foreign.player import Player, taken_step
from wire import Subscription, encode_subscription

pytestmark = pytest.mark.foreign

Case = list[Request | dict[str, Any]]
EVERY_SECOND = {"group.consumer.assignors": "uniform", **commits.KEEPING[0]}
NO_DELAY = {"group.initial.rebalance.delay.ms": "0", **commits.KEEPING[0]}
AT_ONCE = {**EVERY_SECOND, "group.consumer.assignment.interval.ms": "0"}


def join(member_id: str, instance_id: str | None = None, *topics: str) -> ConsumerHeartbeat:
    return ConsumerHeartbeat(member_id, 0, instance_id, None, 5000, topics or ("t",), {})


def topics(**counts: int) -> dict[str, Any]:
    return {"op": "topics", "topics": counts}


def classic_join(client_id: str, member_id: str = "", assignor: str = "range") -> JoinGroup:
    protocol = Protocol(assignor, encode_subscription(Subscription(version=1, topics=("t",))))
    return JoinGroup(client_id, member_id, None, 6000, 8000, (protocol,))


def id_of(client_id: str, number: int) -> str:
    """Return the id that a classic group gives to the `number`th new member."""
    return f"{client_id}-00000000-0000-4000-8000-{number:012}"


A, B = id_of("a", 1), id_of("b", 2)
JOINS_TWICE: Case = [
    *(classic_join("a"), classic_join("a", A), {"op": "advance", "ms": 0}, classic_join("b")),
    classic_join("b", B),
    classic_join("b", B),
    classic_join("a", A),
]
"""A member's JoinGroup waits, and another one of it arrives, which may be older and late.

The coordinator cannot know, and answers the one that came last. The other one is never answered.
"""
AWAY = ConsumerHeartbeat("s", STATIC_LEAVE_EPOCH, "i")
SECOND = {"op": "advance", "ms": 1000}

RETURNS: Case = [
    topics(t=2),
    join("x"),
    join("s", "i"),
    AWAY,
    topics(t=3),
    join("x", "i"),
]
"""A dynamic member joins again under its id, with the instance id of a member that is away.

By member its target is that of the static one then; by partition its own old target still counts
as assigned, so that nobody gets it.
"""
CASES: dict[str, tuple[dict[str, str], Case]] = {
    "returns-with-the-instance-id-of-another": (AT_ONCE, RETURNS),
    # whoever makes the next target gives these partitions to somebody
    "is-assigned-again": (AT_ONCE, [*RETURNS, topics(t=4), join("y")]),
    # its own partitions are of a topic that it does not subscribe to any more
    "other-topics": (
        AT_ONCE,
        [topics(t=2, v=3), join("x"), join("s", "i", "v"), AWAY, join("x", "i", "v")],
    ),
    "subscriptions-differ": (
        AT_ONCE,
        [topics(t=2, v=3), join("x"), join("y", None, "t", "v"), *RETURNS[2:]],
    ),
    # Kafka sees two members and different subscriptions, though one of them is gone
    "subscriptions-seem-to-differ": (
        AT_ONCE,
        [topics(t=1, v=1), join("x", None, "t", "v"), join("s", "i"), AWAY, join("x", "i", "v")],
    ),
    "room-for-several": (
        AT_ONCE,
        [topics(t=7), *map(join, "abx"), join("s", "i"), AWAY, topics(t=9), join("x", "i")],
    ),
    # the static member has no target yet: the one in its place keeps its own
    "in-place-of-one-without-a-target": (
        EVERY_SECOND,
        [topics(t=3), join("x"), join("s", "i"), AWAY, SECOND, join("x", "i", "t", "v")],
    ),
    "keeps-its-own": (
        EVERY_SECOND,
        [topics(t=3), join("x"), join("s", "i"), AWAY, topics(v=2), SECOND, join("x", "i")],
    ),
    "too-early-for-a-target": (
        EVERY_SECOND,
        [*RETURNS[:2], SECOND, *RETURNS[2:], SECOND, ConsumerHeartbeat("x", 3, "i", owned={})],
    ),
    "joins-twice": (NO_DELAY, JOINS_TWICE),
    "returns-under-its-own-id": (AT_ONCE, [*RETURNS[:5], join("s", "i")]),
}


def played(broker: dict[str, str], case: Case) -> tuple[dict[str, Any], list[plays.Step]]:
    """Return a request for the judge and what ours did at each step."""
    ours = Player(broker)
    asked: dict[int, Request] = {}
    ops, steps = [], []
    for number, each in enumerate(case):
        if isinstance(each, dict):
            ours.play(each)
            ops.append(each)
        else:
            asked[number] = each
            ours.request(number, each)
            ops.append(operation_of(each))
        steps.append(taken_step(ours, asked))
    return {"algo": "coordinator", "broker": broker, "ops": ops}, steps


@pytest.mark.parametrize("name", CASES)
def test_kafkas_coordinator_answers_and_writes_as_ours(judge: Judge, name: str) -> None:
    request, ours = played(*CASES[name])
    answer = judge.ask(request)
    assert list(plays.differences(ours, answer["steps"])) == []


def test_partitions_that_count_as_assigned_are_given_to_nobody() -> None:
    _, steps = played(*CASES["returns-with-the-instance-id-of-another"])
    targets = [each for each in steps[-1]["records"] if each["type"] == 7]
    assert targets[-1] == {"type": 7, "member": "x", "partitions": {"t": [1, 2]}}
    _, steps = played(*CASES["is-assigned-again"])
    targets = [each for each in steps[-1]["records"] if each["type"] == 7]
    assert targets == [{"type": 7, "member": "y", "partitions": {"t": [0, 3]}}]


def test_of_two_joins_of_a_member_the_one_that_came_last_is_answered() -> None:
    _, steps = played(*CASES["joins-twice"])
    answered = [[each["number"] for each in step["responses"]] for step in steps]
    assert answered == [[0], [], [1], [3], [], [], [5, 6]]
