"""One real group: a broker's topics, its members, the records they get, and the verdict.

    with LiveGroup(broker, folder=tmp_path, topics={"a": 6, "b": 5}) as group:
        group.start("java44", "kpp")           # members java44-1 and kpp-1, in this order
        group.settled(20)                      # raises Unsettled, with the reason, if they do not
        group.members["java44-1"].kill()
        group.settled(20)
        group.judge()                          # windows, unread records, repeats

A group is settled when the broker calls it stable, every partition its members subscribe to is
given out exactly once, and every member's own view equals the broker's, all of it held for
several heartbeats: between two rounds of a cooperative rebalance it looks settled for a moment.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

from tests.interop.admin import Admin, DescribedGroup
from tests.interop.broker import Broker
from tests.interop.events import Event, Partition, now_ms
from tests.interop.feed import Feed
from tests.interop.ledger import Repeat, Window, repeats, unread, windows
from tests.interop.members import Flags, Member

SETTLES_S = 60.0
"""How long a group may take to come to rest: ten programs may start at once, on a busy machine."""
DRAINS_S = 30.0
"""How long members may take to consume all that was written."""
HOLD_S = 0.8
LOOK_S = 0.1

QUIET = frozenset({"view", "records"})
"""Events that say nothing new to whoever reads a failure."""

WINDOW_MS = 50
"""Shorter overlaps are two processes writing two lines, not two owners."""


class Unsettled(AssertionError):  # noqa: N818 - it is a verdict
    """The group did not come to rest in time."""


class Participant(Protocol):
    """What of a member the judge looks at."""

    name: str
    is_paused: bool

    @property
    def owned(self) -> frozenset[Partition]:
        """What it says it has."""

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""

    @property
    def topics(self) -> tuple[str, ...]:
        """What it subscribes to."""

    def end(self) -> None:
        """Be gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Settled:
    """How a group came to rest."""

    after_s: float
    """From the call to the first moment of the rest that held."""
    protocol: str
    partition_counts: Mapping[str, int]
    """How many partitions each member has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """What the books say at the end."""

    windows: tuple[Window, ...]
    unread: Mapping[Partition, list[int]]
    repeats: tuple[Repeat, ...]
    """Those that nothing excuses."""
    excused: tuple[Repeat, ...] = ()
    failures: tuple[str, ...] = field(default=())
    """What kept records from being written at all."""
    died: tuple[str, ...] = field(default=())
    """Members whose program ended by itself."""

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to complain about."""
        found = (self.windows, self.unread, self.repeats, self.failures, self.died)
        return not any(found)


def why_unsettled(
    described: DescribedGroup,
    members: Iterable[Participant],
    partition_counts: Mapping[str, int],
) -> str:
    """The first reason why the group is not at rest; empty where there is none.

    `partition_counts` has the topics that exist. Frozen members count for nothing: the broker
    expels them, and they cannot say what they think.
    """
    if described.state != "Stable":
        return f"the broker says {described.state}"
    awake = {one.name: one for one in members if one.is_alive and not one.is_paused}
    names = Counter(one.client_id for one in described.members)
    if names != Counter(awake.keys()):
        return f"the broker has {sorted(names.elements())}, running are {sorted(awake)}"
    given = Counter(one for member in described.members for one in member.partitions)
    twice = sorted(one for one, count in given.items() if count > 1)
    if twice:
        return f"given twice: {twice}"
    subscribed = {topic for one in awake.values() for topic in one.topics}
    wanted = {
        (topic, number)
        for topic in subscribed & partition_counts.keys()
        for number in range(partition_counts[topic])
    }
    if wanted != given.keys():
        missing, extra = sorted(wanted - given.keys()), sorted(given.keys() - wanted)
        return f"given to nobody: {missing}, not wanted by anybody: {extra}"
    for one in described.members:
        view = awake[one.client_id].owned
        if view != frozenset(one.partitions):
            return f"{one.client_id} has {sorted(view)}, the broker says {sorted(one.partitions)}"
    return ""


