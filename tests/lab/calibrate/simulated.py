"""Plays plans in the timed simulator, with the constants of a kind of member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assignors.simulation.timed.dialects import timing
from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate
from tests.lab.calibrate.figures import Figures, figures_of
from tests.lab.calibrate.plan import KINDS, MILLI, TOPIC, Done, Kind, Plan, windows

POLLS_MS = (150, 100)
"""Members poll for 150 ms, or by chance up to 100 ms less: `programs`."""
DIALECTS = {"kafka-python": "kafka-python-3.0.12"}
"""Client -> whose bytes its members write. kafka-python's say nothing of a generation: a JoinGroup
that repeats the last one changes nothing. The others never repeat one, and write as this package
does."""
COMPUTE_US = {"range": 5, "cooperative-sticky": 15, "": 0}
"""Assignor -> a leader's time for a partition: so much later than those of the others its SyncGroup
left on the wire, in groups of ten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """What a scenario has to know of a client, its broker and their machine."""

    startup_ms: int = 30
    """From a consumer's constructor to its first request at the coordinator."""
    handling_us: int = 0
    """How long the process takes for an answer to one of its members; it handles all of them."""
    between_polls_us: int = 0
    """From one poll to the next one, with a client that ends a round in a poll alone."""
    late_ms: int = 0
    """Mean time by which a heartbeat is late, which a member's next one then is too."""
    wake_late_us: int = 0
    """Mean time by which a client that looks from time to time does so later, each time."""
    sync_delay_us: int = 0
    """Mean time from the answer to JoinGroup to a follower's SyncGroup."""
    network_us: int = 200
    """Mean time of a message: on the wire half a heartbeat's way there and back, measured."""
    service_us: int = 100
    """The coordinator's time for a request."""
    append_us: int = 1000
    """From a record's write to its replication, linger included."""
    compute_us_per_partition: int = 5
    """The leader's assignor, and what else it does before its SyncGroup: see `COMPUTE_US`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """When what was really done, in microseconds since the run began."""

    done: Done
    joined: Mapping[str, int]
    """Member that is there all the time -> when its first request arrived: processes are cold."""


def scenario_of(
    plan: Plan, constants: Constants, *, seed: int, course: Course | None = None
) -> Scenario:
    """Return a plan as a scenario; with a course, verbs happen when they really were done."""
    kind, cell = KINDS[plan.cell.kind], plan.cell
    times = planned(plan) if course is None else course.done
    joined = {} if course is None else course.joined
    actions = [
        Action(at_ms=_at_ms(verb, name, at, joined, constants), do=verb, member=name)
        for (verb, name), at in times.items()
    ]
    looks = kind.client == "librdkafka"
    longest, spread = POLLS_MS if waits_for_polls(kind) else (0, 0)
    late_ms = constants.late_ms if is_late_by_itself(kind) else 0
    return Scenario(
        name=cell.name,
        seed=seed,
        until_ms=max(each.at_ms for each in actions) + plan.until - plan.verbs[-1].at_ms,
        protocol=kind.protocol,
        topics={TOPIC: cell.partitions},
        members=tuple(
            MemberConfig(
                name=name,
                topics=(TOPIC,),
                assignors=(f"java/{kind.assignor or 'range'}",),
                client=DIALECTS.get(kind.client),
                heartbeat_interval_ms=cell.heartbeat_ms,
                timing=Timing(
                    heartbeat_late_us=late_ms * MILLI,
                    heartbeats_go_on=looks,
                    wake_ms=timing.LIBRDKAFKA.wake_ms * looks,
                    wake_late_us=constants.wake_late_us * looks,
                    between_polls_us=constants.between_polls_us,
                ),
                poll_ms=longest,
                poll_spread_ms=spread,
                revoke_ms=0,
                assign_ms=0,
                sync_delay_us=constants.sync_delay_us,
                starts_at_ms=None,
            )
            for name in plan.members
        ),
        plan=tuple(sorted(actions, key=lambda action: action.at_ms)),
        broker=BrokerConfig(
            initial_delay_ms=0,
            service_us=constants.service_us,
            append_us=constants.append_us,
            consumer_heartbeat_interval_ms=cell.heartbeat_ms,
        ),
        network=NetworkConfig(mean_us=constants.network_us, handling_us=constants.handling_us),
        compute_us_per_partition=constants.compute_us_per_partition,
    )


def waits_for_polls(kind: Kind) -> bool:
    """Return whether members do what an answer asks for at their next poll.

    librdkafka's application is woken for a callback, and Java's classic client returns from its
    wait for records as soon as anything has come.
    """
    is_consumer = kind.protocol is GroupProtocol.CONSUMER
    return kind.client == "kafka-python" or (kind.client == "java" and is_consumer)


def is_late_by_itself(kind: Kind) -> bool:
    """Return whether heartbeats are late by chance: a client that looks from time to time is so."""
    return kind.client != "librdkafka" or kind.protocol is not GroupProtocol.CLASSIC


def _at_ms(verb: Verb, name: str, at: int, joined: Mapping[str, int], constants: Constants) -> int:
    """Return when a scenario has to do what was done at `at`: a start waits for its client."""
    if verb is Verb.START:
        return joined.get(name, at) // MILLI + constants.startup_ms * (name not in joined)
    return at // MILLI


def play(
    plan: Plan, constants: Constants, *, seeds: Sequence[int], course: Course | None = None
) -> list[list[Figures]]:
    """Return the figures of each verb of a plan, for each seed. Cost: that of the runs."""
    times = windows(plan, planned(plan) if course is None else course.done)
    return [
        figures_of(
            played.changes,
            generations(played),
            windows=times,
            partitions=plan.cell.partitions,
        )
        for seed in seeds
        for played in [
            simulate(scenario_of(plan, constants, seed=seed, course=course), keeps_history=True)
        ]
    ]


def planned(plan: Plan) -> Done:
    """Return when each verb happens if everybody does it at once."""
    return {(verb, member): at * MILLI for at, verb, member in plan.steps}


def generations(played: Played) -> list[int]:
    """Return when each generation began; those of one rebalance began with it."""
    found: list[int] = []
    before = 0
    for rebalance in played.rebalances:
        found += [rebalance.ended] * (rebalance.generation - before)
        before = rebalance.generation
    return found
