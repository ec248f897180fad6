"""A coordinator of ours that plays a history, operation by operation; records replicate at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import TypeVar

from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Fired,
    Record,
    Reply,
    Request,
    Schedule,
    TimerKey,
)
from assignors.simulation.timed.protocols.failover import load_offsets
from assignors.simulation.timed.protocols.offsets.access import GroupAccess
from assignors.simulation.timed.protocols.offsets.coordinator import OffsetsCoordinator, step
from assignors.simulation.timed.protocols.offsets.messages import EndTransaction
from assignors.simulation.timed.protocols.restore import Restored, restored
from assignors.simulation.timed.queue import EventQueue
from tests.foreign import commits
from tests.foreign.operations import Operation
from tests.foreign.plays import Step, answer_of, record_of
from tests.simulation.timed.compaction import kept, some_cleanings

RELOADS = (0.0, 0.0, 0.01, 0.04)
"""How often a coordinator is followed by another one, of the operations of a history."""
Load = Callable[[Restored], list[Schedule]]
Drawn = tuple[Operation, Request | None]
P = TypeVar("P", bound="Player")


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

    def request(self, number: int, request: Request) -> None:
        """Play a request."""
        if isinstance(request, EndTransaction):
            self.log.append([request])
        self._step(Arrived(number, request))

    def play(self, op: Operation) -> None:
        """Play what is no request."""
        if op["op"] == "reload":
            self.reload(op.get("keep"))
        else:
            self.advance(op["ms"])

    def advance(self, ms: int) -> None:
        """Let time pass: timers run out."""
        until = self.queue.now + ms * MILLISECOND
        while (fired := self.queue.take(until)) is not None:
            self._step(fired)
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
            self._start(each)

    def _start(self, timer: Schedule) -> None:
        # A member that joined without a rebalance timeout has -1: it is over at once.
        at = self.queue.now + max(timer.after_us, 0)
        self.queue.start(timer.key, at, Fired(timer.key, timer.data))

    def _step(self, event: CoordinatorEvent) -> None:
        written: list[int] = []
        for effect in step(self.offsets, self.queue.now, event):
            match effect:
                case Reply():
                    self.replies.append(effect)
                case Schedule(key):
                    if key not in self.not_by_time:
                        self._start(effect)
                case Cancel(key):
                    self.queue.stop(key)
                case Append(records, token):
                    self.records += records
                    self.log.append([*commits.logged(records)])
                    written.append(token)
                case _:
                    raise AssertionError(effect)
        for token in written:
            self._step(Committed(token))


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
) -> tuple[list[Operation], list[Step]]:
    """Return a history, and what ours did at each step.

    `draw` gives the next operation, `learn` is called with each answer; `forget` where nobody may
    expect an answer any more; `see` after each step, while what it wrote is in `player.records`.
    """
    reloads = random.choice(RELOADS)
    asked: dict[int, Request] = {}
    ops: list[Operation] = []
    steps: list[Step] = []
    for number in range(length):
        if number and random.random() < reloads:
            op, request = reload_operation(random, player), None
            forget()
        else:
            op, request = draw(number)
        if request is None:
            player.play(op)
        else:
            asked[number] = request
            player.request(number, request)
        ops.append(op)
        see(player)
        replies = player.replies
        steps.append(taken_step(player, asked))
        for reply in replies:
            learn(asked[reply.number], reply)
    return ops, steps


def taken_step(player: Player, asked: Mapping[int, Request]) -> Step:
    """Return what ours has answered and written since the last call."""
    replies, records = player.replies, player.records
    player.replies, player.records = [], []
    return {
        "responses": [answer_of(reply, asked[reply.number]) for reply in replies],
        "records": [record_of(record) for record in records],
    }
