"""Moves in batches in kafka-python's and aiokafka's own coordinators, without a broker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment

from assignors import Cluster, Weighting
from assignors.clients import aiokafka, kafka_python
from assignors.clients.common.client_session import LedRound
from assignors.clients.common.move_batches import MoveBatches
from assignors.weighting.token_bucket import TimedBudget
from tests.clients.local_group import LocalGroup
from wire import Subscription, encode_assignment, encode_sticky_user_data, encode_subscription

WEIGHTING = Weighting(weights={"t": (900, 500, 300, 200, 100, 100, 50, 50)})
BUDGET = TimedBudget(cost=1, every_ms=60_000)
LOOKS_MAX = 4
SESSION_S = 45.0


@pytest.fixture
def group() -> Iterator[LocalGroup]:
    made = LocalGroup({"t": 8})
    yield made
    made.close()


class AtRest(Exception):  # noqa: N818 - it is no error
    """The leader has looked for moves several times in vain."""


class Clock:
    """Time that only a sleep moves; kafka-python's `_net` as far as a strategy uses it."""

    def __init__(self) -> None:
        self.now_ms, self.looks = 0, 0
        self.at_look: Callable[[], None] = lambda: None

    def __call__(self) -> int:
        return self.now_ms

    async def sleep(self, seconds: float) -> None:
        self.now_ms += round(1000 * seconds)
        self.looks += 1
        if self.looks > 1:
            self.at_look()
        if self.looks > LOOKS_MAX:
            raise AtRest


def strategy_at(clock: Clock, rounds: list[LedRound] | None = None) -> kafka_python.Strategy:
    made = kafka_python.strategy(
        "cooperative-weighted",
        weighting=lambda _: WEIGHTING,
        budget=BUDGET,
        on_round=None if rounds is None else rounds.append,
    )
    assert made._session.batches is not None
    made._session.batches = batches_at(clock, made._session.batches.budget)
    return made


def batches_at(clock: Clock, budget: TimedBudget) -> MoveBatches:
    return MoveBatches(
        weighting_of=lambda _: WEIGHTING,
        budget=budget,
        logger=logging.getLogger("test"),
        clock=clock,
    )


def wait_for_moves(
    group: LocalGroup, clock: Clock, made: kafka_python.Strategy, *, newer: bool = False
) -> bool:
    """Let kafka-python's leader wait after its round; return whether it starts another one.

    With `newer` another round ends before it looks.
    """
    real = group.members["a"].coordinator

    def request_rejoin() -> None:
        seen.rejoin_needed = True
        real.request_rejoin()

    seen = SimpleNamespace(
        heartbeat=SimpleNamespace(last_receive=1.0, last_reset=0.0),
        config={"heartbeat_interval_ms": 20, "session_timeout_ms": 1000 * SESSION_S},
        rejoin_needed=False,
        request_rejoin=request_rejoin,
        _net=clock,
        _generation=real._generation,
    )
    clock.looks = 0
    if newer:
        generation = SimpleNamespace(generation_id=group.generation + 1)
        clock.at_look = lambda: setattr(seen, "_generation", generation)
    try:
        asyncio.run(made._await_heartbeat(seen, group.generation))
    except AtRest:
        return False
    return bool(real.need_rejoin())


def test_kafka_python_moves_one_partition_a_minute_and_then_rests(group: LocalGroup) -> None:
    clock, rounds = Clock(), list[LedRound]()
    made = strategy_at(clock, rounds)
    group.add("a", [made], ["t"])
    group.settle()
    group.add("b", [strategy_at(clock)], ["t"])
    assert group.settle() == 1, "the bucket of a new leader is empty"
    assert group.members["b"].assigned == set()
    sizes, times, batches_left = [], list[int](), [rounds[-1].stats["batches_left"]]
    while wait_for_moves(group, clock, made):
        times.append(clock.now_ms)
        assert group.settle() == 2, "revoked, then given"
        sizes.append(len(group.members["b"].assigned))
        batches_left.append(rounds[-1].stats["batches_left"])
    assert sizes == list(range(1, len(sizes) + 1))
    assert batches_left[0] == len(sizes)
    assert batches_left[-1] == 0
    assert len(times) > 1
    assert times == [BUDGET.every_ms * number for number in range(1, len(times) + 1)]
    assert clock.now_ms > times[-1] + 2 * BUDGET.every_ms, "it goes on looking"


def test_kafka_python_does_not_look_for_moves_after_another_round(group: LocalGroup) -> None:
    clock = Clock()
    made = strategy_at(clock)
    group.add("a", [made], ["t"])
    group.settle()
    group.add("b", [strategy_at(clock)], ["t"])
    group.settle()
    assert not wait_for_moves(group, clock, made, newer=True)
    assert clock.looks == 2, "the heartbeat, and one wait"


def test_kafka_python_does_not_wait_for_moves_where_another_member_leads(
    group: LocalGroup,
) -> None:
    clock = Clock()
    first, second = strategy_at(clock), strategy_at(clock)
    group.add("a", [first], ["t"])
    group.add("b", [second], ["t"])
    group.settle()
    assert first._session.wait_s(SESSION_S) is not None
    assert second._session.wait_s(SESSION_S) is None


def test_a_strategy_without_weights_waits_for_nothing(group: LocalGroup) -> None:
    made = kafka_python.cooperative_sticky()
    group.add("a", [made], ["t"])
    group.settle()
    assert made._session.wait_s(SESSION_S) is None
    assert not made._session.must_move()


class Coordinator(GroupCoordinator):  # type: ignore[misc]  # the host has no types
    """The part of aiokafka's coordinator that a strategy uses; every heartbeat is answered."""

    def __init__(self) -> None:
        self.generation = 7
        self._heartbeat_interval_ms, self._session_timeout_ms = 5, 45_000
        self._rejoin_needed_fut = asyncio.get_running_loop().create_future()
        self._closing = asyncio.get_running_loop().create_future()

    async def _do_heartbeat(self) -> bool:
        return True

    def join_complete(self, made: aiokafka.Strategy) -> None:
        made.on_assignment(ConsumerProtocolMemberAssignment.decode(encode_assignment({})))


@pytest.mark.parametrize(("end", "rejoins"), [("", True), ("closed", False), ("newer", False)])
def test_aiokafka_starts_a_round_when_the_budget_is_back(end: str, rejoins: bool) -> None:  # noqa: FBT001 - a case
    claims = encode_sticky_user_data({"t": tuple(range(8))}, 6)
    other = encode_subscription(Subscription(version=0, topics=("t",), user_data=claims))

    async def play() -> Any:
        coordinator, clock = Coordinator(), Clock()
        made = aiokafka.strategy("weighted")
        made._session.batches = batches_at(clock, TimedBudget(cost=2, every_ms=10))
        blobs = {"a": made.metadata({"t"}), "other": other}
        made._session.lead(Cluster.of({"t": 8}), blobs, instance_ids={}, joined=7)
        coordinator.join_complete(made)
        await asyncio.sleep(0.05)
        assert not coordinator._rejoin_needed_fut.done(), "the bucket is empty"
        clock.now_ms = 1000
        if end == "closed":
            coordinator._closing.set_result(None)
        if end == "newer":
            coordinator.generation = 8
        for _ in range(100 if rejoins else 5):
            if coordinator._rejoin_needed_fut.done():
                break
            await asyncio.sleep(0.02)
        return coordinator._rejoin_needed_fut.done()

    assert asyncio.run(play()) == rejoins
