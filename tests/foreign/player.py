"""A coordinator of ours that plays a history, operation by operation.

Records replicate at once, unless the history says what becomes of them (`losses`).
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from random import Random
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID

from assignors.model import Cluster, Topic
from assignors.registry import assignor_named
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Fired,
    NotCoordinator,
    Record,
    Reply,
    Request,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup
from assignors.simulation.timed.protocols.kafka.consumer import topics_changed
from assignors.simulation.timed.protocols.kafka.coordinator import load, note_written, step
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction, OffsetFetch
from assignors.simulation.timed.protocols.kafka.restore import restored
from assignors.simulation.timed.protocols.kafka.state import (
    CoordinatorConfig,
    GroupCoordinator,
    Offsets,
)
from assignors.simulation.timed.queue import EventQueue
from assignors.simulation.timed.scenario import MigrationPolicy
from tests.foreign import commits
from tests.foreign.operations import Operation, operation_of, request_of
from tests.foreign.plays import Step, answer_of, record_of
from tests.simulation.timed.compaction import kept, some_cleanings

RELOADS = (0.0, 0.0, 0.01, 0.04)
"""How often a coordinator is followed by another one, of the operations of a history."""
Drawn = tuple[Operation, Request | None]
P = TypeVar("P", bound="Player")


class Waiting(NamedTuple):
    """An append that is not replicated."""

    number: int
    """Of the append, from 0 on: the judge counts them too."""
    token: int
    event: CoordinatorEvent
    """That led to it."""
    batch: list[Record | EndTransaction]
    """What it has put into the log."""


class Losses(Protocol):
    """What becomes of appends that are not replicated at once."""

    def next(self, random: Random, player: Player) -> Operation | None:
        """Return the next operation if it is about appends."""

    def played_by(self, player: Player) -> Plays:
        """Return what plays operations of a player, those about appends too."""


class Plays(Protocol):
    """Plays operations that are no requests."""

    def play(self, op: Operation) -> None:
        """Play one."""


LOOKUP = ("lookup", "")


def our_coordinator(broker: Mapping[str, str]) -> GroupCoordinator:
    """Return our coordinator of a group, under a broker's settings."""
    given = count(1)

    def new_uuid() -> UUID:
        return UUID(int=next(given), version=4)

    names = broker.get("group.consumer.assignors", "uniform").split(",")
    return GroupCoordinator(
        config=CoordinatorConfig(
            policy=MigrationPolicy(broker.get("group.consumer.migration.policy", "bidirectional")),
            initial_delay_ms=int(broker.get("group.initial.rebalance.delay.ms", "3000")),
            classic_max_size=int(broker.get("group.max.size", 2**31 - 1)),
            consumer_max_size=int(broker.get("group.consumer.max.size", 2**31 - 1)),
            assignment_interval_ms=int(broker.get("group.consumer.assignment.interval.ms", "1000")),
            clock_starts_ms=commits.START_MS,
        ),
        assignors={name: assignor_named(f"server/{name}") for name in names},
        new_id=lambda name: f"{name}-{new_uuid()}",
        new_uuid=lambda: urlsafe_b64encode(new_uuid().bytes).decode().rstrip("="),
        version=0,
        version_of_new_topics=0,
        offsets=Offsets(
            retention_ms=int(broker.get("offsets.retention.minutes", "10080")) * 60_000,
            check_ms=int(broker["offsets.retention.check.interval.ms"]),
        ),
    )


def topic_id(name: str) -> str:
    """Return the id that the judge gives a topic: Java's `UUID.nameUUIDFromBytes`."""
    digest = hashlib.md5(f"topic:{name}".encode(), usedforsecurity=False).digest()
    return urlsafe_b64encode(UUID(bytes=digest, version=3).bytes).decode().rstrip("=")


