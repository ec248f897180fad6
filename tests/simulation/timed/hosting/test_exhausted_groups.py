"""Small cases with real groups, over every order in which anything can complete.

Two or three requests that change one group, or two groups of one partition: each order of work,
appends, high watermarks and answers, for every execution model. What is compared is what the
contract compares (`world`).
"""

from __future__ import annotations

import pytest

from assignors.jvm.offsets_partition import offsets_partition
from assignors.simulation.timed.execution.policy import POLICIES, Policy, Settings
from assignors.simulation.timed.protocols.effects import Request
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    JoinGroup,
    OffsetCommit,
    OffsetFetch,
    Protocol,
)
from tests.foreign.mixed_clients import Client
from tests.simulation.timed.execution.test_exhausted import Choices
from tests.simulation.timed.execution.world import ASYNC, FAILING, Appends, Choose
from tests.simulation.timed.hosting.world import World
from wire import Subscription, encode_subscription

ONE = Settings(workers=1, partitions=1)
TWO = Settings(workers=2, partitions=1)
SUBSCRIPTION = encode_subscription(Subscription(version=1, topics=("t",)))


def joins(member_id: str) -> ConsumerHeartbeat:
    return ConsumerHeartbeat(member_id, 0, topics=("t",), owned={}, rebalance_timeout_ms=5000)


CLASSIC = JoinGroup("c", "", "i", 6000, 6000, (Protocol("range", SUBSCRIPTION),))
COMMIT = OffsetCommit("", -1, (("t", 0, 1),))
AGAIN = OffsetCommit("", -1, (("t", 0, 2),))
FETCH = OffsetFetch((("t", 0),))
Script = tuple[tuple[str, Request] | None, ...]
"""Group and request; `None`: a failover."""
SCRIPTS: dict[str, tuple[Settings, Appends, Script]] = {
    "two join a group": (ONE, ASYNC, (("shop", joins("a")), ("shop", joins("b")))),
    "commits and a fetch": (ONE, ASYNC, (("shop", COMMIT), ("shop", AGAIN), ("shop", FETCH))),
    "two groups": (TWO, ASYNC, (("shop", joins("a")), ("stock", COMMIT))),
    "a static member of the classic protocol": (
        ONE,
        ASYNC,
        (("shop", COMMIT), ("shop", CLASSIC), ("shop", FETCH)),
    ),
    "two join, failing": (ONE, FAILING, (("shop", joins("a")), ("shop", joins("b")))),
    "a failover between": (ONE, ASYNC, (("shop", joins("a")), None, ("shop", joins("b")))),
}


def play(policy: Policy, script: str, choose: Choose) -> World:
    settings, appends, requests = SCRIPTS[script]
    world = World(policy, appends, settings, choose)
    left = list(requests)
    while left or world.is_on_its_way:
        # The next request comes, or something that is on its way happens.
        if left and (not world.is_on_its_way or choose(2) == 0):
            following = left.pop(0)
            if following is None:
                world.fail_over()
            else:
                name, request = following
                world.send(name, Client(name, None, is_classic=False), request)
        else:
            world.go_on()
    world.settle()
    assert not world.left(), world.told(str(world.left()))
    return world


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize("script", SCRIPTS)
def test_every_order_of_completions_keeps_the_contract(policy: Policy, script: str) -> None:
    choices, histories = Choices(), 0
    while True:
        play(policy, script, choices.choose)
        histories += 1
        if not choices.advance():
            break
    assert histories > 1


def test_both_groups_are_in_the_one_partition() -> None:
    assert {offsets_partition(name, 1) for name in ("shop", "stock")} == {0}
