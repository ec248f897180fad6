"""Does a watch find every double ownership that records show, and how late? `... FIRST COUNT`

Histories are random scenarios with faults. Then some records are changed: a member is assigned a
partition that another one has. What the records show is computed here, record by record, and not
by the code under test.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assignors.replay.decode.logged_records import LoggedRecord
from assignors.simulation.dice import Dice
from assignors.simulation.timed.explore.fuzz import random_scenario
from assignors.simulation.timed.explore.random_scenarios import LAWFUL
from assignors.simulation.timed.simulation import simulate
from assignors.watch.events import Alert, Event
from assignors.watch.groups import Watch
from assignors.watch.machine import SECOND, Input, Tick
from tests.lab.watch.histories import START_MS, inputs_of
from wire import decode_assignment, encode_assignment

Place = tuple[str, int]
FOR_MS = 1_000


@dataclass(frozen=True, slots=True)
class Doubled:
    """A partition had two owners or more, by the records."""

    place: Place
    start_ms: int
    end_ms: int


class Owners:
    """Who owns what by the records so far, as simply as possible."""

    def __init__(self) -> None:
        """Start without members."""
        self.of: dict[str, set[Place]] = {}
        self.is_classic = True

    def add(self, entry: LoggedRecord) -> None:
        """Add a record."""
        key, value, name = entry.record.key or {}, entry.record.value, entry.record.name
        if name == "GROUP_METADATA" and (value is not None or self.is_classic):
            self.is_classic = True
            members = [] if value is None else value["members"]
            self.of = {one["memberId"]: classic_places(one["assignment"]) for one in members}
        elif name == "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT":
            if self.is_classic:
                self.is_classic, self.of = False, {}
            parts = [] if value is None else value["assignedPartitions"]
            pending = [] if value is None else value["partitionsPendingRevocation"]
            self.of[key["memberId"]] = {
                (one["topicId"], number)
                for one in (*parts, *(pending or ()))
                for number in one["partitions"]
            }
        elif name == "CONSUMER_GROUP_METADATA" and value is None and not self.is_classic:
            self.of = {}

    def doubled(self) -> set[Place]:
        """The partitions with two owners or more."""
        seen: set[Place] = set()
        twice: set[Place] = set()
        for places in self.of.values():
            twice |= seen & places
            seen |= places
        return twice


def classic_places(assignment: bytes) -> set[Place]:
    """The partitions in an Assignment."""
    value = decode_assignment(assignment).value
    partitions = {} if value is None else value.partitions
    return {(topic, number) for topic, numbers in partitions.items() for number in numbers}


def mutated(inputs: Sequence[Input], dice: Dice) -> Iterator[Input]:
    """Yield the inputs; in some records a member is assigned what another one has."""
    owners = Owners()
    for given in inputs:
        changed = given
        if isinstance(given, LoggedRecord) and dice.below(4) == 0:
            changed = _with_double(given, owners, dice)
        if isinstance(changed, LoggedRecord):
            owners.add(changed)
        yield changed


def _with_double(entry: LoggedRecord, owners: Owners, dice: Dice) -> LoggedRecord:
    if entry.record.value is None:
        return entry
    name, value = entry.record.name, dict(entry.record.value)
    if name == "GROUP_METADATA" and len(value["members"]) > 1:
        members: list[dict[str, Any]] = [*value["members"]]
        giver, taker = dice.sample(range(len(members)), 2)
        given = sorted(classic_places(members[giver]["assignment"]))
        if not given or value["protocolType"] != "consumer":
            return entry
        mine: dict[str, tuple[int, ...]] = {}
        for topic, number in {*classic_places(members[taker]["assignment"]), dice.pick(given)}:
            mine[topic] = tuple(sorted((*mine.get(topic, ()), number)))
        members[taker] = {**members[taker], "assignment": encode_assignment(mine)}
        value["members"] = members
    elif name == "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT" and not owners.is_classic:
        me = (entry.record.key or {})["memberId"]
        others = sorted(
            place for member, places in owners.of.items() if member != me for place in places
        )
        if not others:
            return entry
        topic_id, number = dice.pick(others)
        value["assignedPartitions"] = [
            *value["assignedPartitions"],
            {"topicId": topic_id, "partitions": [number]},
        ]
    else:
        return entry
    return replace(entry, record=replace(entry.record, value=value))


def doubled_in(inputs: Sequence[Input], end_ms: int) -> list[Doubled]:
    """The double ownerships that records show, each once; at one time all its records count."""
    owners, since, found = Owners(), dict[Place, int](), list[Doubled]()
    entries = [one for one in inputs if isinstance(one, LoggedRecord)]
    now_ms = 0
    for number, entry in enumerate(entries):
        owners.add(entry)
        now_ms = max(now_ms, entry.at_ms)
        later = entries[number + 1].at_ms if number + 1 < len(entries) else end_ms
        if later <= now_ms and number + 1 < len(entries):
            continue
        twice = owners.doubled()
        found += [
            Doubled(place, since.pop(place), now_ms) for place in [*since] if place not in twice
        ]
        for place in twice:
            since.setdefault(place, now_ms)
    return found + [Doubled(place, start, end_ms) for place, start in since.items()]


@dataclass(frozen=True, slots=True)
class Judged:
    """What a watch made of one history."""

    shown: int
    missed: tuple[Doubled, ...]
    delays_ms: tuple[int, ...]
    """From the moment at which a double ownership had lasted for a second to the alert."""


def judged(seed: int) -> Judged:
    """Return how a watch does on the history of a seed."""
    scenario = random_scenario(seed, LAWFUL)
    played = simulate(scenario, keeps_history=True)
    end_ms = START_MS + scenario.until_ms + 10 * SECOND
    inputs = [*mutated([*inputs_of(scenario, played)], Dice(seed)), Tick(end_ms)]
    watch = Watch()
    events = [event for given in inputs for event in watch.add(given)]
    shown = [one for one in doubled_in(inputs, end_ms) if one.end_ms - one.start_ms >= FOR_MS]
    opened = _opened([event for event in events if event.kind == "double-ownership"], end_ms)
    missed, delays = [], []
    for one in shown:
        due_ms = one.start_ms + FOR_MS
        # At the latest the evaluation at the next whole second sees it, even if it is over then.
        fits = [
            max(begin - due_ms, 0)
            for begin, end in opened
            if begin <= max(one.end_ms, due_ms) + SECOND and end >= due_ms
        ]
        if fits:
            delays.append(min(fits))
        else:
            missed.append(one)
    return Judged(len(shown), tuple(missed), tuple(delays))


def _opened(events: Sequence[Alert], end_ms: int) -> list[tuple[int, int]]:
    """When an alert was open."""
    begun: dict[str, int] = {}
    found = []
    for event in events:
        if event.event is Event.OPENED:
            begun[event.id] = event.at_ms
        elif event.event is Event.RESOLVED:
            found.append((begun.pop(event.id), event.at_ms))
    return found + [(begin, end_ms) for begin in begun.values()]


def main(first: int, count: int) -> None:
    """Print recall and delays."""
    shown, missed, delays, histories = 0, 0, list[int](), 0
    begun = time.monotonic()
    for seed in range(first, first + count):
        found = judged(seed)
        shown += found.shown
        histories += found.shown > 0
        missed += len(found.missed)
        delays += found.delays_ms
        for one in found.missed:
            print(seed, one)
    delays.sort()
    p50, p99 = (delays[int(share * (len(delays) - 1))] for share in (0.5, 0.99))
    print(
        f"{count} histories from {first}, {histories} with double ownership of a second or more: "
        f"{shown - missed} of {shown} found; delay p50 {p50} ms, p99 {p99} ms, "
        f"most {delays[-1]} ms; {time.monotonic() - begun:.0f} s"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
