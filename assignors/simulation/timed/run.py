"""A run: what goes on, and what it has led to so far.

Its coordinator may be executed by a model (`Execution`): then other groups ask as well,
requests at random, each draw from its own stream.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from math import ceil
from typing import Any, NamedTuple

from assignors.model import Cluster
from assignors.simulation.dice import Dice
from assignors.simulation.timed.costs.meter import Meter
from assignors.simulation.timed.events_hash import EventsHash
from assignors.simulation.timed.execution import port
from assignors.simulation.timed.execution.policy import Applies
from assignors.simulation.timed.execution.port import Entry, Request, State, apply
from assignors.simulation.timed.execution.state import Coordinator
from assignors.simulation.timed.faults.live import FaultEvent, ForMember, LiveFaults
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.monitors.rules import Observer
from assignors.simulation.timed.monitors.watch import Watch, judge
from assignors.simulation.timed.network import Network
from assignors.simulation.timed.offsets_topic import key_and_value
from assignors.simulation.timed.processing import Processing
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    OUTSIDE,
    Arrived,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    MemberEvent,
    Record,
    Reply,
    Schedule,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka.messages import NO_PRODUCER, EndTransaction
from assignors.simulation.timed.protocols.kafka.records import OffsetRecord
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.random_streams import exponential, stream
from assignors.simulation.timed.scenario import Action, BrokerConfig, Scenario
from assignors.simulation.timed.shared_machine import Handled, Machine
from assignors.simulation.timed.sides import Sides
from assignors.simulation.timed.threads.client import ClientThreads, step_threads

SECOND = 1_000_000
"""In microseconds."""
PARTS = 1 << 32
"""A share is compared with a number below this."""
PURPOSES = ("arrivals", "groups", "checks", "changes", "check times", "replications")


class OtherAsks(NamedTuple):
    """An event: another group asks."""


@dataclass(slots=True, kw_only=True)
class OtherGroups:
    """The load of the other groups, and the times that the broker takes."""

    broker: BrokerConfig
    dice: dict[str, Dice] = field(default_factory=dict)
    """By purpose."""

    @classmethod
    def of(cls, broker: BrokerConfig, seed: int) -> OtherGroups:
        """Return the load of a run."""
        dice = {purpose: stream(seed, "other groups", purpose) for purpose in PURPOSES}
        return cls(broker=broker, dice=dice)

    def next_at(self, after: int) -> int | None:
        """Return when the next request comes after a moment; `None`: none does."""
        others = self.broker.execution.others
        if not others.per_second:
            return None
        at = after + exponential(self.dice["arrivals"], SECOND // others.per_second)
        is_over = others.until_ms is not None and at >= others.until_ms * MILLISECOND
        return None if is_over else at

    def request(self, number: int) -> tuple[Request, int]:
        """Return the next request, and how long its check takes if it needs one."""
        config = self.broker.execution
        others = config.others
        first = config.partitions
        group = first + self.dice["groups"].below(others.groups)
        is_checked = self._happens("checks", others.checks_share)
        is_commit = not self._happens("changes", others.changes_share)
        mean = config.check_us
        if group == first and others.slow_group_check_us is not None:
            mean = others.slow_group_check_us
        takes = self.check_us(mean) if is_checked else 0
        return Request(number, group, None, takes > 0, is_commit), takes

    def check_us(self, mean: int) -> int:
        """Return how long a check takes."""
        return self._time("check times", mean)

    def replication_us(self) -> int:
        """Return how long the next replication takes."""
        return self._time("replications", self.broker.append_us)

    def _happens(self, purpose: str, share: float) -> bool:
        return share > 0 and self.dice[purpose].below(PARTS) < share * PARTS

    def _time(self, purpose: str, mean: int) -> int:
        is_steady = self.broker.execution.is_steady
        return mean if is_steady else exponential(self.dice[purpose], mean)


GROUP = 0
"""The number of the run's own group, which is in partition 0; others have other numbers."""


