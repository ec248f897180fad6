"""The plan of a scenario: what its verbs do, and the short-lived members that it lets come and go.

A verb more is a function here and a row in `ACTS`, unless it is a `Command` to a member. Times
between arrivals and lifetimes are exponential, each from its own stream of random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from assignors.model import Cluster
from assignors.simulation.timed.heartbeats import HEARTBEAT
from assignors.simulation.timed.protocols.effects import MILLISECOND, Command, Schedule, TimerKey
from assignors.simulation.timed.protocols.kafka.classic_member import SECOND_US, ClassicMember
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.push.member import PushClient
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.random_streams import exponential, stream
from assignors.simulation.timed.run import Run
from assignors.simulation.timed.scenario import (
    Action,
    Arrivals,
    BrokerConfig,
    MemberConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.sides import MixedMember


def with_commits(scenario: Scenario) -> Scenario:
    """Return the scenario with the members that commit by default. Cost: O(members)."""
    if not scenario.processing.is_on:
        return scenario
    members = [replace(one, auto_commit_ms=one.commits_every_ms) for one in scenario.members]
    return replace(scenario, members=tuple(members))


def with_arrivals(scenario: Scenario) -> Scenario:
    """Return the scenario with its short-lived members among the others. Cost: O(members)."""
    if not scenario.arrivals:
        return scenario
    members, plan = list(scenario.members), list(scenario.plan)
    for each in scenario.arrivals:
        come, happens = drawn(each, scenario.seed)
        members += come
        plan += happens
    plan.sort(key=lambda action: action.at_ms)
    return replace(scenario, members=tuple(members), plan=tuple(plan), arrivals=())


def drawn(arrivals: Arrivals, seed: int) -> tuple[list[MemberConfig], list[Action]]:
    """Return the members that come, and what happens to them when. Cost: O(members)."""
    one = arrivals.member
    gaps, lives = stream(seed, one.name, "arrivals"), stream(seed, one.name, "lifetimes")
    members: list[MemberConfig] = []
    plan: list[Action] = []
    at_ms = arrivals.from_ms
    while (at_ms := at_ms + max(exponential(gaps, arrivals.every_ms), 1)) < arrivals.until_ms:
        name = f"{one.name}.{len(members)}"
        instance = None if one.instance_id is None else f"{one.instance_id}.{len(members)}"
        members.append(replace(one, name=name, instance_id=instance, starts_at_ms=None))
        over_ms = at_ms + max(exponential(lives, arrivals.lifetime_ms), 1)
        plan.append(Action(at_ms=at_ms, do=Verb.START, member=name))
        plan.append(Action(at_ms=over_ms, do=Verb(arrivals.ends.value), member=name))
    return members, plan


def act(run: Run, action: Action) -> None:
    """Do what the plan says: by `ACTS`, or as a command to a member."""
    run.meter.compare(run.queue.now, run.sides, run.numbers)
    run.meter.acted = run.queue.now
    known = ACTS.get(action.do)
    if known is not None:
        known(run, action)
    else:
        run.faults.reach(_member_of(run, action), Command(action.do.value))


def rest_for_long(run: Run) -> None:
    """Let heartbeats of members at rest come at moments of their own, as after a long rest.

    Cost: O(members).
    """
    seed, heartbeats = run.scenario.seed, run.heartbeats
    for number, config in enumerate(run.scenario.members):
        member = run.sides.members[number]
        if not member.is_at_rest:
            continue
        if heartbeats is not None:
            heartbeats.wake(number)
        client = member.client if isinstance(member, MixedMember) else member
        for key, period in _periods(client, run.scenario.broker):
            if run.queue.due((number, key)) is not None:
                after_us = 1 + stream(seed, config.name, f"phase of {key[0]}").below(period)
                rank = Rank.HEARTBEAT if key == HEARTBEAT.key else None
                run.start_timer(number, Schedule(key, after_us), rank, number)
        if heartbeats is not None:
            heartbeats.rest(number)


def _periods(client: object, broker: BrokerConfig) -> Iterator[tuple[TimerKey, int]]:
    """Yield the timers of a member that run again and again, with their periods.

    The heartbeats of one whose session is shorter than two of them keep their times.
    """
    if isinstance(client, ClassicMember) and client.times.wake_ms:
        yield ("look",), client.times.wake_ms * MILLISECOND
        yield ("look-each-second",), SECOND_US
    if isinstance(client, ClassicMember | ConsumerClient | PushClient):
        is_consumer = isinstance(client, ConsumerClient)
        timeout_ms = client.config.session_timeout_ms
        session_ms = broker.consumer_session_timeout_ms if is_consumer else timeout_ms
        if session_ms * MILLISECOND > 2 * client.beat_us:
            yield HEARTBEAT.key, client.beat_us


def _grow(run: Run, action: Action) -> None:
    """Create a topic, or give it more partitions."""
    assert action.topic is not None
    run.topics[action.topic] = action.partitions
    run.ledger.grow(run.queue.now, action.topic, action.partitions)
    _show_topics(run)


def _delete(run: Run, action: Action) -> None:
    """Delete a topic; its partitions are no loss to members."""
    assert action.topic is not None
    del run.topics[action.topic]
    run.ledger.drop(run.queue.now, action.topic)
    _show_topics(run)


def _show_topics(run: Run) -> None:
    """Show the topics as they are to the coordinator, and to members as their metadata ages."""
    now = run.queue.now
    run.cluster = cluster = Cluster.of(run.topics)
    must_show = run.sides.change_topics(cluster)
    if run.heartbeats is not None:
        run.heartbeats.look()
    if must_show:
        for number, config in enumerate(run.scenario.members):
            wait = stream(run.scenario.seed, config.name, f"metadata {now}")
            age = config.metadata_age_ms * MILLISECOND
            learns_at = now + wait.below(age + 1)
            run.topics_known_us = max(run.topics_known_us, learns_at)
            run.queue.put(learns_at, (number, cluster))


def _start(run: Run, action: Action) -> None:
    number = _member_of(run, action)
    if action.protocol is not None:
        run.sides.choose_protocol(number, action.protocol)
    run.faults.reach(number, Command.START)


def _subscribe(run: Run, action: Action) -> None:
    number = _member_of(run, action)
    run.sides.members[number].topics = action.topics
    run.faults.reach(number, Command.REJOIN)


def _pause(run: Run, action: Action) -> None:
    assert action.member is not None
    assert action.topic is not None
    run.meter.pauses.pause(action.member, action.topic, run.ledger.consumed)


def _resume(run: Run, action: Action) -> None:
    assert action.member is not None
    assert action.topic is not None
    run.meter.pauses.resume(action.member, action.topic)


def _member_of(run: Run, action: Action) -> int:
    assert action.member is not None
    return run.numbers[action.member]


ACTS: dict[Verb, Callable[[Run, Action], None]] = {
    Verb.START: _start,
    Verb.CREATE: _grow,
    Verb.GROW: _grow,
    Verb.DELETE: _delete,
    Verb.SUBSCRIBE: _subscribe,
    Verb.PAUSE: _pause,
    Verb.RESUME: _resume,
}
"""What a verb does beyond a `Command` of its name to its member."""
