"""What a coordinator remembers: requests on their way, who waits for whom, partitions.

A state may run ahead of the replicated log. The value before each record that is not replicated
is kept, to go back to. Kafka 4.4.0 keeps one value of a key a batch (`SnapshotRegistry`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.execution.policy import (
    Holds,
    Key,
    Policy,
    Settings,
)
from assignors.simulation.timed.execution.port import (
    Effect,
    Entry,
    Handled,
    Handler,
    Request,
    State,
    apply,
)


@dataclass(eq=False)
class Task:
    """A request on its way.

    Without slots: so what is not set yet costs nothing, and there is one for each request.
    """

    request: Request
    partition: int
    key: Hashable
    is_checked: bool
    """Whether it has passed its check, or needs none."""
    is_inline: bool = field(default=False, init=False)
    """The thread that brought it handles it."""
    is_working: bool = field(default=False, init=False)
    """A worker spends its time on it."""
    has_worker: bool = field(default=False, init=False)
    """A worker is held, working or waiting."""
    has_key: bool = field(default=False, init=False)
    handled: Handled | None = field(default=None, init=False)
    start: int = field(default=0, init=False)
    """The offset of its first record, once that is known."""
    end: int = field(default=0, init=False)
    """The offset behind its last record."""


@dataclass(slots=True)
class Waiting:
    """The requests of a key."""

    tasks: deque[Task] = field(default_factory=deque)
    """Those that have not begun."""
    holders: int = 0
    is_exclusive: bool = False
    """Whether the one that holds the key shares it with nobody."""
    is_ready: bool = False
    """Whether the key stands in line for a worker."""


@dataclass(slots=True, eq=False)
class Batch:
    """Records of several requests that are appended together."""

    number: int
    partition: int
    last: Task | None = None
    """The last request that was waiting when the batch began; `None`: nobody was."""
    has_lingered: bool = False
    """Whether the time for which it waits for others is over."""
    tasks: list[Task] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


@dataclass(slots=True)
class Partition:
    """One offsets partition."""

    state: State = field(default_factory=dict)
    ahead: int = 0
    """The offset up to which the state has applied records, written or to be written."""
    written: int = 0
    """The offset up to which records are known to be in the local log."""
    high_watermark: int = 0
    is_lost: bool = False
    """Another broker leads it."""
    undo: deque[tuple[int, Hashable, Any]] = field(default_factory=deque)
    """Offset, key, and what the state said before, of every record that is not replicated."""
    parked: list[tuple[int, int, Task]] = field(default_factory=list)
    """A heap of what waits for the high watermark: end, number, task."""
    batch: Batch | None = None
    """The one that is being filled."""
    closed: deque[Batch] = field(default_factory=deque)
    """Those that are full or due, in order; the first of them is being appended."""
    is_appending: bool = False

    @classmethod
    def of(cls, state: State, end: int) -> Partition:
        """Return a partition of which everything up to an offset is replicated."""
        return cls(state=state, ahead=end, written=end, high_watermark=end)


@dataclass(slots=True, kw_only=True)
class Coordinator:
    """A coordinator: `step.step` is what changes it."""

    policy: Policy
    handler: Handler
    settings: Settings
    partitions: list[Partition]
    free: int
    """Workers without anything to do."""
    in_turn: bool
    """Whether a high watermark waits for the request of its partition that is being handled, and
    goes before the next one, as in Kafka's event accumulator."""
    is_by_group: bool
    """Whether the key of a request is its group, and not its partition."""
    risen: dict[int, int] = field(default_factory=dict)
    """Partition -> a high watermark that waits."""
    unlocked: list[int] = field(default_factory=list)
    """Partitions whose high watermark need not wait any more."""
    keys: dict[Hashable, Waiting] = field(default_factory=dict)
    ready: deque[Hashable] = field(default_factory=deque)
    """Keys that wait for a worker."""
    resumed: deque[Task] = field(default_factory=deque)
    """Tasks that hold their key, and wait for a worker again."""
    tasks: dict[int, Task] = field(default_factory=dict)
    appends: dict[int, Task | Batch] = field(default_factory=dict)
    """By token."""
    tokens: int = 0
    held_max: int = 0
    """The most values of a partition that were kept to go back to."""
    out: list[Effect] = field(default_factory=list)
    """The effects of the step that runs."""

    @classmethod
    def of(cls, policy: Policy, handler: Handler, settings: Settings) -> Coordinator:
        """Return a coordinator that has done nothing yet."""
        holds_nothing = policy.in_replication is Holds.NOTHING
        return cls(
            policy=policy,
            handler=handler,
            settings=settings,
            partitions=[Partition() for _ in range(settings.partitions)],
            free=settings.workers,
            is_by_group=policy.key is Key.GROUP,
            in_turn=policy.key is Key.PARTITION and holds_nothing,
        )


def change(partition: Partition, entries: Iterable[Entry]) -> int:
    """Apply the next records to the state, and keep what that was; return how many values are kept.

    Cost: O(records).
    """
    state, ahead = partition.state, partition.ahead
    undo, high_watermark = partition.undo, partition.high_watermark
    for entry in entries:
        if ahead >= high_watermark:
            undo.append((ahead, entry.key, state.get(entry.key)))
        apply(state, entry)
        ahead += 1
    partition.ahead = ahead
    return len(undo)


def forget(partition: Partition) -> None:
    """Drop what is not needed now that the high watermark has risen. Cost: O(what is dropped)."""
    undo = partition.undo
    while undo and undo[0][0] < partition.high_watermark:
        undo.popleft()


def revert(partition: Partition, offset: int) -> None:
    """Take back all changes from an offset on. Cost: O(what is taken back)."""
    undo = partition.undo
    partition.ahead = offset
    while undo and undo[-1][0] >= offset:
        _, key, before = undo.pop()
        apply(partition.state, Entry(key, before))
