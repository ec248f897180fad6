"""The histories of `rounds` on a clock without delays: the same owners after every event.

Both stay. `rounds` plays what a clock has no time for: members that come back with old claims,
topics that shrink, leaders that see `Member` values without bytes; and twenty members take a sixth
of the time there. The clock knows what lies between two rounds.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.registry import assignor_named
from assignors.simulation import rounds as in_rounds
from assignors.simulation.rounds import GroupEventKind as Kind
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases
from wire import TopicPartitions

SETTLED_MS = 60_000
TOPICS = (("t",), ("u",), ("t", "u"))
Owners = dict[str, TopicPartitions]


@st.composite
def histories(draw: st.DrawFn) -> in_rounds.Scenario:
    """Return a history in which nobody claims anything false, and no topic shrinks."""
    counts = {"t": draw(st.integers(0, 12)), "u": draw(st.integers(0, 6))}
    subscribed = {f"m{number}": draw(st.sampled_from(TOPICS)) for number in range(3)}
    first = tuple(spec(name, topics) for name, topics in subscribed.items())
    topics, events = dict(counts), []
    for number in range(draw(st.integers(0, 6))):
        kinds = [Kind.JOIN, Kind.GROW, *([Kind.SUBSCRIBE] if subscribed else [])]
        kind = draw(st.sampled_from([*kinds, *([Kind.LEAVE] if len(subscribed) > 1 else [])]))
        if kind is Kind.JOIN:
            member = spec(f"n{number}", draw(st.sampled_from(TOPICS)))
            subscribed[member.name] = member.topics
            events.append(in_rounds.GroupEvent(kind=kind, name=member.name, member=member))
        elif kind is Kind.GROW:
            topic = draw(st.sampled_from(["t", "u"]))
            topics[topic] += draw(st.integers(1, 4))
            events.append(
                in_rounds.GroupEvent(kind=kind, topic=topic, partition_count=topics[topic])
            )
        else:
            name = draw(st.sampled_from(sorted(subscribed)))
            if kind is Kind.LEAVE:
                del subscribed[name]
                events.append(in_rounds.GroupEvent(kind=kind, name=name))
            else:
                other = draw(st.sampled_from([each for each in TOPICS if each != subscribed[name]]))
                subscribed[name] = other
                events.append(in_rounds.GroupEvent(kind=kind, name=name, topics=other))
    return in_rounds.Scenario(topics=counts, members=first, events=tuple(events))


def spec(name: str, topics: tuple[str, ...]) -> in_rounds.MemberSpec:
    return in_rounds.MemberSpec(name=name, topics=topics, version=3)


def on_a_clock(history: in_rounds.Scenario, assignor: str) -> Scenario:
    """Return the history with a minute for each event, and no time for anything else."""
    joining = [each.member for each in history.events if each.member is not None]
    return Scenario(
        until_ms=SETTLED_MS * (len(history.events) + 1),
        topics=dict(history.topics),
        members=tuple(
            MemberConfig(
                name=each.name,
                topics=each.topics,
                assignors=(assignor,),
                poll_ms=0,
                revoke_ms=0,
                assign_ms=0,
                metadata_age_ms=0,
                starts_at_ms=0 if each in history.members else None,
            )
            for each in (*history.members, *joining)
        ),
        plan=tuple(
            action(SETTLED_MS * number, event) for number, event in enumerate(history.events, 1)
        ),
        broker=BrokerConfig(service_us=0, append_us=0),
        network=NetworkConfig(mean_us=0),
        compute_us_per_partition=0,
    )


def action(at_ms: int, event: in_rounds.GroupEvent) -> Action:
    verb = {
        Kind.JOIN: Verb.START,
        Kind.LEAVE: Verb.STOP,
        Kind.SUBSCRIBE: Verb.SUBSCRIBE,
        Kind.GROW: Verb.GROW,
    }[event.kind]
    return Action(
        at_ms=at_ms,
        do=verb,
        member=event.name,
        topics=event.topics,
        topic=event.topic,
        partitions=event.partition_count,
    )


def owners_in_rounds(history: in_rounds.Scenario, assignor: str) -> list[Owners]:
    """Return who owns what after the start, and after each event."""
    return [
        without_empty({name.rpartition("-")[0]: owned for name, owned in each.after.items()})
        for each in in_rounds.rounds(history, assignor_named(assignor))
        if each.is_last
    ]


def owners_on_a_clock(history: in_rounds.Scenario, assignor: str) -> list[Owners]:
    changes = simulate(on_a_clock(history, assignor), keeps_history=True).changes
    owned: Owners = {}
    found = []
    for number in range(1, len(history.events) + 2):
        end = SETTLED_MS * number * 1000
        owned |= {each.member_id: each.owned for each in changes if each.at < end}
        found.append(without_empty(owned))
    return found


def without_empty(owned: Owners) -> Owners:
    shares = {name: {t: n for t, n in topics.items() if n} for name, topics in owned.items()}
    return {name: topics for name, topics in shares.items() if topics}


@pytest.mark.parametrize(
    "assignor", ["optimal/cooperative-sticky", "optimal/sticky", "java/range", "java/roundrobin"]
)
@cases(25)
@given(history=histories())
def test_without_delays_owners_are_those_of_the_rounds(
    assignor: str, history: in_rounds.Scenario
) -> None:
    assert owners_on_a_clock(history, assignor) == owners_in_rounds(history, assignor)
