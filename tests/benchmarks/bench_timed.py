"""Timed simulations: events a second, an hour of a huge group, joins at start-up.

    python -m tests.benchmarks.bench_timed [--members N] [--runs N] [--protocols KIP-848,eager]

* events a second: rolling restarts of 20 members x 200 partitions, with every heartbeat queued,
  assignors counted in
* an hour: N members x 10 N partitions (10,000 x 100,000), 10 leave and 10 join; heartbeats that
  change nothing are computed, in a classic group the rounds of members that keep what they have,
  and the start of all, so that few of its requests are events
* start-up: N members join within a minute

CPU seconds, the least of so many runs; memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import replace

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario import (
    Action,
    GroupProtocol,
    MemberConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate

HOUR_MS = 3_600_000
CHANGES = 10
PROTOCOLS: dict[str, tuple[GroupProtocol, str]] = {
    "cooperative": (GroupProtocol.CLASSIC, "optimal/cooperative-sticky"),
    "eager": (GroupProtocol.CLASSIC, "optimal/sticky"),
    "KIP-848": (GroupProtocol.CONSUMER, "optimal/cooperative-sticky"),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--members", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--protocols", default=",".join(PROTOCOLS))
    options = parser.parse_args()
    size, protocols = options.members, options.protocols.split(",")
    print(f"{'what':<44} {'seconds':>8} {'events':>9} {'events/s':>9} {'requests':>10} {'MB':>6}")
    for name in protocols:
        restarts = restarts_of(name)
        line(f"20 x 200, rolling restart, {name}", restarts, options.runs, queues=True)
    for name in protocols:
        line(f"{size} x {10 * size}, an hour, {name}", hour_of(size, 10 * size, name), options.runs)
    for name in protocols:
        line(f"{size} joins, {name}", joins_of(size, 10 * size, name), options.runs)


def line(what: str, scenario: Scenario, runs: int, *, queues: bool = False) -> None:
    """Play a scenario and print one row; `queues` every heartbeat if asked for."""
    seconds = []
    for _ in range(runs):
        start = time.process_time_ns()
        result = simulate(scenario, queues_heartbeats=queues).result
        seconds.append((time.process_time_ns() - start) / 1e9)
        assert result.is_settled, result
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    least, requests = min(seconds), sum(result.requests.values())
    rate = result.events / least
    print(
        f"{what:<44} {least:>8.2f} {result.events:>9} {rate:>9.0f} {requests:>10} {peak:>6.0f}",
        flush=True,
    )


def restarts_of(protocol: str) -> Scenario:
    """Return a rolling restart of 20 members x 200 partitions."""
    group_protocol, assignor = PROTOCOLS[protocol]
    scenario = named("rolling-restart", protocol=group_protocol)
    members = tuple(
        replace(scenario.members[0], name=f"c{number}", assignors=(assignor,))
        for number in range(20)
    )
    return replace(scenario, topics={"orders": 200}, members=members)


def hour_of(members: int, partitions: int, protocol: str) -> Scenario:
    """Return an hour in which 10 members leave and 10 others join, by turns."""
    group_protocol, assignor = PROTOCOLS[protocol]
    step = HOUR_MS // (2 * CHANGES + 1)
    names = [f"c{number}" for number in range(members)]
    late = [f"late{number}" for number in range(CHANGES)]
    return Scenario(
        until_ms=HOUR_MS,
        count_from_ms=60_000,
        protocol=group_protocol,
        topics={"orders": partitions},
        members=tuple(
            MemberConfig(
                name=name,
                topics=("orders",),
                assignors=(assignor,),
                starts_at_ms=None if name in late else 0,
            )
            for name in (*names, *late)
        ),
        plan=tuple(
            action
            for number in range(CHANGES)
            for action in (
                Action(at_ms=(2 * number + 1) * step, do=Verb.STOP, member=names[number]),
                Action(at_ms=(2 * number + 2) * step, do=Verb.START, member=late[number]),
            )
        ),
    )


def joins_of(members: int, partitions: int, protocol: str) -> Scenario:
    """Return the first two minutes of a group whose members start within one."""
    scenario = hour_of(members, partitions, protocol)
    started = tuple(
        replace(each, starts_at_ms=60_000 * number // members)
        for number, each in enumerate(scenario.members[:members])
    )
    return replace(scenario, members=started, plan=(), until_ms=120_000)


if __name__ == "__main__":
    main()
