"""What each event of a scenario cost under an assignor: one row of figures an event.

Costs are summed over the rounds of an event, balance is that of the last round. `moves_min` and
`optimum` are the least that was possible.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby
from operator import attrgetter
from typing import Annotated, TypeAlias

from assignors.assignor import Assignor
from assignors.checks import Rule, Violation, summary, validity
from assignors.metrics import loads, moved_count
from assignors.model import Assignment
from assignors.optimal.bounds import optimum
from assignors.optimal.small.best import small_optimum
from assignors.problem import lawful_owners, owners, problem_of
from assignors.simulation.rounds.consumption import Least, proven_least
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
    unassigned: int
    """Partitions of subscribed topics that no member consumes at the end: then loads are not final,
    and `load_square_sum` may be below `optimum`."""
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
    first_violation: str | None
    """The first of them in words: rule, partition, members."""
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
    return tuple(event.outcome for event in play_events(scenario, assignor))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedEvent:
    """An outcome, and who consumes what before and after it."""

    outcome: Outcome
    before: Assignment
    """By member id, before the event: those who leave in it have their entry."""
    after: Assignment
    """By member id, once the group has settled."""


def play_events(scenario: Scenario, assignor: Assignor) -> Iterator[PlayedEvent]:
    """Yield what `play` returns, with who consumes what before and after each event.

    Raises what `play` does. Cost: that of `play`, plus O(partitions) for each event.
    """
    previous: Round | None = None
    started = time.process_time()
    for _, played in groupby(rounds(scenario, assignor), key=attrgetter("event_number")):
        outcome: Outcome | None = None
        before = None if previous is None else previous.after
        for _, phase in groupby(played, key=attrgetter("phase")):
            steps = list(phase)
            before = steps[0].before if before is None else before
            now = _figures(scenario.seed, assignor, steps, previous)
            previous = steps[-1]
            outcome = now if outcome is None else _added(outcome, now)
        assert outcome is not None, "every event takes a round"
        assert before is not None, "as above"
        assert previous is not None, "as above"
        ended = time.process_time()
        counted = replace(outcome, cpu_ms=(ended - started) * 1000)
        yield PlayedEvent(outcome=counted, before=before, after=previous.after)
        started = ended


def _figures(
    seed: int, assignor: Assignor, steps: Sequence[Round], previous: Round | None
) -> Outcome:
    """Return the figures of one settlement; `previous` is the last round before it."""
    last = steps[-1]
    moved, load, best = _moves_and_loads(steps, previous)
    broken = [*chain.from_iterable(map(_started_twice, steps)), *_broken(last)]
    return Outcome(
        seed=seed,
        event=last.event_number,
        kind=last.event.kind.value,
        assignor=assignor.full_name,
        rounds=len(steps),
        moved=moved,
        moves_min=best.moves_min,
        withheld_rounds=sum(bool(step.rebalance.withheld) for step in steps),
        unassigned_partition_rounds=sum(step.counts.unassigned for step in steps),
        withheld_left=sum(map(len, last.rebalance.withheld.values())),
        unassigned=last.counts.unassigned,
        load_min=min(load, default=0),
        load_max=max(load, default=0),
        load_square_sum=sum([count * count for count in load]),
        optimum=best.load_square_sum,
        violations=len(broken),
        first_violation=summary(broken),
        is_settled=last.is_settled,
    )


def _moves_and_loads(
    steps: Sequence[Round], previous: Round | None
) -> tuple[int, list[int], Least]:
    """Return how many partitions moved, the loads at the end, and the least that was possible.

    What the event took from a member does not count as consumed before: it is gone, or the member
    no longer subscribes to it. So where a settlement is sound, and the one before it was, what was
    consumed before the event is what is consumed in the first round.
    """
    group, counts = steps[-1].group, steps[-1].counts
    is_sound = counts.is_sound and (previous is None or previous.counts.is_sound)
    if is_sound:
        proven = proven_least(counts)
        if proven is None and (found := small_optimum(group, steps[0].before)) is not None:
            proven = Least(load_square_sum=found[0], moves_min=found[1])
        if proven is not None:
            return counts.moved, list(counts.after.values()), proven
    problem = problem_of(group)
    consumed = steps[0].before if is_sound or previous is None else previous.after
    before, after = lawful_owners(problem, consumed), owners(problem, steps[-1].after)
    best = optimum(problem.first, problem.takes, problem.class_of, before)
    least = Least(load_square_sum=best.load_square_sum, moves_min=best.moves_min)
    return moved_count(before, after), loads(problem, after).tolist(), least


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
        first_violation=first.first_violation or second.first_violation,
        is_settled=first.is_settled and second.is_settled,
    )


def _started_twice(step: Round) -> Iterator[Violation]:
    for topic, number in step.started_twice:
        held = (
            member_id
            for shares in (step.after, step.before)
            for member_id, owned in shares.items()
            if number in owned.get(topic, ())
        )
        members = tuple(dict.fromkeys(held))
        yield Violation(rule=Rule.GIVEN_TOO_EARLY, topic=topic, partition=number, members=members)


def _broken(step: Round) -> Sequence[Violation]:
    """Return the rules of validity that the last assignment breaks.

    A quick check comes first: what is given to members is sound and all there is,
    nothing is withheld, and nobody else is given anything. Only an assignment that fails it is
    checked rule by rule.
    """
    answer = step.rebalance
    is_valid = (
        step.counts.is_sound
        and step.counts.unassigned == 0
        and not answer.withheld
        and answer.assignment.keys() == step.after.keys()
    )
    return () if is_valid else validity(step.group, answer.assignment, answer.withheld)
