"""What each event of a scenario cost under an assignor: one row of figures an event.

Costs are summed over the rounds of an event, balance is that of the last round. Beside what an
assignor did stands the least that was possible: `moves_min`, `optimum`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from typing import Annotated, TypeAlias

import numpy as np

from assignors.assignor import Assignor
from assignors.checks.validity import validity
from assignors.metrics import loads, moved_count
from assignors.model import Group
from assignors.problem import NOBODY, Int32, Problem, owners, problem_of
from assignors.simulation.rounds.least import least
from assignors.simulation.rounds.scenario import Scenario
from assignors.simulation.rounds.settlement import Round, rounds

Count32: TypeAlias = Annotated[int, "int32"]
"""A number that tables hold in 32 bits; a plain `int` takes 64 there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One event of one scenario under one assignor, from the event until the group settled."""

    seed: int
    """Of the scenario."""
    event: Count32
    """0 is the start; events are counted from 1."""
    kind: str
    """A `GroupEventKind`."""
    assignor: str
    """Its full name (`optimal/sticky`)."""
    rounds: Count32
    """Rebalance rounds until the group settled."""
    moved: int
    """Partitions that a present member consumed before the event and another one after it."""
    moves_min: int
    """The fewest that an assignment with the best balance moves; a worse balance may move fewer."""
    withheld_rounds: Count32
    """Rounds in which the leader withheld at least one partition."""
    unassigned_partition_rounds: int
    """Partitions of subscribed topics that no member consumed after a round, summed over rounds."""
    withheld_left: int
    """Partitions still withheld when the event has settled."""
    load_min: int
    """Partitions of the member that consumes the fewest, at the end; 0 without members."""
    load_max: int
    """Partitions of the member that consumes the most, at the end; 0 without members."""
    load_square_sum: int
    """Sum of squared partition counts of all members, at the end: smaller is better balanced."""
    optimum: int
    """The smallest possible sum of squared partition counts."""
    violations: int
    """Partitions started on a member while another one consumed them, summed over rounds, and
    rules of `checks.validity` broken by the last assignment."""
    is_settled: bool
    """False when the event was given up after `ROUND_LIMIT` rounds."""
    cpu_ms: float = 0.0
    """CPU time of this process, in milliseconds; the only field that differs from run to run."""


def play(scenario: Scenario, assignor: Assignor) -> tuple[Outcome, ...]:
    """Return an outcome for the start and for every event of the scenario, in order.

    Raises `ValueError` for a scenario whose events cannot happen, and whatever the assignor
    raises. Cost: that of the rounds, plus one computation of the optimum and O(partitions) for
    each event.

    >>> from assignors import assignor_named
    >>> from assignors.simulation.rounds.random_scenarios import Parameters, generate
    >>> scenario = generate(1, Parameters(members=3, topics=1, partitions=7, events=0))
    >>> [(row.kind, row.rounds, row.load_max) for row in play(scenario, assignor_named("range"))]
    [('start', 1, 3)]
    """
    return tuple(_outcomes(scenario, assignor))


def _outcomes(scenario: Scenario, assignor: Assignor) -> Iterator[Outcome]:
    previous: Round | None = None
    started = time.process_time()
    for _, played in groupby(rounds(scenario, assignor), key=attrgetter("event_number")):
        outcome: Outcome | None = None
        for _, phase in groupby(played, key=attrgetter("phase")):
            steps = list(phase)
            now = _figures(scenario.seed, assignor, steps, previous)
            previous = steps[-1]
            outcome = now if outcome is None else _added(outcome, now)
        assert outcome is not None, "every event takes a round"
        ended = time.process_time()
        yield replace(outcome, cpu_ms=(ended - started) * 1000)
        started = ended


def _figures(
    seed: int, assignor: Assignor, steps: Sequence[Round], previous: Round | None
) -> Outcome:
    """Return the figures of one settlement; `previous` is the last round before it."""
    last = steps[-1]
    problem, before, after = _before_and_after(steps, previous)
    held = loads(problem, after)
    best = least(problem, before, after)
    return Outcome(
        seed=seed,
        event=last.event_number,
        kind=last.event.kind.value,
        assignor=assignor.full_name,
        rounds=len(steps),
        moved=moved_count(before, after),
        moves_min=best.moves_min,
        withheld_rounds=sum(bool(step.rebalance.withheld) for step in steps),
        unassigned_partition_rounds=sum(map(_unassigned_count, steps)),
        withheld_left=sum(map(len, last.rebalance.withheld.values())),
        load_min=int(held.min()) if len(held) else 0,
        load_max=int(held.max(initial=0)),
        load_square_sum=int(held @ held),
        optimum=best.load_square_sum,
        violations=sum(len(step.started_twice) for step in steps)
        + _broken_count(problem, last, after),
        is_settled=last.is_settled,
    )


def _before_and_after(
    steps: Sequence[Round], previous: Round | None
) -> tuple[Problem, Int32, Int32]:
    """Return the group at the end of a settlement, and who consumed what before and after it.

    What the event took from a member does not count as consumed before: it is gone, or the member
    no longer subscribes to it. So where nothing was consumed twice before the event, the consumers
    before it are those of the first round.
    """
    first, last = steps[0].consumers, steps[-1].consumers
    is_single = previous is None or previous.consumers is not None
    if is_single and first is not None and last is not None and first.problem is last.problem:
        problem = last.problem
        return problem, _still_allowed(problem, first.before.copy()), last.after
    problem = problem_of(steps[-1].group)
    consumed = {} if previous is None else previous.after
    before = _still_allowed(problem, owners(problem, consumed))
    return problem, before, owners(problem, steps[-1].after)


def _added(first: Outcome, second: Outcome) -> Outcome:
    """Return one row for an event in two phases: costs are added, the end is the second's."""
    return replace(
        second,
        rounds=first.rounds + second.rounds,
        moved=first.moved + second.moved,
        moves_min=first.moves_min + second.moves_min,
        withheld_rounds=first.withheld_rounds + second.withheld_rounds,
        unassigned_partition_rounds=first.unassigned_partition_rounds
        + second.unassigned_partition_rounds,
        violations=first.violations + second.violations,
        is_settled=first.is_settled and second.is_settled,
    )


