"""Predicts what was recorded: classic verbs one by one, those of KIP-848 in one run.

The phase at which a verb meets a classic group is the time since its last generation: all members
start their heartbeats anew with it. So every repetition has a run of its own, in which the verb
comes as long after the last generation as it really did, and nothing that happened to the machine
before matters. Under KIP-848, and in groups of librdkafka, every member has its own phase,
which comes from all that happened before: there the whole plan is one run, from the moment at which
the group was founded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from assignors.simulation.timed.scenario import GroupProtocol, Verb
from assignors.simulation.timed.simulation import Played, simulate
from tests.lab.calibrate.compare import Trial
from tests.lab.calibrate.figures import Figures, figures_of
from tests.lab.calibrate.plan import KINDS, MILLI, Kind, Plan
from tests.lab.calibrate.real import Recording
from tests.lab.calibrate.simulated import Constants, Course, generations, play, scenario_of

SEEDS_MAX = 100
"""No group is predicted more often: each seed of a plan has so many of its own."""
FOUNDING_MS = 1000
"""How long the first round waits for more members, and as long again once they have come."""
REPETITIONS_MAX = 1000
"""No plan has more: each repetition of each run has a seed of its own."""


def trials_of(
    recordings: Iterable[Recording], constants: Constants, *, seeds: range
) -> list[Trial]:
    """Return each recorded group beside what is predicted of it, with random numbers of its own.

    They are the same whatever else was recorded.
    """
    return [
        Trial(
            plan=each.plan,
            real=each.figures,
            simulated=predict(
                each, constants, seeds=[SEEDS_MAX * each.plan.seed + n for n in seeds]
            ),
        )
        for each in recordings
    ]


def predict(
    recording: Recording, constants: Constants, *, seeds: Sequence[int]
) -> list[list[Figures]]:
    """Return the figures of each verb of the recorded plan, for each seed."""
    plan = recording.plan
    if not predicts_one_by_one(KINDS[plan.cell.kind]):
        return play(plan, constants, seeds=seeds, course=recording.course)
    return [
        [
            each
            for repetition in range(len(plan.verbs) // 2)
            for each in _repetition(recording, constants, repetition, seed)
        ]
        for seed in seeds
    ]


def predicts_one_by_one(kind: Kind) -> bool:
    """Return whether the time since the last generation says all about the phases of a group."""
    return kind.protocol is GroupProtocol.CLASSIC and kind.client != "librdkafka"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Moment:
    """A verb of a repetition: its member, how long it waits, how long it is looked at."""

    member: str
    phase_ms: int
    """Since the last generation began."""
    lasts_ms: int


def _repetition(
    recording: Recording, constants: Constants, repetition: int, run: int
) -> tuple[Figures, Figures]:
    """Return the figures of one join and of the leave after it.

    Each repetition of each run has random numbers of its own: so its figures spread as real ones.
    """
    plan = recording.plan
    seed = REPETITIONS_MAX * run + repetition
    founded_at = _rest(_run(plan, constants, seed, [], until=4 * FOUNDING_MS))
    join, leave = (_moment(recording, 2 * repetition + n) for n in (0, 1))
    joins_at = founded_at + join.phase_ms
    joining = [(joins_at, Verb.START, join.member)]
    joined = _run(plan, constants, seed, joining, until=joins_at + join.lasts_ms)
    leaves_at = max(_rest(joined) + leave.phase_ms, joins_at + 1)
    both = [*joining, (leaves_at, Verb.STOP, leave.member)]
    left = _run(plan, constants, seed, both, until=leaves_at + leave.lasts_ms)
    (joining_figures,) = _figures(joined, plan, joins_at, join)
    (leaving_figures,) = _figures(left, plan, leaves_at, leave)
    return joining_figures, leaving_figures


def _moment(recording: Recording, place: int) -> _Moment:
    start, end = recording.windows[place]
    begun = recording.generations
    before = bisect_left(begun, start)
    last = begun[before - 1] if before else start
    return _Moment(
        member=recording.plan.verbs[place].member or "",
        phase_ms=(start - last) // MILLI,
        lasts_ms=(end - start) // MILLI,
    )


def _run(
    plan: Plan,
    constants: Constants,
    seed: int,
    verbs: Sequence[tuple[int, Verb, str]],
    *,
    until: int,
) -> Played:
    """Play a group that all but the newcomer found together, and some verbs after that."""
    done = {(Verb.START, name): 0 for _, name in plan.starts}
    done |= {(verb, name): at * MILLI for at, verb, name in verbs}
    names = {name for _, name in done}
    scenario = scenario_of(plan, constants, seed=seed, course=Course(done=done, joined={}))
    broker = replace(scenario.broker, initial_delay_ms=FOUNDING_MS)
    members = tuple(each for each in scenario.members if each.name in names)
    return simulate(
        replace(scenario, broker=broker, members=members, until_ms=until), keeps_history=True
    )


def _rest(played: Played) -> int:
    """Return when the last generation began, in milliseconds."""
    return played.rebalances[-1].ended // MILLI


def _figures(played: Played, plan: Plan, at: int, moment: _Moment) -> list[Figures]:
    window = (at * MILLI, (at + moment.lasts_ms) * MILLI)
    return figures_of(
        played.changes,
        generations(played),
        windows=[window],
        partitions=plan.cell.partitions,
    )
