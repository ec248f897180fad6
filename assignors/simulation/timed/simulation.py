"""Run a timed scenario: deliver messages, run timers, keep the ledger, and count.

The steps of coordinator and members say what they want done; here it is done. A request takes its
way over the network, waits for its turn at the coordinator, and the answer comes back the same
way. Messages of one connection do not overtake each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from statistics import median
from uuid import UUID

from assignors.leader import REPAIR
from assignors.model import Cluster
from assignors.ownership.changes import Change
from assignors.registry import assignor_named
from assignors.simulation.dice import Dice
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.protocols.classic import coordinator
from assignors.simulation.timed.protocols.classic import member as members
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicConfig,
    ClassicCoordinator,
)
from assignors.simulation.timed.protocols.classic.member import Command
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.states import GroupState, MemberState
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Append,
    Arrived,
    Cancel,
    Committed,
    Consume,
    Fired,
    Reply,
    Schedule,
    Send,
)
from assignors.simulation.timed.queue import EventQueue
from assignors.simulation.timed.random_streams import exponential, stream
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import Action, MemberConfig, Scenario, Verb

MILLISECOND = 1000
"""In microseconds."""
COORDINATOR = -1
"""The coordinator's number; members count from 0."""

Event = tuple[int, object]
"""Whom it is for, and what happens: an event of a step, a `Command`, or an `Action`."""


@dataclass(slots=True)
class _Link:
    """A member's connection: its delays, and when the last message each way arrives."""

    delays: Dice
    arrives: int = 0
    returns: int = 0
    life: int = 0
    """Counts the member's processes: answers to one that has ended are dropped."""


@dataclass(slots=True, kw_only=True)
class TimedRun:
    """A run: what goes on, and after `run` what it led to."""

    scenario: Scenario
    queue: EventQueue[Event] = field(default_factory=EventQueue)
    ledger: Ledger
    coordinator: ClassicCoordinator
    members: list[ClassicMember]
    links: list[_Link]
    numbers: dict[str, int]
    topics: dict[str, int]
    in_flight: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Request -> member, its own number of the request, its life."""
    sent: int = 0
    busy_until: int = 0
    requests: Counter[str] = field(default_factory=Counter)
    rounds: list[tuple[int, int]] = field(default_factory=list)
    """Begin and end of each rebalance since costs are counted."""
    began: int | None = None
    generations: int = 0


def simulate(
    scenario: Scenario, *, keeps_changes: bool = False
) -> tuple[TimedResult, list[Change]]:
    """Run a scenario; return its result, and every change of consumption if they are kept.

    Raises `ValueError` for an unknown assignor. Cost: O(events log events), plus the assignors.
    """
    run = _prepare(scenario, keeps_changes=keeps_changes)
    until = scenario.until_ms * MILLISECOND
    queue = run.queue
    limit = scenario.event_limit
    while (event := queue.take(until)) is not None:
        _handle(run, event)
        if queue.count >= limit:
            break
    return _result(run), run.ledger.changes


def _prepare(scenario: Scenario, *, keeps_changes: bool) -> TimedRun:
    cluster = Cluster.of(scenario.topics)
    ledger = Ledger(count_from=scenario.count_from_ms * MILLISECOND, keeps_changes=keeps_changes)
    for topic, count in scenario.topics.items():
        ledger.grow(0, topic, count)
    run = TimedRun(
        scenario=scenario,
        ledger=ledger,
        coordinator=ClassicCoordinator(
            new_id=_new_ids(scenario.seed),
            config=ClassicConfig(
                initial_delay_ms=scenario.broker.initial_delay_ms,
                max_size=scenario.broker.max_size,
            ),
        ),
        members=[_member(scenario, config, cluster) for config in scenario.members],
        links=[_Link(stream(scenario.seed, each.name, "network")) for each in scenario.members],
        numbers={config.name: number for number, config in enumerate(scenario.members)},
        topics=dict(scenario.topics),
    )
    for number, config in enumerate(scenario.members):
        if config.starts_at_ms is not None:
            run.queue.put(config.starts_at_ms * MILLISECOND, (number, Command.START))
    for action in scenario.plan:
        run.queue.put(action.at_ms * MILLISECOND, (COORDINATOR, action))
    return run


def _member(scenario: Scenario, config: MemberConfig, cluster: Cluster) -> ClassicMember:
    polls = stream(scenario.seed, config.name, "poll")
    syncs = stream(scenario.seed, config.name, "sync")

    def draw(purpose: str, limit: int) -> int:
        return polls.below(limit + 1) if purpose == "poll" else exponential(syncs, limit)

    return ClassicMember(
        config=config,
        assignors=tuple(assignor_named(name).configured(REPAIR) for name in config.assignors),
        draw=draw,
        cluster=cluster,
        compute_us_per_partition=scenario.compute_us_per_partition,
    )


def _new_ids(seed: int) -> Callable[[str], str]:
    """Return a source of member ids: the client's name and a UUID, as Kafka makes them."""
    given: Counter[str] = Counter()

    def new_id(name: str) -> str:
        given[name] += 1
        dice = stream(seed, name, f"id {given[name]}")
        return f"{name}-{UUID(int=dice.below(1 << 64) << 64 | dice.below(1 << 64), version=4)}"

    return new_id


