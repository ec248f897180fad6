"""What an event cost under an assignor, as one row of figures."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Annotated, TypeAlias

import numpy as np

from assignors.assignor import Assignor
from assignors.checks.validity import validity
from assignors.metrics import loads
from assignors.model import Assignment, Group
from assignors.optimal.bounds import optimum
from assignors.problem import NOBODY, Int32, Problem, owners, problem_of
from assignors.simulation.rounds.scenario import Scenario
from assignors.simulation.rounds.settlement import Round, rounds

Count32: TypeAlias = Annotated[int, "int32"]
"""A number that tables hold in 32 bits; a plain `int` takes 64 there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One event of one scenario under one assignor, played to settlement."""

    seed: int
    event: Count32
    kind: str
    assignor: str
    rounds: Count32
    moved: int
    """Partitions that a present member consumed before the event and another one after it."""
    moves_min: int
    """The fewest that any perfectly balanced assignment moves; a worse balance may move fewer."""
    withheld_rounds: Count32
    """Rounds in which something waited."""
    unassigned_partition_rounds: int
    """Partitions of subscribed topics that nobody got, summed over the rounds."""
    withheld_left: int
    """Partitions that still wait when the event has settled: reported, not hidden."""
    load_min: int
    load_max: int
    load_square_sum: int
    optimum: int
    """The smallest sum of squared loads there is."""
    violations: int
    """Partitions started twice, and laws broken by the settled assignment."""
    is_settled: bool
    cpu_ms: float = 0.0
    """CPU time of this process; the only field that differs from run to run."""


def play(scenario: Scenario, assignor: Assignor) -> tuple[Outcome, ...]:
    """Return an outcome for the start and for every event of the scenario.

    Raises `ValueError` for a scenario whose events cannot happen. Cost: that of the rounds,
    plus a solve and O(P) for each event.

    >>> from assignors import assignor_named
    >>> from assignors.simulation.rounds.generate import Parameters, generate
    >>> scenario = generate(1, Parameters(members=3, topics=1, partitions=7, events=0))
    >>> [(row.kind, row.rounds, row.load_max) for row in play(scenario, assignor_named("range"))]
    [('start', 1, 3)]
    """
    return tuple(_outcomes(scenario, assignor))


def _outcomes(scenario: Scenario, assignor: Assignor) -> Iterator[Outcome]:
    consumed: Assignment = {}
    started = time.process_time()
    for _, played in groupby(rounds(scenario, assignor), key=lambda one: one.event_number):
        outcome: Outcome | None = None
        for _, phase in groupby(played, key=lambda one: one.phase):
            steps = list(phase)
            now = _settled(scenario.seed, assignor, steps, consumed)
            consumed = steps[-1].after
            outcome = now if outcome is None else _together(outcome, now)
        assert outcome is not None, "every event takes a round"
        ended = time.process_time()
        yield replace(outcome, cpu_ms=(ended - started) * 1000)
        started = ended


def _settled(
    seed: int, assignor: Assignor, steps: Sequence[Round], consumed: Assignment
) -> Outcome:
    """Return the figures of one settlement; `consumed` is who consumed what before it."""
    last = steps[-1]
    problem = problem_of(last.group)
    before = _still_allowed(problem, owners(problem, consumed))
    after = owners(problem, last.after)
    held = loads(problem, after)
    best = optimum(problem.first, problem.takes, problem.class_of, before)
    return Outcome(
        seed=seed,
        event=last.event_number,
        kind=last.event.kind.value,
        assignor=assignor.full_name,
        rounds=len(steps),
        moved=int(np.count_nonzero((before != NOBODY) & (after != before))),
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


def _together(first: Outcome, second: Outcome) -> Outcome:
    """Return one row for an event in two halves: costs add up, the end is the second half's."""
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
    """Return the owners that may keep what they consumed, nobody elsewhere."""
    held = np.flatnonzero(owner != NOBODY)
    gone = held[~problem.may_take(owner[held], held)]
    owner[gone] = NOBODY
    return owner


def _unassigned_count(step: Round) -> int:
    """Return how many partitions of subscribed topics nobody consumes after the round."""
    given = sum(len(numbers) for owned in step.after.values() for numbers in owned.values())
    return _partition_count(step.group) - given


def _partition_count(group: Group) -> int:
    known = group.cluster.topics
    lists = dict.fromkeys(member.topics for member in group.members)
    asked = {topic for topics in lists for topic in topics if topic in known}
    return sum(known[topic].partition_count for topic in asked)


def _broken_count(problem: Problem, step: Round, after: Int32) -> int:
    """Return how many laws the settled assignment breaks.

    Arrays tell at once that an assignment is sound: as many partitions given as there are
    holders (so none twice, none that does not exist), all to subscribers, and with those
    that wait they are all there are. Only otherwise the laws are asked one by one.
    """
    answer = step.rebalance
    given = sum(len(numbers) for owned in answer.assignment.values() for numbers in owned.values())
    held = np.flatnonzero(after != NOBODY)
    is_sound = (
        not answer.withheld
        and given == len(held) == problem.partition_count
        and answer.assignment.keys() == {member.member_id for member in step.group.members}
        and bool(problem.may_take(after[held], held).all())
    )
    return 0 if is_sound else len(validity(step.group, answer.assignment, answer.withheld))
