"""Simulated groups as inputs of a watch: records, partition counts and ends as a cluster has them.

`healthy_day` draws a day in which nothing is wrong: deployments, autoscaling, a night, a topic that
grows. `faulty_history` draws any scenario with any fault. What really happened is the ledger's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from assignors.replay.decode.logged_records import LoggedRecord
from assignors.server.spec import made_id
from assignors.simulation.dice import Dice
from assignors.simulation.timed.offsets_topic import log_entries
from assignors.simulation.timed.scenario import Scenario, Verb
from assignors.simulation.timed.scenario_document import scenario_from_document
from assignors.simulation.timed.simulation import Played
from assignors.watch.events import Alert
from assignors.watch.group_state import Cluster
from assignors.watch.groups import Watch
from assignors.watch.machine import Input, Tick
from assignors.watch.rules import Rules
from wire.records import decode_record

START_MS = 1_700_000_000_000
MINUTE, HOUR = 60_000, 3_600_000
DAY = 24 * HOUR
CLUSTER_MS = 15_000
"""How often the cluster is asked, as `tail` does."""

KINDS: tuple[dict[str, Any], ...] = (
    {"assignors": ["java/range"]},
    {"assignors": ["java/sticky"]},
    {"assignors": ["java/cooperative-sticky"]},
    {"assignors": ["optimal/cooperative-sticky"]},
    {"assignors": ["java/range"], "instance_id": "i"},
    {"assignors": ["java/cooperative-sticky"], "instance_id": "i"},
    {"protocol": "consumer"},
    {"protocol": "consumer", "instance_id": "i"},
)
"""Members of a protocol."""


def healthy_day(seed: int) -> Scenario:
    """Return a day of a group whose members do what they should."""
    dice = Dice(seed)
    kind = KINDS[seed % len(KINDS)]
    count, topics = (
        2 + dice.below(12),
        {f"t{n}": 1 + dice.below(24) for n in range(1 + dice.below(3))},
    )
    member = {
        "name": "c",
        "count": count,
        "topics": [*topics],
        "starts_every_ms": dice.below(3_000),
        **kind,
    }
    plan: list[dict[str, Any]] = []
    morning, evening = 7 * HOUR + dice.below(HOUR), 20 * HOUR + dice.below(HOUR)
    more = dice.below(count + 1)
    if more:
        every = 1_000 + dice.below(60_000)
        plan.append({"at_ms": morning, "do": "scale_out", "count": more, "every_ms": every})
        plan += [
            {"at_ms": evening + turn * every, "do": "stop", "member": f"c{count + turn}"}
            for turn in range(more)
        ]
    for _ in range(1 + dice.below(3)):
        at_ms = 9 * HOUR + dice.below(9 * HOUR)
        away, every = 2_000 + dice.below(28_000), 5_000 + dice.below(55_000)
        plan.append(
            {"at_ms": at_ms, "do": "rolling_restart", "away_ms": away, "every_ms": max(every, away)}
        )
    if dice.below(2):
        topic = f"t{dice.below(len(topics))}"
        plan.append(
            {
                "at_ms": 2 * HOUR + dice.below(20 * HOUR),
                "do": "grow",
                "topic": topic,
                "partitions": topics[topic] + 1 + dice.below(12),
            }
        )
    if dice.below(4) == 0:
        begin, lasts = HOUR + dice.below(HOUR), 15 * MINUTE + dice.below(3 * HOUR)
        for number in range(count):
            plan.append({"at_ms": begin + number * 500, "do": "stop", "member": f"c{number}"})
            plan.append(
                {"at_ms": begin + lasts + number * 500, "do": "start", "member": f"c{number}"}
            )
    document: dict[str, Any] = {
        "version": 1,
        "name": f"healthy-{seed}",
        "seed": seed,
        "until_ms": DAY,
        "topics": topics,
        "members": [member],
        "plan": sorted(plan, key=lambda one: one["at_ms"]),
    }
    if "protocol" in member:
        document["protocol"] = member.pop("protocol")
    if dice.below(5) == 0:
        member["auto_commit_ms"] = 5 * MINUTE
        document["processing"] = {"records_per_second": 1 + dice.below(20)}
    return scenario_from_document(document)


def inputs_of(
    scenario: Scenario, played: Played, *, cluster_ms: int = CLUSTER_MS
) -> Iterator[Input]:
    """Yield what a watch of the group would be given, a tick a minute after the end last."""
    entries = [
        LoggedRecord(
            record=decode_record(entry.key, entry.value),
            at_ms=entry.timestamp_ms,
            partition=0,
            offset=entry.offset,
        )
        for batch in log_entries(played.records, group="g", starts_at_ms=START_MS)
        for entry in batch
    ]
    counts = dict(scenario.topics)
    changes = iter(
        [
            one
            for one in sorted(scenario.plan, key=lambda one: one.at_ms)
            if one.do in {Verb.GROW, Verb.CREATE, Verb.DELETE}
        ]
    )
    change = next(changes, None)
    asked_ms = START_MS
    has_ends = scenario.processing.is_on
    yield Cluster(at_ms=START_MS, counts=dict(counts), names=_names(counts))
    for entry in [*entries, None]:
        now_ms = START_MS + scenario.until_ms if entry is None else entry.at_ms
        while change is not None and START_MS + change.at_ms <= now_ms:
            assert change.topic is not None
            if change.do is Verb.DELETE:
                counts.pop(change.topic, None)
            else:
                counts[change.topic] = change.partitions
            at_ms = START_MS + change.at_ms
            yield Cluster(at_ms=at_ms, counts=dict(counts), names=_names(counts))
            change = next(changes, None)
        while has_ends and asked_ms + cluster_ms <= now_ms:
            asked_ms += cluster_ms
            yield Cluster(
                at_ms=asked_ms,
                counts=dict(counts),
                names=_names(counts),
                ends=_ends(scenario, counts, asked_ms - START_MS),
            )
        if entry is not None:
            yield entry
    yield Tick(START_MS + scenario.until_ms)


def compacted(inputs: Sequence[Input], cut: int) -> list[Input]:
    """Return inputs as a watch reads them that starts at input `cut`: before it, the last record of
    each key."""
    last = {
        _key(given): number
        for number, given in enumerate(inputs[:cut])
        if isinstance(given, LoggedRecord)
    }
    return [
        given
        for number, given in enumerate(inputs)
        if number >= cut or not isinstance(given, LoggedRecord) or last[_key(given)] == number
    ]


def _key(entry: LoggedRecord) -> tuple[str, str]:
    return entry.record.name, repr(sorted((entry.record.key or {}).items()))


def _names(counts: dict[str, int]) -> dict[str, str]:
    return {made_id(topic): topic for topic in counts}


def _ends(
    scenario: Scenario, counts: dict[str, int], passed_ms: int
) -> dict[str, tuple[int | None, ...]]:
    return {
        topic: (scenario.processing.rates(topic)[0] * passed_ms // 1_000,) * count
        for topic, count in counts.items()
    }


def events_of(scenario: Scenario, played: Played, rules: Rules | None = None) -> list[Alert]:
    """Return what a watch says of a run."""
    watch = Watch(rules=rules or Rules())
    return [event for given in inputs_of(scenario, played) for event in watch.add(given)]
