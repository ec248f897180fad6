"""Scenarios drawn at random: slow polls and callbacks, short timeouts, members that come and go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as st

from assignors.simulation.timed.faults.live import OF_THE_COORDINATOR
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.scenario import (
    MIGRATING,
    Action,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)

ASSIGNORS = (
    *("optimal/sticky", "optimal/cooperative-sticky"),
    *("java/range", "java/sticky", "java/cooperative-sticky"),
)
UNTIL_MS = 90_000
PLAYABLE = [
    (name, protocol)
    for name in GALLERY
    for protocol in GroupProtocol
    for story in [named(name, protocol=protocol)]
    if protocol in MIGRATING
    or (len(story.protocols) == 1 and not {one.kind for one in story.faults} & OF_THE_COORDINATOR)
]
"""Every story under every protocol that it can have: the push protocol has no log to load."""
LONGEST = ("commits-without-linger", "commits-with-linger", "join-storm-two-stage")
"""Stories of many events, of kinds that shorter ones have too."""
HALF_OF_THE_GALLERY = [
    pytest.param(
        *(name, protocol),
        marks=()
        if number % (2 * len(played)) == 2 * turn and name not in LONGEST
        else pytest.mark.deep,
    )
    for number, name in enumerate(GALLERY)
    for played in [[protocol for each, protocol in PLAYABLE if each == name]]
    for turn, protocol in enumerate(played)
]
"""Every other story under one protocol, another one for the next; `make deep`: all under all."""


def some_of_the_gallery(protocol: GroupProtocol) -> list[Any]:
    """Every fourth of the stories that this protocol can have; `make deep`: all of them."""
    names = [name for name, each in PLAYABLE if each is protocol]
    return [
        pytest.param(
            name, marks=() if number % 4 == 0 and name not in LONGEST else pytest.mark.deep
        )
        for number, name in enumerate(names)
    ]


MEMBERS_MAX = 5


@st.composite
def members(draw: st.DrawFn, number: int, assignor: str) -> MemberConfig:
    """A member with any combination of short and long times.

    One with callbacks longer than its poll interval stays: otherwise it would leave for ever.
    """
    rebalance_timeout_ms = draw(st.sampled_from([1000, 20_000]))
    return MemberConfig(
        name=f"c{number}",
        topics=("t",),
        assignors=(assignor,),
        instance_id=draw(st.sampled_from([None, None, None, f"i{number}"])),
        heartbeat_interval_ms=draw(st.sampled_from([300, 3000])),
        session_timeout_ms=draw(st.sampled_from([5000, 10_000])),
        rebalance_timeout_ms=rebalance_timeout_ms,
        leaves_if_poll_is_late=rebalance_timeout_ms > 1000,
        poll_ms=draw(st.sampled_from([0, 100, 5000])),
        revoke_ms=draw(st.sampled_from([0, 20, 3000])),
        assign_ms=draw(st.sampled_from([0, 5, 3000])),
        sync_delay_us=draw(st.sampled_from([0, 10_000])),
        starts_at_ms=draw(st.one_of(st.just(0), st.integers(0, 20_000), st.none())),
    )


NETWORKS = st.builds(
    NetworkConfig,
    least_us=st.sampled_from([0, 1000]),
    mean_us=st.sampled_from([500, 1000, 20_000]),
)
"""With delays between which rounds and reconciliations may be computed."""
SERVICES_US = st.sampled_from([0, 50, 4000])
APPENDS_US = st.sampled_from([0, 5000, 300_000])
REQUEST_TIMEOUTS_MS = st.sampled_from([30_000, 30_000, 30_000, 1000])
"""Sometimes shorter than a leader takes for an assignment, and than from heartbeat to heartbeat."""


@st.composite
def actions(draw: st.DrawFn, members: int, at_ms: st.SearchStrategy[int], grown: int) -> Action:
    """Something that happens to one of so many members, or to the topic `t`.

    It grows to `grown` partitions, and one more for each second that it happens later.
    """
    at = draw(at_ms)
    verb = draw(st.sampled_from([Verb.START, Verb.STOP, Verb.CRASH, Verb.SUBSCRIBE, Verb.GROW]))
    if verb is Verb.GROW:
        return Action(at_ms=at, do=verb, topic="t", partitions=grown + at // 1000)
    topics = draw(st.sampled_from([("t",), ("t", "u"), ("u",)])) if verb is Verb.SUBSCRIBE else ()
    member = f"c{draw(st.integers(0, members - 1))}"
    return Action(at_ms=at, do=verb, member=member, topics=topics)


def some_time_after(*times_ms: int) -> st.SearchStrategy[int]:
    """One of these times, or up to six seconds later."""
    return st.builds(int.__add__, st.sampled_from(times_ms), st.integers(0, 6000))


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A group of up to `MEMBERS_MAX` members, and a plan of starts, stops and crashes."""
    assignor = draw(st.sampled_from(ASSIGNORS))
    count = draw(st.integers(1, MEMBERS_MAX))
    plan = draw(
        st.lists(
            st.builds(
                Action,
                at_ms=st.integers(0, 60_000),
                do=st.sampled_from([Verb.START, Verb.STOP, Verb.CRASH]),
                member=st.sampled_from([f"c{number}" for number in range(count)]),
            ),
            max_size=10,
        )
    )
    return Scenario(
        seed=draw(st.integers(0, 2**63)),
        until_ms=UNTIL_MS,
        protocol=draw(st.sampled_from(GroupProtocol)),
        topics={"t": draw(st.integers(1, 6))},
        members=tuple(draw(members(number, assignor)) for number in range(count)),
        plan=tuple(sorted(plan, key=lambda action: action.at_ms)),
        broker=BrokerConfig(
            initial_delay_ms=draw(st.sampled_from([0, 3000])),
            consumer_session_timeout_ms=10_000,
            consumer_heartbeat_interval_ms=draw(st.sampled_from([500, 5000])),
        ),
        network=NetworkConfig(mean_us=draw(st.sampled_from([0, 1000, 200_000]))),
    )


def in_time(scenario: Scenario) -> Scenario:
    """The scenario with rebalance timeouts in which every member can join again.

    Others need never settle: who is too late is removed, comes back, and is too late again.
    """
    return replace(
        scenario,
        members=tuple(
            replace(each, rebalance_timeout_ms=20_000)
            if each.heartbeat_interval_ms + each.poll_ms + each.revoke_ms + each.assign_ms >= 1000
            else each
            for each in scenario.members
        ),
    )