class Player:
    """Plays requests and times that pass; what it wrote and answered is taken step by step.

    The history says when lookups of patterns end.
    """

    def __init__(self, broker: Mapping[str, str]) -> None:
        """Make a coordinator under a broker's settings."""
        self.state = our_coordinator(broker)
        self.queue: EventQueue[Fired] = EventQueue()
        self.replies: list[Reply] = []
        self.records: list[Record] = []
        self.log: list[list[Record | EndTransaction]] = []  # batch by batch
        self.tail: list[Waiting] | None = None
        """Appends that are not replicated; `None`: all are at once."""
        self.appends = 0
        self.unanswered: set[int] = set()
        """Numbers of requests."""

    def request(self, number: int, request: Request) -> None:
        """Play a request."""
        self.unanswered.add(number)
        if isinstance(request, EndTransaction):
            self.log.append([request])
            self.note_written()
        self.step(Arrived(number, request))

    def play(self, op: Operation) -> None:
        """Play what is no request."""
        match op["op"]:
            case "topics":
                self.topics(op["topics"])
            case "tasks":
                if self.state.lookup is not None:
                    self.step(Fired(LOOKUP, 0))
            case "reload":
                self.reload(op.get("keep"))
            case _:
                self.advance(op["ms"])

    def topics(self, counts: Mapping[str, int]) -> None:
        """Create topics, delete those with a count of 0, or give them more partitions."""
        topics = {**self.state.cluster.topics}
        for name, partitions in counts.items():
            topics.pop(name, None)
            if partitions:
                topics[name] = Topic(partition_count=partitions, topic_id=topic_id(name))
        topics_changed(self.state, Cluster(topics=topics))

    def waiting_in_group(self) -> set[int]:
        """Return the requests that wait for other members, by their numbers."""
        group = self.state.group
        if not isinstance(group, ClassicGroup):
            return set()
        members = group.members.values()
        found = {each.waiting_join for each in members} | {each.waiting_sync for each in members}
        return {number for number in found if number is not None}

    def note_written(self) -> None:
        """Take note that all that was appended is in the local log."""
        note_written(self.state)

    def advance(self, ms: int) -> None:
        """Let time pass: timers run out."""
        until = self.queue.now + ms * MILLISECOND
        while (fired := self.queue.take(until)) is not None:
            self.step(fired)
        self.queue.now = until

    def reload(self, keep: list[int] | None = None) -> None:
        """Let another coordinator read the log, or what is left of it, and go on."""
        log = [each for batch in self.log for each in batch]
        left = log if keep is None else [log[at] for at in keep]
        found = restored(left)
        self.queue = EventQueue(now=self.queue.now)
        for each in load(self.state, found):
            self.start(each)

    def start(self, timer: Schedule) -> None:
        """Start a timer, in place of one of its key."""
        # A member that joined without a rebalance timeout has -1: it is over at once.
        at = self.queue.now + max(timer.after_us, 0)
        self.queue.start(timer.key, at, Fired(timer.key, timer.data))

    def step(self, event: CoordinatorEvent) -> None:
        """Play an event."""
        written: list[int] = []
        for effect in step(self.state, self.queue.now, event):
            match effect:
                case Reply():
                    self.reply(effect)
                case Schedule(key):
                    if key != LOOKUP:
                        self.start(effect)
                case Cancel(key):
                    self.queue.stop(key)
                case Append(records, token):
                    self.records += records
                    self.log.append([*commits.logged(records)])
                    if self.tail is None:
                        written.append(token)
                    else:
                        self.tail.append(Waiting(self.appends, token, event, self.log[-1]))
                        self.appends += 1
                case _:
                    raise AssertionError(effect)
        for token in written:
            self.step(Committed(token))

    def reply(self, reply: Reply) -> None:
        """Answer a request."""
        self.unanswered.discard(reply.number)
        self.replies.append(reply)


def reload_operation(random: Random, player: Player) -> Operation:
    """Return that another coordinator reads the log, or what a log cleaner has left of it."""
    if random.random() < 0.4:
        return {"op": "reload"}
    [(until, dropped)] = some_cleanings(random, 1, len(player.log))
    left = kept(player.log, clean_until=until, drop_tombstones_until=dropped)
    return {"op": "reload", "keep": left}


def played(
    random: Random,
    player: P,
    length: int,
    *,
    draw: Callable[[int], Drawn],
    learn: Callable[[Request, Reply], None],
    forget: Callable[[], None],
    see: Callable[[P], None],
    losses: Losses | None = None,
) -> tuple[list[Operation], list[Step]]:
    """Return a history, and what ours did at each step.

    `draw` gives the next operation, `learn` is called with each answer that is none of a loss;
    `forget` where nobody may expect an answer any more; `see` after each step, while what it wrote
    is in `player.records`. `losses` say what becomes of appends: nothing else reloads then.
    """
    reloads = random.choice(RELOADS) if losses is None else 0.0
    player.tail = None if losses is None else []
    player.note_written()
    asked: dict[int, Request] = {}
    ops: list[Operation] = []
    steps: list[Step] = []
    for number in range(length):
        of_appends = None if losses is None else losses.next(random, player)
        if of_appends is not None:
            op, request = of_appends, None
        elif number and random.random() < reloads:
            op, request = reload_operation(random, player), None
        else:
            op, request = draw(number)
            if losses is not None:
                op, request = _judged_alike(player, op, request)
        if op["op"] == "reload":
            forget()
        if request is None:
            (player if losses is None else losses.played_by(player)).play(op)
        else:
            asked[number] = request
            player.request(number, request)
        ops.append(op)
        see(player)
        replies = player.replies
        steps.append(taken_step(player, asked))
        for reply in replies:
            if isinstance(reply.response, NotCoordinator):
                forget()
            else:
                learn(asked[reply.number], reply)
    return ops, steps


def replayed(
    broker: Mapping[str, str], ops: Sequence[Operation], losses: Losses | None = None
) -> list[Step]:
    """Return what ours does at each step of a written history."""
    player = Player(broker)
    player.tail = None if losses is None else []
    player.note_written()
    asked: dict[int, Request] = {}
    steps = []
    for number, op in enumerate(ops):
        request = request_of(op)
        if request is None:
            (player if losses is None else losses.played_by(player)).play(op)
        else:
            asked[number] = request
            player.request(number, request)
        steps.append(taken_step(player, asked))
    return steps


def _judged_alike(player: Player, op: Operation, request: Request | None) -> Drawn:
    """Return an operation in place of one that means something else while appends wait."""
    if player.tail and isinstance(request, EndTransaction):
        return {"op": "advance", "ms": 0}, None  # a marker waits for no replica here
    if isinstance(request, OffsetFetch):
        # Kafka looks at the group as it is replicated where offsets need not be stable.
        request = request._replace(requires_stable=True)
        return operation_of(request), request
    return op, request


def taken_step(player: Player, asked: Mapping[int, Request]) -> Step:
    """Return what ours has answered and written since the last call."""
    replies, records = player.replies, player.records
    player.replies, player.records = [], []
    return {
        "responses": [answer_of(reply, asked[reply.number]) for reply in replies],
        "records": [record_of(record) for record in records],
    }
