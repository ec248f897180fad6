"""Timed simulations: simulated events a second, of small groups and of huge ones.

    python -m tests.benchmarks.bench_timed [--members N] [--runs N] [--protocols KIP-848,eager]
        [--only rolling,hour]

* rolling, deploy, start: 20 members x 200 partitions. Each of ten members restarts; twenty members
  come and the twenty before them go; all start, and a minute passes
* hour: N members x 10 N partitions (10,000 x 100,000), 10 leave and 10 join
* together: N members start in one moment, and a minute passes
* joins: N members join within a minute

Each is played as `simulate` does by default: heartbeats of idle members are computed, and all
monitors look. Assignors and monitors are counted in.

CPU seconds, the least of so many runs; memory is the peak of the process.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from dataclasses import replace

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario import (
    Action,
    GroupProtocol,
    MemberConfig,
    ProcessingConfig,
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
    parser.add_argument("--only", default=",".join(WORKLOADS))
    options = parser.parse_args()
    print(f"{'what':<28} {'seconds':>8} {'events':>9} {'events/s':>9} {'requests':>10} {'MB':>6}")
    for workload in options.only.split(","):
        for protocol in options.protocols.split(","):
            scenario = WORKLOADS[workload](options.members, protocol)
            line(f"{workload}, {protocol}", scenario, options.runs)


def line(what: str, scenario: Scenario, runs: int) -> None:
    """Play a scenario and print one row."""
    seconds = []
    for _ in range(runs):
        start = time.process_time_ns()
        result = simulate(scenario).result
        seconds.append((time.process_time_ns() - start) / 1e9)
        assert result.is_settled, result
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    least, requests = min(seconds), sum(result.requests.values())
    print(
        f"{what:<28} {least:>8.3f} {result.events:>9} {result.events / least:>9.0f} "
        f"{requests:>10} {peak:>6.0f}",
        flush=True,
    )


def restarts_of(protocol: str) -> Scenario:
    """Return a rolling restart of 20 members x 200 partitions, without records."""
    group_protocol, assignor = PROTOCOLS[protocol]
    scenario = named("rolling-restart", protocol=group_protocol)
    members = tuple(
        replace(scenario.members[0], name=f"c{number}", assignors=(assignor,))
        for number in range(20)
    )
    nothing = ProcessingConfig()
    return replace(scenario, topics={"orders": 200}, members=members, processing=nothing)


def deploy_of(protocol: str) -> Scenario:
    """Return how 20 members come to 200 partitions, and a minute later the 20 before them go."""
    scenario = restarts_of(protocol)
    old, began = scenario.members, scenario.plan[0].at_ms
    new = tuple(replace(each, name=f"new{each.name}", starts_at_ms=None) for each in old)
    plan = [
        Action(at_ms=began + 50 * number, do=Verb.START, member=each.name)
        for number, each in enumerate(new)
    ]
    plan += [
        Action(at_ms=began + 60_000 + 100 * number, do=Verb.STOP, member=each.name)
        for number, each in enumerate(old)
    ]
    until_ms = began + 120_000
    return replace(scenario, members=(*old, *new), plan=tuple(plan), until_ms=until_ms)


def start_of(scenario: Scenario) -> Scenario:
    """Return the first minute of a scenario, in which nothing happens but its start."""
    return replace(scenario, plan=(), until_ms=60_000, count_from_ms=0)


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


WORKLOADS: dict[str, Callable[[int, str], Scenario]] = {
    "rolling": lambda _, protocol: restarts_of(protocol),
    "deploy": lambda _, protocol: deploy_of(protocol),
    "start": lambda _, protocol: start_of(restarts_of(protocol)),
    "hour": lambda size, protocol: hour_of(size, 10 * size, protocol),
    "together": lambda size, protocol: start_of(hour_of(size, 10 * size, protocol)),
    "joins": lambda size, protocol: joins_of(size, 10 * size, protocol),
}
"""Name -> how many members a huge group has, and its protocol -> what is played."""


if __name__ == "__main__":
    main()
