"""What must have come about once nothing happens to a group any more.

Each function yields (monitor, what is wrong) of a group that had the time to settle: twice the
longest session and rebalance timeout, without actions and faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from assignors.assignor import UserData
from assignors.checks.distance import distance
from assignors.jvm.failure import JavaFailure
from assignors.leader import REPAIR
from assignors.model import Assignment, Cluster, Group, Member
from assignors.own_assignors.answers import AssignorError
from assignors.registry import assignor_named
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.rules import MONITORS, named
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.sides import Sides

ROUNDS_MAX = 10
"""A group at which nothing happens settles within so many generations, and one more for each member
that crashed before and whose session ends only then."""
Found = Iterator[tuple[str, str]]


def quiet_us(scenario: Scenario) -> int:
    """Return how long a group may take to settle, in microseconds."""
    broker = scenario.broker
    sessions = [broker.consumer_session_timeout_ms]
    sessions += [each.session_timeout_ms for each in scenario.members]
    rebalance = max(each.rebalance_timeout_ms for each in scenario.members)
    return 2 * (max(sessions) + rebalance) * MILLISECOND


def without_what_follows(scenario: Scenario) -> Scenario:
    """Return a scenario without what its end cuts off, and as long as its faults last."""
    over = scenario.until_ms
    faults = tuple(each for each in scenario.faults if each.from_ms <= over)
    return replace(
        scenario,
        until_ms=max([over, *(each.until_ms for each in faults)]),
        faults=faults,
        plan=tuple(each for each in scenario.plan if each.at_ms <= over),
        members=tuple(
            replace(each, starts_at_ms=None)
            if each.starts_at_ms is not None and each.starts_at_ms > over
            else each
            for each in scenario.members
        ),
    )


def is_settled(sides: Sides, ledger: Ledger) -> bool:
    """Return whether everybody is at rest and every partition has one consumer.

    Cost: O(members + partitions).
    """
    return not any(_restless(sides)) and not _unowned(sides, ledger) and not ledger.doubled


def end_found(
    scenario: Scenario, sides: Sides, ledger: Ledger, *, rounds: int, unanswered: AbstractSet[int]
) -> Found:
    """Yield what has not come about.

    `rounds` is how many generations there were meanwhile, `unanswered` the numbers of requests that
    waited all that time. Cost: that of the assignor and the optimal solver.
    """
    for name in _restless(sides):
        yield "member-not-at-rest", f"{name} has not got its assignment"
    if ledger.doubled:
        still = named(sorted(ledger.doubled))
        yield "double-consumption", f"{still} still has two consumers in the end"
    unowned = _unowned(sides, ledger)
    if unowned:
        yield "partition-without-owner", f"nobody consumes {named(unowned)}"
    if rounds > ROUNDS_MAX + sum(not each.is_up for each in sides.members):
        yield "too-many-rounds", f"{rounds} generations, and nothing had happened"
    if unanswered and scenario.protocol in MONITORS["request-unanswered"].protocols:
        yield "request-unanswered", f"{len(unanswered)} requests have no answer"
    if is_settled(sides, ledger):
        yield from _balance_found(scenario, sides, ledger)


def _restless(sides: Sides) -> Iterator[str]:
    for member in sides.members:
        if member.is_up and not member.is_at_rest:
            yield member.member_id or "a member without an id"


def _unowned(sides: Sides, ledger: Ledger) -> list[tuple[str, int]]:
    wanted = {topic for member in sides.members if member.is_up for topic in member.topics}
    return [
        (topic, number)
        for topic in sorted(wanted & ledger.partitions.keys())
        for number, partition in enumerate(ledger.partitions[topic])
        if not partition.consumers
    ]


def _balance_found(scenario: Scenario, sides: Sides, ledger: Ledger) -> Found:
    name = _assignor_of(scenario)
    running = [
        (config.name, member)
        for config, member in zip(scenario.members, sides.members, strict=True)
        if member.is_up
    ]
    if name is None or not running:
        return
    group = Group(
        cluster=Cluster.of({topic: len(listed) for topic, listed in ledger.partitions.items()}),
        members=tuple(
            Member(member_id=each, topics=member.topics, owned=ledger.consumed.get(each, {}))
            for each, member in running
        ),
    )
    owned = {each: ledger.consumed.get(each, {}) for each, _ in running}
    try:
        best = assignor_named(name).configured(REPAIR).assign(group).assignment
    except (AssignorError, JavaFailure):
        return  # the rounds that it led say so
    now, then = (_gap(group, each) for each in (owned, best))
    if now is not None and then is not None and now > then:
        yield "balance-can-improve", f"{name} would bring the balance gap from {now} to {then}"


def _gap(group: Group, assignment: Assignment) -> int | float | bool | None:
    return distance(group, assignment, UserData.COOPERATIVE)["balance_gap"]


def _assignor_of(scenario: Scenario) -> str | None:
    """Return the assignor of the group, `None` where it is not known which one that is."""
    if scenario.protocol is not GroupProtocol.CLASSIC:
        return scenario.broker.assignor
    names = {name for each in scenario.members for name in each.assignors}
    return names.pop() if len(names) == 1 else None
