"""A coordinator of ours that plays a history, operation by operation.

Records replicate at once, unless the history says what becomes of them (`losses`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple, Protocol, TypeVar

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
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka.coordinator import load_offsets
from assignors.simulation.timed.protocols.kafka.offsets import GroupAccess
from assignors.simulation.timed.protocols.kafka.offsets import OffsetsCoordinator, step
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction, OffsetFetch
from assignors.simulation.timed.protocols.kafka.restore import Restored, restored
from assignors.simulation.timed.queue import EventQueue
from tests.foreign import commits
from tests.foreign.operations import Operation, operation_of
from tests.foreign.plays import Step, answer_of, record_of
from tests.simulation.timed.compaction import kept, some_cleanings

RELOADS = (0.0, 0.0, 0.01, 0.04)
"""How often a coordinator is followed by another one, of the operations of a history."""
Load = Callable[[Restored], list[Schedule]]
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


class Player:
    """Plays requests and times that pass; what it wrote and answered is taken step by step."""

    def __init__(
        self,
        offsets: OffsetsCoordinator,
        *,
        load: Load,
        access: Callable[[int | None], GroupAccess],
        not_by_time: frozenset[TimerKey] = frozenset(),
    ) -> None:
        """`load` lets the group's coordinator begin anew, `access` makes the access to its group.

        The history says when the timers of `not_by_time` run out.
        """
        self.offsets = offsets
        self.load = load
        self.access = access
        self.not_by_time = not_by_time
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
        if op["op"] == "reload":
            self.reload(op.get("keep"))
        else:
            self.advance(op["ms"])

    def waiting_in_group(self) -> set[int]:
        """Return the requests that wait for other members, by their numbers."""
        return set()

    def note_written(self) -> None:
        """Take note that all that was appended is in the local log."""

    is_classic = False
    """Whether it knows classic groups alone."""

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
        loaded = self.load(found)
        loaded += load_offsets(self.offsets, self.access(found.since_ms), found)
        for each in loaded:
            self.start(each)

    def start(self, timer: Schedule) -> None:
        """Start a timer, in place of one of its key."""
        # A member that joined without a rebalance timeout has -1: it is over at once.
        at = self.queue.now + max(timer.after_us, 0)
        self.queue.start(timer.key, at, Fired(timer.key, timer.data))

    def step(self, event: CoordinatorEvent) -> None:
        """Play an event."""
        written: list[int] = []
        for effect in step(self.offsets, self.queue.now, event):
            match effect:
                case Reply():
                    self.reply(effect)
                case Schedule(key):
                    if key not in self.not_by_time:
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
