"""Plays plans in the timed simulator, with the constants of a kind of member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assignors.simulation.timed.random_streams import stream
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
from tests.foreign.calibrate.figures import Figures, figures_of
from tests.foreign.calibrate.plan import KINDS, MILLI, TOPIC, Done, Plan, windows

LIBRDKAFKA_LOOKS_MS = 500
"""librdkafka's timer for `max.poll.interval.ms`, by which its main thread wakes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """What a scenario has to know of a client, its broker and their machine."""

    startup_ms: int = 30
    """From a consumer's constructor to its first request at the coordinator."""
    poll_ms: int = 0
    """From the answer to a heartbeat to what the member does about it: up to so long."""
    late_ms: int = 0
    """Mean time by which a heartbeat is late, which a member's next one then is too."""
    callback_ms: int = 0
    sync_delay_us: int = 0
    """Mean time from the answer to JoinGroup to a follower's SyncGroup."""
    network_us: int = 500
    """Mean time of a message."""
    service_us: int = 100
    """The coordinator's time for a request."""
    append_us: int = 1000
    """From a record's write to its replication, linger included."""
    compute_us_per_partition: int = 20
    """The leader's assignor."""


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
    # A client that looks from time to time is late by that alone.
    late_ms = 0 if looks and kind.protocol is GroupProtocol.CLASSIC else constants.late_ms
    late = {name: stream(seed, name, "late").below(2 * late_ms + 1) for name in plan.members}
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
                heartbeat_interval_ms=cell.heartbeat_ms + late[name],
                heartbeats_go_on=looks,
                wake_ms=LIBRDKAFKA_LOOKS_MS * looks,
                poll_ms=constants.poll_ms,
                revoke_ms=constants.callback_ms,
                assign_ms=constants.callback_ms,
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
            consumer_heartbeat_interval_ms=cell.heartbeat_ms + constants.late_ms,
        ),
        network=NetworkConfig(mean_us=constants.network_us),
        compute_us_per_partition=constants.compute_us_per_partition,
    )


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
