"""Traps of the Python clients that an assignor falls into, or not.

Each was met in real groups: an application too slow for its polls, a static member that comes
back with fewer topics, a leader so busy with assigning that its group forgets it.
"""

from __future__ import annotations

import functools
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor

from assignors.clients.common.client_session import LedRound
from assignors.clients.kafka_python import Strategy, strategy
from tests.clients.local_group import LocalGroup
from tests.interop.conftest import MakeGroup
from tests.interop.group import SETTLES_S, LiveGroup
from tests.interop.hosted import HostedMember
from tests.interop.odd_bytes import subscription
from tests.interop.raw import RawMember
from tests.interop.test_odd_members import errors_of_ours
from tests.waiting import wait

pytestmark = pytest.mark.interop

HOLD_S = 0.6
TOPICS = {"a": 4, "b": 4}
COOPERATIVE = "cooperative-sticky"
CROWD = 60


@pytest.mark.parametrize(
    ("protocol", "leads"),
    [
        (COOPERATIVE, True),
        (COOPERATIVE, False),
        pytest.param("range", True, marks=pytest.mark.deep),
    ],
)
def test_a_slow_application_joins_no_more_often_than_a_quick_one(
    protocol: str,
    leads: bool,  # noqa: FBT001 - a column of the table
    make_group: MakeGroup,
) -> None:
    """kafka-python 3.0.12 throws away an answer that comes between two polls, and joins again.

    An application that works for 0.7 s between polls of 50 ms lost nearly all of them: 46 joins
    and 35 s for one newcomer, each a round for everybody where it led.
    """
    group = make_group(TOPICS, assignors=(protocol,))
    if not leads:
        group.start("java44")
        group.settled(SETTLES_S, hold_s=HOLD_S)
    with ExitStack() as stack:
        slow = HostedMember(group, "slow", strategy(protocol), poll_ms=50, work_s=0.7)
        stack.callback(slow.end)
        group.guests["slow"] = slow
        slow.start()
        group.settled(SETTLES_S, hold_s=HOLD_S)
        joins = []
        for kind in ("java44", "kpp"):
            before = slow.join_count
            group.start(kind)
            group.settled(SETTLES_S, hold_s=2 * HOLD_S)
            joins.append(slow.join_count - before)
        assert group.leader() == ("slow" if leads else "java44-1")
        # A cooperative newcomer takes two rounds; a third one is bad luck with metadata.
        assert max(joins) <= (3 if protocol == COOPERATIVE else 2)
        assert slow.errors == []
        assert not group.judge().windows


RETURNS = [
    (COOPERATIVE, "java44"),
    (COOPERATIVE, "kpp"),
    *(
        pytest.param(*more, marks=pytest.mark.deep)
        for more in (
            *((COOPERATIVE, "java31"), (COOPERATIVE, "sarama")),
            *(("sticky", "sarama"), ("range", "java44")),
        )
    ),
]


def live_twice(group: LiveGroup, made: Callable[[], Any], stack: ExitStack) -> HostedMember:
    """A static member that leaves with all topics and comes back, just started, with the first."""
    for topics in (group.topics, group.topics[:1]):
        member = HostedMember(group, "static", made(), topics=topics, group_instance_id="static")
        stack.callback(member.end)
        group.guests["static"] = member
        member.start()
        if topics == group.topics:
            group.settled(SETTLES_S, hold_s=HOLD_S)
            member.end()
    return member


@pytest.mark.parametrize(("protocol", "leader"), RETURNS)
def test_a_static_member_that_comes_back_with_fewer_topics_joins_a_few_times(
    protocol: str, leader: str, make_group: MakeGroup
) -> None:
    """The coordinator answers its join from the stored assignment, without a round.

    The host refuses that and joins again. With the same bytes it would get the same answer until
    its session is over; ours changes them.
    """
    group = make_group(TOPICS, assignors=(protocol,))
    group.start(leader)
    group.settled(SETTLES_S, hold_s=HOLD_S)
    with ExitStack() as stack:
        member = live_twice(group, lambda: strategy(protocol), stack)
        group.settled(SETTLES_S)
        assert member.join_count <= 6
        assert member.errors == []
        assert not group.judge().windows


