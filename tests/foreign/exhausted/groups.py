"""Groups of Java's members on one broker, behind a proxy by which messages come late or not at all.

One broker and one Java process serve all tests here: groups and members have names of their own.
"""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.interop.admin import Admin, DescribedGroup
from tests.interop.broker import Broker
from tests.interop.events import Event
from tests.interop.ledger import windows
from tests.interop.proxy import (
    CONSUMER_GROUP_HEARTBEAT,
    HEARTBEAT,
    Late,
    Link,
    Request,
    Rule,
    RuledProxy,
    heartbeat_answer,
)
from tests.lab.execution.programs import Clients, Line, clients
from tests.waiting import wait

HEARTBEAT_MS = 300
BROKER_SETTINGS = {
    "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.session.timeout.ms": "45000",
}
PATIENCE_S = 60.0
LOOK_S = 0.02
TOPIC = "t"
PARTITIONS = 2
RECORDS = 20
"""Of each partition, at first."""
OWNERSHIP = frozenset({"assigned", "revoked", "lost", "closed"})
"""What a member reports that changes what it owns."""


@dataclass(frozen=True, slots=True)
class Place:
    """What all groups share: a broker, the proxy before it, and a process for members."""

    broker: Broker
    proxy: RuledProxy
    process: Clients
    beats: Counter[str] = field(default_factory=Counter)
    """Client id -> how many of its heartbeats were answered (classic)."""

    def write(self, records: int) -> None:
        """Write so many records to each partition."""
        self.process.fill(TOPIC, partitions=PARTITIONS, records=records)

    def wait_beats(self, count: int, *client_ids: str) -> None:
        """Wait until so many more heartbeats of each of these clients are answered."""
        ends = {each: self.beats[each] + count for each in client_ids}
        wait(lambda: all(self.beats[each] >= end for each, end in ends.items()))

    def count_beats(self, _: Link, request: Request, __: bytes) -> bool:
        """Count answered heartbeats: a rule that lets all pass."""
        if request.key == HEARTBEAT:
            self.beats[request.client_id] += 1
        return True


@contextmanager
def started(folder: Path) -> Iterator[Place]:
    """Start a broker with a topic of two partitions, and a process for members."""
    proxy = RuledProxy()
    with (
        proxy.broker(BROKER_SETTINGS) as broker,
        clients(proxy.address, folder / "members.err") as process,
    ):
        Admin(broker.bootstrap).create_topics({TOPIC: PARTITIONS})
        place = Place(broker, proxy, process)
        proxy.on_answer.append(place.count_beats)
        place.write(RECORDS)
        yield place


@dataclass(slots=True, kw_only=True)
class Group:
    """A group, whose members have short names here and the group's mark behind them elsewhere."""

    place: Place
    settings: dict[str, object]
    """Of each member."""
    mark: str = field(default_factory=lambda: uuid.uuid4().hex[:8])
    names: list[str] = field(default_factory=list)
    given: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """Member -> how many partitions each answer with an assignment brought it (KIP-848)."""
    rules: list[Rule] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its `group.id`."""
        return f"g-{self.mark}"

    def full(self, name: str) -> str:
        """Return the name of a member elsewhere, also its `client.id`."""
        return f"{name}-{self.mark}"

    def start(self, name: str, **settings: object) -> None:
        """Start a member, which reads what it is assigned from the beginning."""
        self.names.append(name)
        own = {"group_id": self.name, "topics": TOPIC, "records": "yes", "seeks": "yes"}
        self.place.process.start(self.full(name), **{**own, **self.settings, **settings})

    def do(self, name: str, verb: str, argument: str = "") -> None:
        """Let a member do something between two calls of `poll`, or end its callback."""
        self.place.process.do(self.full(name), verb, argument)

    def said(self, name: str, event: str) -> list[Line]:
        """What a member has reported of a kind."""
        return [line for line in self.place.process.of(self.full(name)) if line.event == event]

    def of(self, name: str, event: str, partition: str = TOPIC) -> list[Line]:
        """The same, of a partition or of any: not what was reported of none."""
        return [
            line
            for line in self.said(name, event)
            if any(each.startswith(partition) for each in line.partitions)
        ]

    def wait(self, is_so: Callable[[], object]) -> None:
        """Wait for something that must come."""
        wait(is_so, shows=lambda: [line for line in self._lines() if line.event != "record"])

    def wait_given(self, name: str, count: int) -> None:
        """Wait until a member's last assignment has so many partitions."""
        self.wait(lambda: self.given[name][-1:] == [count])

    def wait_beats(self, count: int, *names: str) -> None:
        """Wait until so many more heartbeats of each of these members are answered."""
        self.place.wait_beats(count, *map(self.full, names))

    def late_answers(self, name: str, key: int) -> Late:
        """Let answers to a member's requests of a kind come late, from now on."""
        late = Late(self.full(name), key)
        self.follow(self.place.proxy.on_answer, late)
        return late

    def late_requests(self, name: str, key: int) -> Late:
        """Let a member's requests of a kind come late, from now on."""
        late = Late(self.full(name), key)
        self.follow(self.place.proxy.on_request, late)
        return late

    def follow(self, rules: list[Rule], rule: Rule) -> None:
        """Let the proxy follow a rule, until the group ends."""
        self.rules.append(rule)
        rules.append(rule)

    def described(self) -> DescribedGroup:
        """The group as the broker has it."""
        return Admin(self.place.broker.bootstrap).describe(self.name)

    def windows(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return (partition, its two owners) wherever two members own one at a time."""
        events = [
            Event(
                t_ms=line.at_us,
                member=line.member.removesuffix(f"-{self.mark}"),
                kind=line.event,
                partitions=frozenset(
                    (topic, int(number))
                    for topic, _, number in (each.rpartition("-") for each in line.partitions)
                ),
            )
            for line in self._lines()
            if line.event in OWNERSHIP
        ]
        found = windows(events, until_ms=events[-1].t_ms)
        return [(f"{topic}-{n}", each.members) for each in found for topic, n in [each.partition]]

    def end(self) -> None:
        """Close all members, whatever they wait for."""
        proxy = self.place.proxy
        for rules in (proxy.on_request, proxy.on_answer):
            rules[:] = [rule for rule in rules if rule not in self.rules]
        for rule in self.rules:
            if isinstance(rule, Late):
                rule.may_go_on.set()
        for name in self.names:
            self.do(name, "resume")
            self.do(name, "close", "0")

    def watch(self, _: Link, request: Request, body: bytes) -> bool:
        """Keep what answers say: a rule that lets all pass."""
        name, mark = request.client_id.rpartition("-")[::2]
        if mark == self.mark and request.key == CONSUMER_GROUP_HEARTBEAT:
            answer: Any = heartbeat_answer(body, request.version)
            if answer.assignment is not None:
                topics = answer.assignment.topic_partitions
                self.given[name].append(sum(len(each.partitions) for each in topics))
        return True

    def _lines(self) -> list[Line]:
        return self.place.process.of(*map(self.full, self.names))


@contextmanager
def joined(place: Place, *, heartbeat_ms: int | None = None, **settings: object) -> Iterator[Group]:
    """Make a group; `heartbeat_ms` is the interval that the broker tells its members."""
    group = Group(place=place, settings=settings)
    if heartbeat_ms is not None:
        interval = {"consumer.heartbeat.interval.ms": str(heartbeat_ms)}
        Admin(place.broker.bootstrap).configure_group(group.name, interval)
    group.follow(place.proxy.on_answer, group.watch)
    try:
        yield group
    finally:
        group.end()
