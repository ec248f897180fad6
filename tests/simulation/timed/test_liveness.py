"""What each monitor of a run's end calls wrong, and what is nearly that and right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.liveness import (
    ROUNDS_MAX,
    Ending,
    is_settled,
    quiet_us,
    without_what_follows,
)
from assignors.simulation.timed.monitors.table import MONITORS, Kind, end_found
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    Scenario,
    Verb,
)
from wire import TopicPartitions

A = MemberConfig(name="a", topics=("t",), assignors=("sticky",))
B = replace(A, name="b")
GROUP = Scenario(until_ms=9000, protocol=GroupProtocol.CLASSIC, topics={"t": 4}, members=(A, B))
CONSUMER = replace(GROUP, protocol=GroupProtocol.CONSUMER)
PUSH = replace(GROUP, protocol=GroupProtocol.PUSH)
SEVERAL = replace(GROUP, members=(A, replace(B, assignors=("sticky", "range"))))
SEVERAL_SERVED = replace(SEVERAL, protocol=GroupProtocol.CONSUMER)

HALF, REST, ALL = (0, 1), (2, 3), (0, 1, 2, 3)
BALANCED = {"a": HALF, "b": REST}
ONE_HAS_ALL = {"a": ALL, "b": ()}
DOWN: dict[str, Any] = {"is_up": False}
RESTLESS: dict[str, Any] = {"is_at_rest": False}


def sides_of(**changes: Mapping[str, Any]) -> Any:
    """Return as much of two members as monitors look at."""
    settled = {"is_up": True, "is_at_rest": True, "topics": ("t",)}
    members = [
        SimpleNamespace(**{"member_id": f"{name}-id", **settled, **changes.get(name, {})})
        for name in ("a", "b")
    ]
    return SimpleNamespace(members=members)


def ledger_of(owned: Mapping[str, tuple[int, ...]], unread: int = 0) -> Ledger:
    """Return who consumes which partitions of `t`; nobody consumes those of `unread`."""
    ledger = Ledger()
    ledger.grow(0, "t", 4)
    ledger.grow(0, "unread", unread)
    for name, numbers in owned.items():
        share: TopicPartitions = {"t": numbers} if numbers else {}
        ledger.consume(0, name, share, "assigned")
    return ledger


@pytest.mark.parametrize(
    ("group", "members", "owned", "settings", "found"),
    [
        (GROUP, {}, BALANCED, {}, []),
        (GROUP, {"b": RESTLESS}, BALANCED, {}, ["member-not-at-rest"]),
        (GROUP, {"b": {**RESTLESS, **DOWN}}, {"a": ALL}, {}, []),
        (GROUP, {}, {"a": (0, 1, 2), "b": REST}, {}, ["partition-with-two-owners"]),
        (GROUP, {}, {"a": HALF, "b": (2,)}, {}, ["partition-without-owner"]),
        (GROUP, {"a": DOWN, "b": DOWN}, {}, {}, []),
        (GROUP, {}, BALANCED, {"rounds": ROUNDS_MAX}, []),
        (GROUP, {}, BALANCED, {"rounds": ROUNDS_MAX + 1}, ["too-many-rounds"]),
        (GROUP, {}, BALANCED, {"unanswered": {7}}, ["request-unanswered"]),
        (CONSUMER, {}, BALANCED, {"unanswered": {7}}, ["request-unanswered"]),
        (PUSH, {}, BALANCED, {"unanswered": {7}}, []),
        (GROUP, {}, ONE_HAS_ALL, {}, ["balance-can-improve"]),
        (GROUP, {"b": DOWN}, ONE_HAS_ALL, {}, []),
        (GROUP, {"b": {"topics": ()}}, ONE_HAS_ALL, {}, []),
        (GROUP, {"b": RESTLESS}, ONE_HAS_ALL, {}, ["member-not-at-rest"]),
        (SEVERAL, {}, ONE_HAS_ALL, {}, []),
        (SEVERAL_SERVED, {}, ONE_HAS_ALL, {}, ["balance-can-improve"]),
    ],
)
def test_what_has_not_come_about(
    group: Scenario,
    members: dict[str, dict[str, Any]],
    owned: dict[str, tuple[int, ...]],
    settings: dict[str, Any],
    found: list[str],
) -> None:
    end = Ending(group, sides_of(**members), ledger_of(owned), 0, set())
    assert [name for name, _ in end_found(end._replace(**settings))] == found


def test_every_monitor_of_the_end_is_found_above_and_no_other() -> None:
    """All that is wrong at once, in the order of the table; who is unbalanced has settled."""
    doubled = ledger_of({"a": HALF, "b": HALF})
    found = dict(end_found(Ending(GROUP, sides_of(b=RESTLESS), doubled, ROUNDS_MAX + 1, {7})))
    assert found == {
        "member-not-at-rest": "b-id has not got its assignment",
        "partition-with-two-owners": "t-0, t-1 still has two consumers in the end",
        "partition-without-owner": "nobody consumes t-2, t-3",
        "too-many-rounds": "11 generations, and nothing had happened",
        "request-unanswered": "1 requests have no answer",
    }
    of_the_end = {name for name, each in MONITORS.items() if each.kind is Kind.END}
    assert of_the_end == found.keys() | {"balance-can-improve"}


def test_a_member_that_has_not_joined_yet_is_named_all_the_same() -> None:
    joining = sides_of(b={**RESTLESS, "member_id": ""})
    (wrong,) = end_found(Ending(GROUP, joining, ledger_of(BALANCED), 0, set()))
    assert wrong == ("member-not-at-rest", "a member without an id has not got its assignment")


def test_a_topic_that_is_deleted_needs_no_consumer() -> None:
    asking = sides_of(a={"topics": ("t", "gone")})
    assert list(end_found(Ending(GROUP, asking, ledger_of(BALANCED), 0, set()))) == []


def test_a_topic_that_nobody_who_runs_subscribes_to_needs_no_consumer() -> None:
    stopped = sides_of(b={**DOWN, "topics": ("t", "unread")})
    ledger = ledger_of({"a": ALL}, unread=2)
    assert list(end_found(Ending(GROUP, stopped, ledger, 0, set()))) == []
    running = sides_of(a={"topics": ("t", "unread")}, b=DOWN)
    (wrong,) = end_found(Ending(GROUP, running, ledger, 0, set()))
    assert wrong == ("partition-without-owner", "nobody consumes unread-0, unread-1")


@pytest.mark.parametrize(
    ("members", "owned", "settled"),
    [
        ({}, BALANCED, True),
        ({"b": RESTLESS}, BALANCED, False),
        ({}, {"a": ALL, "b": (3,)}, False),
        ({}, {"a": HALF}, False),
    ],
)
def test_a_group_has_settled_once_all_are_at_rest_and_each_partition_has_one_consumer(
    members: dict[str, dict[str, Any]], owned: dict[str, tuple[int, ...]], *, settled: bool
) -> None:
    assert is_settled(sides_of(**members), ledger_of(owned)) is settled


@pytest.mark.parametrize(
    ("sessions", "rebalances", "broker", "quiet_ms"),
    [
        ((6000, 8000), (20_000, 10_000), 7000, 2 * (8000 + 20_000)),
        ((6000, 8000), (20_000, 10_000), 9000, 2 * (9000 + 20_000)),
    ],
)
def test_a_group_has_twice_its_longest_session_and_rebalance_timeout(
    sessions: tuple[int, int], rebalances: tuple[int, int], broker: int, quiet_ms: int
) -> None:
    members = tuple(
        replace(each, session_timeout_ms=session, rebalance_timeout_ms=rebalance)
        for each, session, rebalance in zip((A, B), sessions, rebalances, strict=True)
    )
    config = BrokerConfig(consumer_session_timeout_ms=broker)
    assert quiet_us(replace(GROUP, members=members, broker=config)) == quiet_ms * MILLISECOND


def test_what_the_end_cuts_off_does_not_follow_and_faults_that_began_last() -> None:
    def cut(from_ms: int, until_ms: int) -> Fault:
        return Fault(kind=FaultKind.CUT, member="a", from_ms=from_ms, until_ms=until_ms)

    def stop(at_ms: int) -> Action:
        return Action(at_ms=at_ms, do=Verb.STOP, member="a")

    late = replace(B, starts_at_ms=9001)
    never = replace(B, name="c", starts_at_ms=None)
    group = replace(
        GROUP,
        members=(replace(A, starts_at_ms=9000), late, never),
        plan=(stop(9000), stop(9001)),
        faults=(cut(9000, 12_000), cut(9001, 30_000)),
    )
    assert without_what_follows(group) == replace(
        group,
        until_ms=12_000,
        members=(group.members[0], replace(late, starts_at_ms=None), never),
        plan=(stop(9000),),
        faults=(cut(9000, 12_000),),
    )
    assert without_what_follows(GROUP) == GROUP
