"""Run a scenario under an assignor, round by round, until the group settles after each event.

What members consume and what they claim are kept apart: `SimulatedMember.consuming` is what a
member really consumes, and the leader sees what its client would write. So a round that starts a
partition on one member while another one still consumes it is found, whatever anybody claimed.

Time is counted in rounds. Under an eager protocol every member stops consuming before the round,
so one round settles an event. Under the cooperative protocol a round gives out what is safe;
members that lose something revoke it and rejoin, and the leader starts another round where nobody
else would (`Rebalance.follow_up`), once per unchanged set of claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assignors.assignor import Assignor
from assignors.group_bytes.assignments import Assigned
from assignors.leader import REPAIR, lead_members
from assignors.model import Assignment, Group
from assignors.own_assignors.answers import require_assignor
from assignors.ownership.changes import TopicPartition
from assignors.rebalance import Rebalance
from assignors.simulation.rounds.consumption import Counts, asked_of, change, consumed
from assignors.simulation.rounds.scenario import GroupEvent, GroupEventKind, Scenario
from assignors.simulation.rounds.simulated_group import SimulatedGroup, changes

ROUND_LIMIT = 12
"""Rounds after which an event counts as one that does not settle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round: what the leader saw, what it answered, and what members really consumed."""

    event_number: int
    """0 is the start; events are counted from 1."""
    phase: int
    """0; 1 after the second change of an event that has two (`return`)."""
    event: GroupEvent
    group: Group
    """What the leader saw."""
    rebalance: Rebalance
    """What it answered."""
    before: Assignment
    """What each member really consumed when the answer reached it, by member id."""
    after: Assignment
    """What each member consumed once it had applied the answer."""
    started_twice: tuple[TopicPartition, ...]
    """Those started on a member while another one consumed them, sorted."""
    is_last: bool
    """No further round follows: the event has settled, or was given up."""
    is_settled: bool
    """Nobody has a reason to start another round."""
    counts: Counts
    """The settlement up to here in numbers."""


def rounds(scenario: Scenario, assignor: Assignor) -> Iterator[Round]:
    """Yield every round of the scenario, in order.

    Raises `ValueError` for a scenario whose events cannot happen, such as a member leaving that is
    not there, and for the name of an assignor in place of one. Where an assignor copied from Java
    would raise, the simulated leader uses a repaired answer with a note. Cost: that of the
    assignor, per round, plus O(members + moves).
    """
    require_assignor(assignor)
    group = SimulatedGroup(
        assignor=assignor.configured(REPAIR),
        partition_counts=dict(scenario.topics),
        generation=scenario.generation,
    )
    for spec in scenario.members:
        group.add(spec)
    yield from _settle(group, 0, 0, GroupEvent(kind=GroupEventKind.START))
    for number, event in enumerate(scenario.events, start=1):
        for phase, change_group in enumerate(changes(group, event)):
            change_group()
            yield from _settle(group, number, phase, event)


def _settle(group: SimulatedGroup, number: int, phase: int, event: GroupEvent) -> Iterator[Round]:
    """Yield rounds until nobody has a reason to start another, at most `ROUND_LIMIT`."""
    seen = group.for_leader()
    asked, first = asked_of(seen), consumed(seen, group.consumed())
    now, is_sound = first, first.is_sound
    for count in range(1, ROUND_LIMIT + 1):
        if count > 1:
            seen = group.for_leader()
        before = group.consumed()
        answer, group.memory, must_follow_up = lead_members(
            group.assignor, seen, memory=group.memory
        )
        group.generation += 1
        given = _shares(answer.assignment)
        after = {member_id: given.get(member_id, {}) for member_id in before}
        last, now = now, consumed(seen, after)
        has_revoked, started_twice = (
            change(last, now) if group.assignor.is_cooperative else (False, ())
        )
        is_sound = is_sound and now.is_sound
        for member in group.members.values():
            member.receive(after[member.member_id], group.generation)
        again = has_revoked or must_follow_up
        yield Round(
            event_number=number,
            phase=phase,
            event=event,
            group=seen,
            rebalance=answer,
            before=before,
            after=after,
            started_twice=started_twice,
            is_last=not again or count == ROUND_LIMIT,
            is_settled=not again,
            counts=Counts(asked=asked, first=first, last=now, is_sound=is_sound),
        )
        if not again:
            break


def _shares(assignment: Assignment) -> Assignment:
    """Return what each member is given, in a small group by number until somebody asks for names.

    As a dictionary: members of some assignors' answers are looked up for long.
    """
    if isinstance(assignment, Assigned):
        return assignment.shares()
    return dict(assignment.items())