def _handle(run: TimedRun, event: Event) -> None:
    target, what = event
    if isinstance(what, Action):
        _act(run, what)
    elif target == COORDINATOR:
        assert isinstance(what, Arrived | Fired | Committed)
        _step_coordinator(run, what)
    elif isinstance(what, Cluster):
        _refresh(run, target, what)
    else:
        assert isinstance(what, Answered | Fired | Command)
        if what is Command.START:
            if run.members[target].state is not MemberState.DOWN:
                return  # it runs already
            run.links[target].life += 1
            run.members[target].cluster = Cluster.of(run.topics)
        _step_member(run, target, what)


# The plan


def _act(run: TimedRun, action: Action) -> None:
    """Do what the plan says."""
    if action.do is Verb.GROW:
        assert action.topic is not None
        run.topics[action.topic] = action.partitions
        run.ledger.grow(run.queue.now, action.topic, action.partitions)
        cluster = Cluster.of(run.topics)
        for number, member in enumerate(run.members):
            age = member.config.metadata_age_ms * MILLISECOND
            wait = stream(run.scenario.seed, member.config.name, f"metadata {run.queue.now}")
            run.queue.put(run.queue.now + wait.below(age + 1), (number, cluster))
        return
    assert action.member is not None
    number = run.numbers[action.member]
    if action.do is Verb.SUBSCRIBE:
        run.members[number].topics = action.topics
        _step_member(run, number, Command.REJOIN)
    else:
        _handle(run, (number, Command(action.do.value)))


def _refresh(run: TimedRun, number: int, cluster: Cluster) -> None:
    """Give a member new metadata; a leader starts a round where that changes its topics."""
    member = run.members[number]
    is_concerned = any(
        member.cluster.topics.get(topic) != cluster.topics.get(topic) for topic in member.topics
    )
    member.cluster = cluster
    if member.is_leader and is_concerned:
        _step_member(run, number, Command.REJOIN)


# Members


def _step_member(run: TimedRun, number: int, event: Answered | Fired | Command) -> None:
    member = run.members[number]
    now = run.queue.now
    for effect in members.step(member, event):
        match effect:
            case Send():
                _send(run, number, effect)
            case Schedule(key, after_us, data):
                run.queue.start((number, key), now + after_us, (number, Fired(key, data)))
            case Cancel(key):
                run.queue.stop((number, key))
            case Consume(owned, reason):
                run.ledger.consume(now, member.config.name, owned, reason)
            case _:
                raise AssertionError(effect)