def test_the_shipped_assignor_joins_ten_times_a_second(make_group: MakeGroup) -> None:
    """The neighbour's failure, kafka-python 3.0.12, to see when it is gone."""
    group = make_group(TOPICS)
    group.start("java44")
    group.settled(SETTLES_S, hold_s=HOLD_S)
    with ExitStack() as stack:
        member = live_twice(group, CooperativeStickyAssignor, stack)
        wait(lambda: member.join_count > 20)
        assert not member.owned


@pytest.mark.parametrize("protocol", [COOPERATIVE])
def test_an_aiokafka_member_comes_back_with_fewer_topics(
    protocol: str, make_group: MakeGroup
) -> None:
    """aiokafka 0.14.0 asserts that it asked for what it is given, and never joins again."""
    group = make_group(TOPICS, assignors=(protocol,))
    group.start("java44")
    group.settled(SETTLES_S, hold_s=HOLD_S)
    (member,) = group.start("aiop", instance="static")
    group.settled(SETTLES_S, hold_s=HOLD_S)
    member.restart(topics=group.topics[:1])
    group.settled(SETTLES_S)
    assert errors_of_ours(member) == []


def test_a_leader_of_many_members_is_soon_done(make_group: MakeGroup) -> None:
    """Heartbeats stand still while a leader assigns: it has to be a matter of milliseconds."""
    session_ms = 6000
    group = make_group({f"t{number}": 100 for number in range(10)})
    rounds: list[LedRound] = []
    with ExitStack() as stack:
        spent = stack.enter_context(processor_seconds())
        leader = HostedMember(
            group,
            "leader",
            strategy(COOPERATIVE, on_round=rounds.append),
            session_timeout_ms=session_ms,
        )
        stack.callback(leader.end)
        leader.start()
        wait(lambda: len(leader.owned) == 1000)
        blobs = {COOPERATIVE: subscription(3, group.topics)}
        crowd = [
            RawMember(
                *(group.broker.bootstrap, group.name, f"raw-{number}", blobs),
                session_timeout_ms=30_000,
                heartbeat_ms=1000,
            )
            for number in range(CROWD)
        ]
        for member in crowd:
            stack.callback(member.vanish)
            member.start()
        wait(lambda: all(len(member.owned) in {16, 17} for member in crowd))
        assert leader.errors == []
        assert len(set(group.broker.leaders(group.name).values())) == 1, "it never lost the lead"
    assert max(led.member_count for led in rounds) == CROWD + 1
    assert max(spent) < session_ms / 1000 / 10


def test_three_hundred_members_of_ten_thousand_partitions_are_led_in_time() -> None:
    rounds: list[LedRound] = []
    topics = [f"t{number}" for number in range(100)]
    group = LocalGroup(dict.fromkeys(topics, 100))
    group.add("leader", [strategy(COOPERATIVE, on_round=rounds.append)], topics)
    blob = subscription(3, topics)
    for number in range(300):
        group.add_bytes(f"raw-{number}", {COOPERATIVE: blob})
    with processor_seconds() as spent:
        group.round()
        group.round()
    group.close()
    assert [led.member_count for led in rounds] == [301, 301]
    # The host's default session is 45 s, aiokafka's 10 s.
    assert max(spent) < 3.0


def test_what_a_leader_takes_is_without_looking_for_cycles_in_what_others_keep(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Strategy, "assign", lambda _: gc.isenabled())
    with processor_seconds() as spent:
        assert not Strategy.assign(None)  # type: ignore[call-arg, arg-type] # the one above
    assert gc.isenabled()
    assert len(spent) == 1


@contextmanager
def processor_seconds() -> Iterator[list[float]]:
    """Yield what each assignment of a leader took: processor time, whatever else runs beside it."""
    spent: list[float] = []
    assign = Strategy.assign

    @functools.wraps(assign)
    def timed(*arguments: Any, **named: Any) -> Any:
        # Else this thread looks for cycles in all that the suite keeps, once in a while: a second.
        gc.disable()
        begin = time.thread_time()
        try:
            return assign(*arguments, **named)
        finally:
            spent.append(time.thread_time() - begin)
            gc.enable()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Strategy, "assign", timed)
        yield spent