class LiveGroup:
    """A group, its topics and its members, for the length of a `with` block."""

    def __init__(
        self,
        broker: Broker,
        *,
        folder: Path,
        topics: Mapping[str, int],
        assignors: tuple[str, ...] = ("cooperative-sticky",),
        **flags: Any,
    ) -> None:
        # Names of their own, so that groups never meet on a broker that many tests share.
        mark = uuid.uuid4().hex[:8]
        self.name = f"group-{mark}"
        self.topics = tuple(f"{topic}-{mark}" for topic in topics)
        self.partition_counts = dict(zip(self.topics, topics.values(), strict=True))
        self.events: list[Event] = []
        self.members: dict[str, Member] = {}
        self.guests: dict[str, Participant] = {}
        """Members that are no programs: raw ones."""
        self.admin = Admin(broker.bootstrap)
        self.broker = broker
        self._folder = folder
        self._flags = Flags(
            bootstrap=broker.bootstrap,
            group=self.name,
            topics=self.topics,
            assignors=assignors,
            **flags,
        )
        self.admin.create_topics(self.partition_counts)
        self.feed = Feed(broker.bootstrap, self.partition_counts)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.feed.stop()
        finally:
            for member in self._participants():
                member.end()

    def start(self, *kinds: str, **flags: Any) -> list[Member]:
        """Start a member of each kind, in this order; flags change theirs alone."""
        return [self.start_one(kind, **flags) for kind in kinds]

    def start_one(self, kind: str, **flags: Any) -> Member:
        """Start a member, named after its kind and a number."""
        taken = sum(one.kind == kind for one in self.members.values())
        name = f"{kind}-{taken + 1}"
        chosen = Flags(**{**_as_dict(self._flags), **flags})
        member = Member(kind, name, chosen, events=self.events, folder=self._folder)
        self.members[name] = member
        member.start()
        return member

    def grow(self, topic: str, count: int) -> None:
        """Give a topic more partitions, and records in them."""
        self.admin.add_partitions(topic, count)
        self.partition_counts[topic] = count
        self.feed.grow(topic, count)

    def settled(self, timeout_s: float, *, hold_s: float = HOLD_S) -> Settled:
        """Wait until the group is at rest and stays so; `Unsettled` where it does not."""
        began = time.monotonic()
        rest_since: float | None = None
        reason = "never looked"
        while time.monotonic() - began < timeout_s + hold_s:
            described = self.admin.describe(self.name)
            reason = why_unsettled(described, self._participants(), self.partition_counts)
            now = time.monotonic()
            if reason:
                rest_since = None
            elif rest_since is None:
                rest_since = now
            elif now - rest_since >= hold_s:
                counts = {one.client_id: len(one.partitions) for one in described.members}
                return Settled(
                    after_s=rest_since - began,
                    protocol=described.protocol,
                    partition_counts=counts,
                )
            time.sleep(LOOK_S)
        raise Unsettled(f"after {timeout_s:g} s: {reason or 'not held long enough'}{self._tail()}")

    def leader(self) -> str | None:
        """The name of the member that made the newest assignment; None where none is known."""
        leaders = self.broker.leaders(self.name)
        newest = leaders.get(max(leaders, default=-1))
        described = self.admin.describe(self.name).members
        return next((one.client_id for one in described if one.member_id == newest), None)

    def drain(self, timeout_s: float) -> None:
        """Write no more, and wait until all that was written is consumed, or time is up."""
        self.feed.stop()
        until = time.monotonic() + timeout_s
        while unread(tuple(self.events), self.feed.written) and time.monotonic() < until:
            time.sleep(LOOK_S)

    def judge(self) -> Verdict:
        """What the books say so far; after `drain`, nothing may be left to complain about."""
        events = tuple(self.events)
        again = repeats(events)
        return Verdict(
            windows=tuple(windows(events, until_ms=now_ms(), longer_than_ms=WINDOW_MS)),
            unread=unread(events, self.feed.written),
            repeats=tuple(one for one in again if not one.is_excused),
            excused=tuple(one for one in again if one.is_excused),
            failures=tuple(self.feed.failures),
            died=tuple(f"{one.member}: {one.text}" for one in events if one.kind == "died"),
        )

    def _participants(self) -> list[Participant]:
        return [*self.members.values(), *self.guests.values()]

    def _tail(self) -> str:
        """The last lines of every member, for whoever reads the failure."""
        lines = []
        for name, member in self.members.items():
            told = [f"{one.kind} {one.text}" for one in member.events if one.kind not in QUIET]
            lines.append(f"\n  {name}: ... {'; '.join(told[-6:])}")
        return "".join(lines)


def _as_dict(flags: Flags) -> dict[str, Any]:
    return {name: getattr(flags, name) for name in Flags.__dataclass_fields__}