def _still_allowed(problem: Problem, owner: Int32) -> Int32:
    """Remove owners that may not keep a partition, in place; return the array."""
    held = np.flatnonzero(owner != NOBODY)
    gone = held[~problem.may_take(owner[held], held)]
    owner[gone] = NOBODY
    return owner


def _unassigned_count(step: Round) -> int:
    """Return how many partitions of subscribed topics nobody consumes after the round."""
    if step.consumers is not None:
        return int(np.count_nonzero(step.consumers.after == NOBODY))
    given = sum(len(numbers) for owned in step.after.values() for numbers in owned.values())
    return _partition_count(step.group) - given


def _partition_count(group: Group) -> int:
    known = group.cluster.topics
    lists = dict.fromkeys(member.topics for member in group.members)
    asked = {topic for topics in lists for topic in topics if topic in known}
    return sum(known[topic].partition_count for topic in asked)


def _broken_count(problem: Problem, step: Round, after: Int32) -> int:
    """Return how many rules of validity the last assignment breaks.

    A quick check on arrays comes first: nothing is withheld, nothing is given twice or does not
    exist (`Round.consumers` says so), all of it to subscribers, and it is all there is. Only an
    assignment that fails it is checked rule by rule.
    """
    answer = step.rebalance
    is_sound = (
        step.consumers is not None
        and not answer.withheld
        and bool((after != NOBODY).all())
        and answer.assignment.keys() == {member.member_id for member in step.group.members}
        and bool(problem.may_take(after, np.arange(len(after))).all())
    )
    return 0 if is_sound else len(validity(step.group, answer.assignment, answer.withheld))
