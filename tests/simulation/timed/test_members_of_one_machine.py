"""Members that share a machine (`handling_us`): one is handled after the other, whoever it is.

Seen with real members (`tests/lab/calibrate`): the answers to SyncGroup leave a broker within
some tenths of a millisecond, and ten members of one process consume one after the other; a round of
thirty takes three times as long. A newcomer's first heartbeat needs one turn and a member that
revokes two, so the newcomer comes first unless the answers come at different times.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.heartbeats import HEARTBEAT
from assignors.simulation.timed.monitors.rules import Monitoring, Seen
from assignors.simulation.timed.protocols.effects import Answered, Fired, Send, is_plain
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.shared_machine import DUE, Handled, Machine
from assignors.simulation.timed.sides import sides_of
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases


def group(
    count: int,
    handling_us: int,
    *,
    seed: int = 0,
    assignor: str = "java/range",
    protocol: GroupProtocol = GroupProtocol.CLASSIC,
    looks: bool = False,
) -> Scenario:
    """Return members that start together, and one that joins and leaves."""
    one = MemberConfig(
        name="c",
        topics=("t",),
        assignors=(assignor,),
        poll_ms=0,
        revoke_ms=0,
        assign_ms=0,
        timing=Timing(heartbeats_go_on=looks, wake_ms=500 * looks),
    )
    members = [replace(one, name=f"c{number:02d}") for number in range(count)]
    return Scenario(
        seed=seed,
        until_ms=60_000,
        protocol=protocol,
        topics={"t": 4 * count},
        members=(*members, replace(one, name="new", starts_at_ms=None)),
        plan=(
            Action(at_ms=20_345, do=Verb.START, member="new"),
            Action(at_ms=41_000, do=Verb.STOP, member="new"),
        ),
        broker=BrokerConfig(initial_delay_ms=1000),
        network=NetworkConfig(mean_us=200, handling_us=handling_us),
    )


def seen_of(scenario: Scenario) -> list[Seen]:
    """Return what members did."""
    found: list[Seen] = []
    played = simulate(scenario, observe=found.append, monitoring=Monitoring.FULL)
    assert played.result.is_settled
    assert not played.violations
    return [each for each in found if each.member is not None]


@given(
    count=st.integers(1, 6),
    handling_us=st.integers(1, 30_000),
    seed=st.integers(0, 99),
    protocol=st.sampled_from([GroupProtocol.CLASSIC, GroupProtocol.CONSUMER]),
    assignor=st.sampled_from(["java/range", "java/cooperative-sticky"]),
)
@cases(12)
def test_nothing_is_handled_while_something_else_is(
    count: int, handling_us: int, seed: int, protocol: GroupProtocol, assignor: str
) -> None:
    scenario = group(count, handling_us, seed=seed, protocol=protocol, assignor=assignor)
    handled = [
        each.at_us
        for each in seen_of(scenario)
        if isinstance(each.event, Answered)
        or (isinstance(each.event, Fired) and each.event.key in DUE)
    ]
    assert len(handled) > 4 * count
    assert all(other - one >= handling_us for one, other in pairwise(handled))


def eager_idle_us(count: int, handling_us: int) -> float:
    """Return how long a partition is without a consumer in a round, in the mean."""
    played = simulate(group(count, handling_us), keeps_history=True)
    assert played.result.is_settled
    (change,) = [each.at for each in played.changes if each.member_id == "new" and each.owned]
    stopped = [each.at for each in played.changes if change - 10**6 < each.at < change + 10**6]
    return (max(stopped) - min(stopped)) / handling_us


def test_a_round_takes_longer_by_the_members_that_wait() -> None:
    spans = [eager_idle_us(count, 5000) for count in (4, 16)]
    # Each member is handled some times on its way through a round.
    assert 2 * 5 < spans[0] < 7 * 5
    assert 2 * 17 < spans[1] < 7 * 17


def test_a_heartbeat_that_waits_when_its_member_joins_is_not_sent() -> None:
    beat, joined = HEARTBEAT, Answered(1, HeartbeatResponse(ErrorCode.NONE))
    machine, handled = machine_of(10)
    for at, number, what in ((5, 0, beat), (5, 1, beat), (7, 0, joined)):
        assert machine.turn(at, number, None, what)
    machine.due.discard((1, HEARTBEAT.key))
    taken = [machine.take(number, each) for number, each in all_of(machine, handled)]
    assert taken == [beat, None, joined]
    assert [at for at, _ in handled] == [15, 25, 35]
    assert not machine.turn(100, 0, None, HEARTBEAT._replace(key=("poll",)))


def machine_of(handling_us: int) -> tuple[Machine, list[tuple[int, tuple[int, Handled]]]]:
    """Return a machine, and a list of what it has handled, with the moment of each."""
    handled: list[tuple[int, tuple[int, Handled]]] = []
    put = lambda at, event: handled.append((at, event))  # noqa: E731 - a type of its own else
    return Machine(handling_us=handling_us, put=put), handled


def all_of(
    machine: Machine, handled: list[tuple[int, tuple[int, Handled]]]
) -> list[tuple[int, Handled]]:
    """Return what waited, in the order of the turns."""
    while machine.waiting:
        machine.start_next(handled[-1][0])
    return [event for _, event in handled]


def test_a_poll_begins_at_once_whoever_waits() -> None:
    machine, _ = machine_of(10)
    machine.turn(0, 0, None, HEARTBEAT)
    assert not machine.turn(0, 9, None, HEARTBEAT._replace(key=("poll-begins",)))


@pytest.mark.parametrize("looks", [False, True])
def test_a_callback_follows_the_answer_that_it_comes_from(*, looks: bool) -> None:
    handling_us = 700
    scenario = group(8, handling_us, looks=looks)
    answered: dict[str | None, int] = {}
    after_us = []
    for each in seen_of(scenario):
        if isinstance(each.event, Answered) and isinstance(each.event.response, SyncGroupResponse):
            answered[each.member] = each.at_us
        elif isinstance(each.event, Fired) and each.event.key == ("assigned",):
            after_us.append(each.at_us - answered[each.member])
    # With librdkafka nothing waits for it: another thread runs it.
    assert len(after_us) >= 8 + 9 + 8
    assert set(after_us) == {0 if looks else handling_us}


def test_who_looks_after_others_is_not_late_by_half_a_second() -> None:
    """Thirty members beat in turn, over some milliseconds: each is due again when it looks."""
    last: dict[str | None, int] = {}
    apart_us = []
    scenario = replace(group(30, 300, looks=True), plan=(), until_ms=20_000)
    for each in seen_of(scenario):
        for effect in each.effects:
            if isinstance(effect, Send):
                if is_plain(effect.request) and each.member in last:
                    apart_us.append(each.at_us - last[each.member])
                last[each.member] = each.at_us
    assert len(apart_us) > 100
    assert max(apart_us) < 3_100_000


def test_members_send_no_heartbeat_while_they_wait_for_a_generation() -> None:
    waiting: set[str] = set()
    for each in seen_of(group(6, 40_000)):
        assert each.member is not None
        for effect in each.effects:
            if isinstance(effect, Send) and isinstance(effect.request, Heartbeat):
                assert each.member not in waiting
            elif isinstance(effect, Send) and type(effect.request).__name__ == "JoinGroup":
                waiting.add(each.member)
        if isinstance(each.event, Answered) and hasattr(each.event.response, "leader"):
            waiting.discard(each.member)


@pytest.mark.parametrize("protocol", [GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
def test_a_heartbeat_that_waited_is_not_sent_on_top_of_what_was_sent_meanwhile(
    protocol: GroupProtocol,
) -> None:
    scenario = group(20, 150_000, protocol=protocol, assignor="java/cooperative-sticky")
    interval_us = 3_000_000 if protocol is GroupProtocol.CLASSIC else 5_000_000
    last: dict[str | None, int] = {}
    waited = 0
    for each in seen_of(scenario):
        for effect in each.effects:
            if isinstance(effect, Send):
                if is_plain(effect.request):
                    since_us = each.at_us - last[each.member]
                    assert since_us >= interval_us
                    waited += since_us > interval_us + 150_000
                last[each.member] = each.at_us
    assert waited > 20


def test_members_that_share_nothing_are_as_before() -> None:
    scenario = group(5, 0)
    shared = replace(scenario, network=NetworkConfig(mean_us=200, handling_us=1))
    one, other = (simulate(each).result for each in (scenario, shared))
    assert (one.rounds, one.moves, one.requests) == (other.rounds, other.moves, other.requests)
    assert other.unavailable_partition_ms == pytest.approx(one.unavailable_partition_ms, rel=0.01)


def test_a_cooperative_member_that_has_revoked_waits_for_two_callbacks() -> None:
    eager, cooperative = (
        sides_of(group(1, 10, assignor=f"java/{name}")).members[0]
        for name in ("range", "cooperative-sticky")
    )
    machine, handled = machine_of(10)
    revoked = HEARTBEAT._replace(key=("revoked",))
    for number, member in enumerate((eager, cooperative, eager)):
        machine.turn(0, number, member, revoked)
    machine.turn(0, 3, cooperative, HEARTBEAT)
    all_of(machine, handled)
    assert [at for at, _ in handled] == [10, 30, 40, 50]