def _send(run: TimedRun, number: int, effect: Send) -> None:
    link = run.links[number]
    arrives = run.queue.now + effect.after_us + _delay(run, link)
    link.arrives = max(arrives, link.arrives)
    run.sent += 1
    run.in_flight[run.sent] = (number, effect.number, link.life)
    run.requests[type(effect.request).__name__] += 1
    run.queue.put(link.arrives, (COORDINATOR, Arrived(run.sent, effect.request)))


def _delay(run: TimedRun, link: _Link) -> int:
    network = run.scenario.network
    return network.least_us + exponential(link.delays, network.mean_us)


# The coordinator


def _step_coordinator(run: TimedRun, event: Arrived | Fired | Committed) -> None:
    now = run.queue.now
    if isinstance(event, Arrived):
        run.busy_until = max(now, run.busy_until) + run.scenario.broker.service_us
    done = max(now, run.busy_until)
    group = run.coordinator.group
    before, generation = group.state, group.generation
    for effect in coordinator.step(run.coordinator, event):
        match effect:
            case Reply(number, response):
                _reply(run, number, response, done)
            case Schedule(key, after_us, data):
                event_then = (COORDINATOR, Fired(key, data))
                run.queue.start((COORDINATOR, key), now + after_us, event_then)
            case Cancel(key):
                run.queue.stop((COORDINATOR, key))
            case Append(_, token):
                replicated = done + run.scenario.broker.append_us
                run.queue.put(replicated, (COORDINATOR, Committed(token)))
            case _:
                raise AssertionError(effect)
    _observe(run, before, generation)


def _reply(run: TimedRun, number: int, response: object, done: int) -> None:
    member, own_number, life = run.in_flight.pop(number)
    link = run.links[member]
    if life != link.life:
        return
    link.returns = max(done + _delay(run, link), link.returns)
    run.queue.put(link.returns, (member, Answered(own_number, response)))  # type: ignore[arg-type]


def _observe(run: TimedRun, before: GroupState, generation: int) -> None:
    """Count rebalances: one begins with the first barrier and ends as assignments are delivered."""
    group, now = run.coordinator.group, run.queue.now
    is_counted = now >= run.ledger.count_from
    if is_counted:
        run.generations += group.generation - generation
    if group.state is before:
        return
    if run.began is None and group.state is GroupState.PREPARING_REBALANCE:
        run.began = now
    elif group.state in {GroupState.STABLE, GroupState.EMPTY} and run.began is not None:
        if is_counted:
            run.rounds.append((run.began, now))
        run.began = None


def _result(run: TimedRun) -> TimedResult:
    scenario = run.scenario
    end = run.queue.now if run.queue.count >= scenario.event_limit else None
    at = scenario.until_ms * MILLISECOND if end is None else end
    running = [each for each in run.members if each.state is not MemberState.DOWN]
    wanted = {topic for member in running for topic in member.topics}
    unowned = run.ledger.close(at, wanted)
    times = [(stop - start) / MILLISECOND for start, stop in run.rounds]
    is_quiet = all(each.state is MemberState.STABLE and not each.must_rejoin for each in running)
    return TimedResult(
        scenario=scenario.name,
        seed=scenario.seed,
        rounds=run.generations,
        round_ms_median=median(times) if times else 0.0,
        round_ms_max=max(times, default=0.0),
        unavailable_partition_ms=run.ledger.unavailable / MILLISECOND,
        longest_gap_ms=run.ledger.longest_gap / MILLISECOND,
        gaps=run.ledger.gaps,
        moves=run.ledger.moves,
        double_partition_ms=run.ledger.double / MILLISECOND,
        requests=dict(sorted(run.requests.items())),
        events=run.queue.count,
        unowned=unowned,
        is_settled=is_quiet and not unowned,
        stopped_by=None if end is None else f"event_limit: {scenario.event_limit}",
    )
