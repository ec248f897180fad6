"""What must have come about once nothing happens to a group any more.

Each monitor yields what is wrong with a group that had the time to settle: twice the longest
session and rebalance timeout, without actions and faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from assignors.assignor import UserData
from assignors.checks.distance import distance
from assignors.jvm.failure import JavaFailure
from assignors.leader import REPAIR
from assignors.model import Assignment, Cluster, Group, Member
from assignors.own_assignors.answers import AssignorError
from assignors.registry import assignor_named
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.rules import named
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.sides import Sides

ROUNDS_MAX = 10
"""A group at which nothing happens settles within so many generations, and one more for each member
that crashed before and whose session ends only then."""


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


class Ending(NamedTuple):
    """A group that had the time to settle."""

    scenario: Scenario
    sides: Sides
    ledger: Ledger
    rounds: int
    """So many generations there were meanwhile."""
    unanswered: AbstractSet[int]
    """The numbers of requests that waited all that time."""


def member_not_at_rest(end: Ending) -> Iterator[str]:
    """Yield which members have no assignment. Cost: O(members)."""
    for name in _restless(end.sides):
        yield f"{name} has not got its assignment"


def partition_with_two_owners(end: Ending) -> Iterator[str]:
    """Yield what two members consume."""
    if end.ledger.doubled:
        yield f"{named(sorted(end.ledger.doubled))} still has two consumers in the end"


def partition_without_owner(end: Ending) -> Iterator[str]:
    """Yield what nobody consumes. Cost: O(partitions)."""
    unowned = _unowned(end.sides, end.ledger)
    if unowned:
        yield f"nobody consumes {named(unowned)}"


def too_many_rounds(end: Ending) -> Iterator[str]:
    """Yield that a group at which nothing happens went on rebalancing."""
    if end.rounds > ROUNDS_MAX + sum(not each.is_up for each in end.sides.members):
        yield f"{end.rounds} generations, and nothing had happened"


def request_unanswered(end: Ending) -> Iterator[str]:
    """Yield how many requests nobody answers."""
    if end.unanswered and end.scenario.protocol is not GroupProtocol.PUSH:
        yield f"{len(end.unanswered)} requests have no answer"


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


def balance_can_improve(end: Ending) -> Iterator[str]:
    """Yield that the assignor could balance a settled group. Cost: that of the optimal solver."""
    scenario, sides, ledger, *_ = end
    name = _assignor_of(scenario)
    running = {
        member.member_id: (config, member.topics)
        for config, member in zip(scenario.members, sides.members, strict=True)
        if member.is_up
    }
    if name is None or not running or not is_settled(sides, ledger):
        return
    owned = {each: ledger.consumed.get(who.name, {}) for each, (who, _) in running.items()}
    group = Group(
        cluster=Cluster.of({topic: len(listed) for topic, listed in ledger.partitions.items()}),
        members=tuple(
            Member(
                member_id=each,
                topics=topics,
                owned=owned[each],
                instance_id=who.instance_id,
            )
            for each, (who, topics) in running.items()
        ),
    )
    try:
        best = assignor_named(name).configured(REPAIR).assign(group).assignment
    except (AssignorError, JavaFailure):
        return  # the rounds that it led say so
    now, then = (_gap(group, each) for each in (owned, best))
    if now is not None and then is not None and now > then:
        yield f"{name} would bring the balance gap from {now} to {then}"


def _gap(group: Group, assignment: Assignment) -> int | float | bool | None:
    return distance(group, assignment, UserData.COOPERATIVE)["balance_gap"]


def _assignor_of(scenario: Scenario) -> str | None:
    """Return the assignor of the group, `None` where it is not known which one that is."""
    if scenario.protocol is not GroupProtocol.CLASSIC:
        return scenario.broker.assignor
    names = {name for each in scenario.members for name in each.assignors}
    return names.pop() if len(names) == 1 else None
