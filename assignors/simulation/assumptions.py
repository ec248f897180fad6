"""What a simulation assumes, in one line: every table on a terminal begins with it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assignors.simulation.rounds.random_scenarios import Parameters
    from assignors.simulation.timed.scenario import Scenario
    from assignors.simulation.timed.sweeps.sweep import Sweep
    from assignors.simulation.traffic.scenario import TrafficScenario


def of_rounds(sizes: Parameters, seeds: range) -> str:
    """Return the assumptions of random histories.

    >>> from assignors.simulation import Parameters
    >>> of_rounds(Parameters(members=3, topics=1, events=2), range(5))
    '3 members, 200 partitions in 1 topic, subscription equal, 2 events, with faults, seeds 0 to 4'
    """
    return ", ".join(
        [
            _count(sizes.members, "member"),
            _partitions(sizes.partitions, sizes.topics),
            f"subscription {sizes.subscription}",
            _count(sizes.events, "event"),
            "with faults" if sizes.faults else "without faults",
            _seeds(seeds),
        ]
    )


def of_timed(scenario: Scenario, seeds: range) -> str:
    """Return the assumptions of runs on a clock.

    >>> from assignors.simulation.timed.gallery import named
    >>> of_timed(named("rolling-restart"), range(10)).partition(", polls")[0]
    '10 members, 100 partitions in 1 topic'
    """
    members = scenario.members
    clients = sorted({each.client for each in members if each.client is not None})
    parts = [
        _count(len(members), "member") + (" and arrivals" if scenario.arrivals else ""),
        _partitions(sum(scenario.topics.values()), len(scenario.topics)),
    ]
    if clients:
        parts.append(f"clients {' and '.join(clients)}")
    polls = [
        each.poll_ms - spread_us // 1000
        for each in members
        for spread_us in (0, each.poll_spread_us if each.client_model is None else 0)
    ]
    parts.append(f"polls every {_span(polls)} ms")
    parts.append(f"heartbeats every {_span(each.heartbeat_interval_ms for each in members)} ms")
    away = _away_ms(scenario)
    if away:
        parts.append(f"away {_span(ms / 1000 for ms in away)} s")
    if scenario.processing.is_on:
        parts.append(f"{scenario.processing.records_per_second:,} records/s a partition")
        commits_ms = [each.commits_every_ms or each.sync_commit_ms for each in members]
        if any(commits_ms):
            parts.append(f"commits every {_span(ms / 1000 for ms in commits_ms)} s")
    return ", ".join([*parts, _seeds(seeds)])


def _away_ms(scenario: Scenario) -> list[int]:
    """Return how long members are away, from each stop or crash to the next start."""
    gone: dict[str | None, int] = {}
    found: list[int] = []
    for action in sorted(scenario.plan, key=lambda one: one.at_ms):
        if action.do.value in {"stop", "crash"}:
            gone[action.member] = action.at_ms
        elif action.do.value == "start" and action.member in gone:
            found.append(action.at_ms - gone.pop(action.member))
    return found


def of_traffic(scenario: TrafficScenario, seeds: range) -> str:
    """Return the assumptions of runs with traffic.

    >>> from assignors.simulation.traffic.worlds import world
    >>> print(of_traffic(world("day"), range(1)))  # doctest: +NORMALIZE_WHITESPACE
    13 members, 240 partitions in 12 topics, 100,000 records/s, log-normal over
    partitions (spread 1), 70 % of what members can process, 24 h, seed 0
    """
    rates = scenario.rates
    return ", ".join(
        [
            _count(len(scenario.members), "member"),
            _partitions(sum(scenario.topics.values()), len(scenario.topics)),
            f"{scenario.records_per_s:,} records/s",
            f"{rates.distribution.value} over partitions (spread {rates.spread:g})",
            f"{100 * scenario.use:g} % of what members can process",
            f"{scenario.until_s / 3600:g} h",
            _seeds(seeds),
        ]
    )


def of_sweep(sweep: Sweep) -> str:
    """Return the assumptions that all points of a sweep share; what is swept is in the table.

    >>> from assignors.simulation.timed.sweeps.sweep import Sweep
    >>> of_sweep(Sweep(over={"groups": (10, 100)}))
    '12 points, 20,000 requests each, 5,000 a second, 4 workers, 4 partitions, seed 0'
    """
    from assignors.simulation.timed.sweeps.sweep import FIELDS  # noqa: PLC0415 - of this one

    shared = {name: sweep.base.get(name, each.default) for name, each in FIELDS.items()}
    words = {
        "requests": "requests each",
        "per_second": "a second",
        "groups": "groups",
        "workers": "workers",
        "partitions": "partitions",
    }
    first = shared["seed"]
    parts = [f"{shared[name]:,} {text}" for name, text in words.items() if name not in sweep.over]
    seeds = _seeds(range(first, first + sweep.seeds))
    return ", ".join([_count(sweep.count, "point"), *parts, seeds])


def _partitions(count: int, topics: int) -> str:
    return f"{_count(count, 'partition')} in {_count(topics, 'topic')}"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _span(values: Iterable[float]) -> str:
    listed = [*values]
    low, high = min(listed, default=0), max(listed, default=0)
    return f"{low:,g}" if low == high else f"{low:,g} to {high:,g}"


def _seeds(seeds: range) -> str:
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"
