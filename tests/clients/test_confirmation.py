"""A leader relies on its plan once the round is confirmed, so that all members have fetched it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment
from aiokafka.errors import GroupAuthorizationFailedError

from assignors import Cluster
from assignors.clients import aiokafka
from assignors.clients.common.client_session import ClientSession
from assignors.clients.kafka_python import cooperative_sticky
from tests.clients.local_group import LocalGroup
from wire import Subscription, encode_assignment, encode_subscription

COOPERATIVE = "cooperative-sticky"
CLUSTER = Cluster.of({"t": 4})
OLD = encode_subscription(Subscription(version=0, topics=("t",)))
NOTHING = encode_assignment({}, version=1)
HEARTBEAT_MS = 20
SESSION_MS = 200
LOOKS_MAX = 250
GENERATION = 7
STABLE, REBALANCE, SILENCE = "stable", "rebalance in progress", "no answer"
"""The answers to a heartbeat."""


@pytest.fixture
def group() -> Iterator[LocalGroup]:
    made = LocalGroup({"t": 6})
    yield made
    made.close()


def session_of(group: LocalGroup, name: str) -> ClientSession:
    (made,) = group.members[name].coordinator._assignors.values()
    found = made._session
    assert isinstance(found, ClientSession)
    return found


def test_a_plan_that_may_not_have_arrived_is_not_relied_on(group: LocalGroup) -> None:
    group.add("a", [cooperative_sticky()], ["t"])
    member = group.add_bytes("old", {COOPERATIVE: OLD})
    session = session_of(group, "a")
    group.round(unheard=["a"])
    group.members["a"].coordinator.group_protocols()
    assert session.memory.plan is None, "nothing is known of anybody"
    group.settle()
    given = member.received
    assert given not in {None, NOTHING}
    group.round(unheard=["a"])
    group.members["a"].coordinator.group_protocols()
    assert session.memory.plan is not None
    assert len(session.memory.plan["old"]["t"]) == 3, "one plan or the other"
    group.round()
    assert member.received == given
    group.generation += 1
    group.round()
    assert member.received == NOTHING, "somebody else led in between"


def test_a_plan_is_not_relied_on_before_its_round_is_confirmed(group: LocalGroup) -> None:
    """Another member joined again at once, before the old one had asked for its part: it consumed
    on what the new plan had taken from it, and the leader gave that away."""
    group.add("a", [cooperative_sticky()], ["t"])
    member = group.add_bytes("old", {COOPERATIVE: OLD})
    group.settle()
    given = member.received
    group.add("b", [cooperative_sticky()], ["t"])
    group.round(is_confirmed=False)
    assert member.received != given
    group.round(is_confirmed=False)
    assert len(group.members["b"].assigned) < 2, "what the old one has waits"
    group.settle()
    assert [len(group.members[name].assigned) for name in "ab"] == [2, 2]


def test_a_follow_up_is_due_until_its_round_began(group: LocalGroup) -> None:
    """The round before it was refused: then partitions stayed unassigned for ever."""
    group.add("a", [cooperative_sticky()], ["t"])
    ghost = Subscription(topics=("u",), owned={"t": (5,)}, generation=-1)
    group.add_bytes("ghost", {COOPERATIVE: encode_subscription(ghost)})
    group.settle()
    coordinator = group.members["a"].coordinator
    ghost = Subscription(topics=("u",), owned={"t": (4, 5)}, generation=-1)
    group.members["ghost"].blobs = {COOPERATIVE: encode_subscription(ghost)}
    group.round(unheard=["a"])
    assert not session_of(group, "a").is_applied
    group.round()
    assert coordinator.need_rejoin(), "nobody else would start it"
    group.round()
    assert not coordinator.need_rejoin(), "it has been tried"


def test_a_round_is_not_confirmed_before_its_answer_arrived(group: LocalGroup) -> None:
    group.add("a", [cooperative_sticky()], ["t"])
    group.add_bytes("old", {COOPERATIVE: OLD})
    group.round(unheard=["a"])
    session = session_of(group, "a")
    assert not session.confirmed()
    assert session.memory.plan is None


class Beats:
    """kafka-python's heartbeats and its sleep, on a clock that only sleep moves."""

    def __init__(self, *, answered_at_s: float) -> None:
        self.last_reset, self.now_s, self.answered_at_s = 0.0, 0.0, answered_at_s

    @property
    def last_receive(self) -> float:
        return self.answered_at_s if self.answered_at_s <= self.now_s else -1.0

    async def sleep(self, seconds: float) -> None:
        self.now_s += seconds