@dataclass(slots=True, kw_only=True)
class Own:
    """A request of the group, or a timer of it that has run out, while the model has it."""

    event: Arrived | Fired
    at: int
    """When it came, in microseconds since the run began."""
    is_handled: bool = False
    entries: tuple[Entry, ...] = ()
    tokens: list[int] = field(default_factory=list)
    """Those of the coordinator's appends."""
    replies: list[Reply] = field(default_factory=list)
    """Answers that leave when the model answers."""


@dataclass(slots=True)
class LogEnd:
    """The end of an offsets partition's log, and when what is in it will be replicated."""

    offset: int = 0
    appends: int = 0
    replicated_at: int = 0


@dataclass(slots=True)
class Figures:
    """What the execution of a run has cost, since costs are counted; microseconds."""

    requests_us: list[int] = field(default_factory=list)
    """From a request of the group to its end."""
    commits_us: list[int] = field(default_factory=list)
    """From a commit that was accepted to its answer."""
    waiting_max: int = 0
    """The most requests that the coordinator had at a time, of all groups."""
    evictions: int = 0
    failed: int = 0

    def columns(self) -> Mapping[str, int | float]:
        """Return what a result says of it."""
        found: dict[str, int | float] = {
            "coordinator_p99_ms": percentile_ms(self.requests_us, 99) or 0.0,
            "coordinator_waiting_max": self.waiting_max,
            "evictions": self.evictions,
            "failed_appends": self.failed,
        }
        if self.commits_us:
            for share in (50, 99):
                found[f"commit_p{share}_ms"] = percentile_ms(self.commits_us, share)
        return found


@dataclass(slots=True, kw_only=True)
class Execution:
    """A coordinator that a model executes."""

    model: Coordinator
    others: OtherGroups
    logs: list[LogEnd]
    """Of the offsets partitions."""
    numbers: int = 0
    """How many requests there were."""
    own: dict[int, Own] = field(default_factory=dict)
    """By the number of their request."""
    check_us: dict[int, int] = field(default_factory=dict)
    """How long the check of a request takes, by its number."""
    run_out: dict[TimerKey, int] = field(default_factory=dict)
    """Timers that have run out and wait for their turn, with their requests' numbers."""
    unwritten: deque[Record | EndTransaction] = field(default_factory=deque)
    """Records of the group that are not appended yet, in the order of their steps."""
    records: int = 0
    """How many records the group has made."""
    figures: Figures = field(default_factory=Figures)

    def next_number(self) -> int:
        """Return the number of the next request."""
        self.numbers += 1
        return self.numbers

    def entry(self, record: Record | EndTransaction) -> Entry:
        """Return a record as the model's log has it: its key in the topic, and its place."""
        self.records += 1
        if isinstance(record, EndTransaction):
            return Entry((b"", self.records), (self.records, record))
        key, value = key_and_value(record, "")
        producer = record.producer_id if isinstance(record, OffsetRecord) else NO_PRODUCER
        return Entry((key, producer), None if value is None else (self.records, record))

    def forget(self) -> list[Arrived | Fired]:
        """Forget all that the group has asked for; return what has not been handled.

        What comes from outside is in it whether handled or not: a transaction's producer, and the
        coordinator that ends it, ask until they are answered. Cost: O(requests).
        """
        left = []
        for number, own in self.own.items():
            event = own.event
            if isinstance(event, Fired):
                is_left = self.run_out.get(event.key) == number
            else:
                is_left = not own.is_handled or event.number == OUTSIDE
            if is_left:
                left.append(event)
        for number in self.own:
            self.check_us.pop(number, None)
        self.own.clear()
        self.run_out.clear()
        self.unwritten.clear()
        return left

    def written(self) -> tuple[Record | EndTransaction, ...]:
        """Return what the group has written, as compaction would leave it. Cost: O(records).

        Where the model applies records once they are replicated, those on their way count too.
        """
        state: State = dict(self.model.partitions[GROUP].state)
        if self.model.policy.applies is Applies.REPLICATION:
            for own in self.own.values():
                for entry in own.entries:
                    apply(state, entry)
        return tuple(record for _, record in sorted(_own_values(state), key=lambda each: each[0]))

    def is_waiting(self, member_id: str) -> bool:
        """Return whether a request of a member waits for its turn. Cost: O(requests)."""
        return any(
            isinstance(each.event, Arrived)
            and not each.is_handled
            and getattr(each.event.request, "member_id", None) == member_id
            for each in self.own.values()
        )