def confirms(beats: Beats, **fields: Any) -> bool:
    """Whether a kafka-python member takes its round as confirmed."""
    made = cooperative_sticky()
    made._session.lead(CLUSTER, {"a": OLD}, instance_ids={}, joined=GENERATION)
    made._session.applied({}, GENERATION)
    coordinator = SimpleNamespace(
        heartbeat=beats,
        config={"heartbeat_interval_ms": HEARTBEAT_MS, "session_timeout_ms": SESSION_MS},
        rejoin_needed=False,
        request_rejoin=lambda: None,
        _net=beats,
        _generation=SimpleNamespace(generation_id=GENERATION),
    )
    vars(coordinator).update(fields)
    asyncio.run(made._await_heartbeat(coordinator, GENERATION))
    return made._session.unconfirmed is None


def test_kafka_python_waits_for_a_heartbeat_that_is_answered() -> None:
    beats = Beats(answered_at_s=0.4)
    assert confirms(beats)
    assert beats.now_s >= 0.4
    beats = Beats(answered_at_s=0.001)
    assert confirms(beats)
    assert beats.now_s == HEARTBEAT_MS / 1000


def test_kafka_python_does_not_wait_where_another_round_began() -> None:
    assert not confirms(Beats(answered_at_s=0.001), rejoin_needed=True)
    later = SimpleNamespace(generation_id=GENERATION + 1)
    assert not confirms(Beats(answered_at_s=0.001), _generation=later)


@pytest.mark.parametrize("leads", [True, False])
def test_kafka_python_confirms_a_round_that_it_led_and_no_other(
    monkeypatch: pytest.MonkeyPatch, *, leads: bool
) -> None:
    made = cooperative_sticky()
    if leads:
        made._session.lead(CLUSTER, {"a": OLD}, instance_ids={}, joined=GENERATION)
    started: list[Any] = []
    manager = SimpleNamespace(call_soon=lambda task, *_: started.append(task))
    coordinator = SimpleNamespace(_manager=manager, _assignors={})
    monkeypatch.setattr(made, "_find_coordinator", lambda: coordinator)
    made.on_assignment(SimpleNamespace(partitions=list), GENERATION)
    assert started == [made._await_heartbeat] * leads


class Coordinator(GroupCoordinator):  # type: ignore[misc]  # the host has no types
    """The part of aiokafka's coordinator that a strategy uses."""

    def __init__(self, answers: list[Any]) -> None:
        self.generation = GENERATION
        self._heartbeat_interval_ms, self._session_timeout_ms = HEARTBEAT_MS, SESSION_MS
        self._rejoin_needed_fut = asyncio.get_running_loop().create_future()
        self._closing = asyncio.get_running_loop().create_future()
        self.answers = answers

    async def _do_heartbeat(self) -> bool:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer == REBALANCE:
            self.request_rejoin()
        return bool(answer != SILENCE)

    def join_complete(self, made: aiokafka.Strategy) -> None:
        empty = ConsumerProtocolMemberAssignment.decode(encode_assignment({}))
        made.on_assignment(empty)


def rejoins(*answers: Any, after: int = GENERATION) -> bool:
    """Whether an aiokafka member that has to start a follow-up round does."""

    async def play() -> bool:
        coordinator = Coordinator(list(answers))
        made = aiokafka.strategy(COOPERATIVE)
        blobs = {"a": made.metadata({"t"}), "old": OLD}
        made._session.lead(CLUSTER, blobs, instance_ids={}, joined=GENERATION)
        coordinator.join_complete(made)
        assert not coordinator._rejoin_needed_fut.done(), "the others have not asked yet"
        coordinator.generation = after
        await asyncio.sleep(2 * HEARTBEAT_MS / 1000)
        for _ in range(LOOKS_MAX):
            is_over = (
                not coordinator.answers and made._question is not None and made._question.done()
            )
            if is_over or after != GENERATION:
                break
            await asyncio.sleep(HEARTBEAT_MS / 1000)
        assert bool(coordinator.answers) == (after != GENERATION), "asked while it is the newest"
        assert made._question is None or made._question.exception() is None
        started = made._session.memory.plan is not None
        assert coordinator._rejoin_needed_fut.done() == (started or REBALANCE in answers)
        return started

    return asyncio.run(play())


def test_aiokafka_starts_a_follow_up_once_the_round_is_confirmed() -> None:
    assert rejoins(STABLE)
    assert rejoins(SILENCE, SILENCE, STABLE), "a heartbeat that is not answered confirms nothing"
    assert not rejoins(REBALANCE), "another round began"
    assert not rejoins(STABLE, after=GENERATION + 1)
    assert not rejoins(GroupAuthorizationFailedError())