def _own_values(state: State) -> list[tuple[int, Any]]:
    """Return the values of the group's own keys; those of other groups are numbers."""
    return [value for key, value in state.items() if isinstance(key, tuple)]


def percentile_ms(times_us: list[int], share: int) -> float:
    """Return the time that this percentage of them do not exceed, in milliseconds; 0: of none.

    >>> percentile_ms([4000, 1000, 2000, 3000], 50)
    2.0
    """
    if not times_us:
        return 0.0
    place = max(ceil(len(times_us) * share / 100) - 1, 0)
    return sorted(times_us)[place] / MILLISECOND


class LongRest:
    """The moment at which a group has been at rest for long (`Scenario.has_rested`)."""


Planned = Action | FaultEvent | LongRest
Happening = ForMember | Handled | Arrived | Committed | Planned | OtherAsks | port.Event
Event = tuple[int, Happening]
"""Whom it is for, and what happens."""


@dataclass(slots=True, kw_only=True)
class Run:
    """A run: what goes on, and what it has led to so far."""

    scenario: Scenario
    sides: Sides
    ledger: Ledger
    network: Network
    numbers: dict[str, int]
    """Member name -> its number."""
    queue: EventQueue[Event]
    processing: Processing | None
    """`None` where there are no records."""
    threads: dict[int, ClientThreads]
    """Of members whose clients divide their work among threads, by number."""
    topics: dict[str, int]
    cluster: Cluster
    """These topics, as a member that starts learns of them."""
    topics_known_us: int = 0
    """When the last member learns of their last change."""
    meter: Meter
    watch: Watch | None
    observe: Observer | None
    faults: LiveFaults = field(init=False)
    events_hash: EventsHash = field(default_factory=EventsHash)
    machine: Machine | None = None
    """What all members share; `None`: each has a machine of its own."""
    due: set[tuple[int, TimerKey]] = field(default_factory=set)
    """Members and the timers that have run out and wait for their machine, which shares this."""
    execution: Execution | None = None
    """What executes the coordinator by a model; `None`: it handles one request after the other."""
    heartbeats: Heartbeats | None = None
    """Computes those that change nothing; `None`: every one is queued."""
    records: list[tuple[int, Record]] = field(default_factory=list)
    fired: dict[tuple[int, TimerKey], Event] = field(default_factory=dict)
    """What each timer without data is when it has run out: most are started again and again."""

    def step_member(self, number: int, event: MemberEvent) -> list[Effect]:
        """Return what a member does about an event, with its threads and its offsets."""
        own = self.threads.get(number)
        if own is None:
            return self._step_client(number, event)
        step = partial(self._step_client, number)
        return step_threads(own, step, event, now_us=self.queue.now)

    def _step_client(self, number: int, event: MemberEvent) -> list[Effect]:
        if self.processing is None:
            return self.sides.step_member(number, event)
        return self.processing.step_member(number, self.queue.now, event)

    def step_coordinator(self, event: CoordinatorEvent) -> list[Effect]:
        """Return what the coordinator does about an event."""
        effects = self.sides.step_coordinator(self.queue.now, event)
        if self.processing is not None:
            self.processing.see(self.queue.now, effects)
        return effects

    def assignor_failed(self, number: int, text: str) -> None:
        """Report that the assignor of a member that leads has failed, and how."""
        if self.watch is not None:
            self.watch.at = (self.queue.count, self.queue.now)
            name = self.scenario.members[number].name
            judge(self.watch, "assignor-failed", name, text)

    def start_timer(
        self, number: int, effect: Schedule, rank: Rank | None, whose: int | str
    ) -> None:
        """Start a timer of a member, or of the coordinator. Cost: O(log n)."""
        name, after_us, data = effect
        key = (number, name)
        event = None if data else self.fired.get(key)
        if event is None:
            event = (number, Fired(name, data))
            if not data:
                self.fired[key] = event
        self.queue.start(key, self.queue.now + after_us, event, rank, whose)
