"""What a coordinator remembers: requests on their way, who waits for whom, partitions."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.coordinator.log import Entry, State
from assignors.simulation.timed.coordinator.policy import Policy
from assignors.simulation.timed.coordinator.port import Effect, Handled, Handler, Request


@dataclass(slots=True, eq=False)
class Task:
    """A request on its way."""

    request: Request
    partition: int
    key: Hashable
    is_inline: bool = False
    """The thread that brought it handles it."""
    is_checked: bool = False
    """Whether it has passed its check, or needs none."""
    is_working: bool = False
    """A worker spends its time on it."""
    has_worker: bool = False
    """A worker is held, working or waiting."""
    has_key: bool = False
    is_answered: bool = False
    handled: Handled | None = None
    start: int = 0
    """The offset of its first record, once that is known."""
    end: int = 0
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
    undo: deque[tuple[int, Hashable, Any]] = field(default_factory=deque)
    """Offset, key, and what the state said before, of every record that is not replicated."""
    parked: list[tuple[int, int, Task]] = field(default_factory=list)
    """A heap of what waits for the high watermark: end, number, task."""
    batch: Batch | None = None
    """The one that is being filled."""
    in_append: Batch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Of a coordinator."""

    workers: int = 4
    partitions: int = 4
    linger: bool = False
    """Whether a batch waits for a time (`Linger`), or for those that were waiting when it began, as
    with `group.coordinator.append.linger.ms=-1`."""
    batch_max: int = 1000
    """Records in a batch."""


@dataclass(slots=True, kw_only=True)
class Coordinator:
    """A coordinator: `machine.step` is what changes it."""

    policy: Policy
    handler: Handler
    settings: Settings
    partitions: list[Partition]
    free: int
    """Workers without anything to do."""
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
    """The most records of a partition that were not replicated, and might have gone back."""
    out: list[Effect] = field(default_factory=list)
    """The effects of the step that runs."""

    @classmethod
    def of(cls, policy: Policy, handler: Handler, settings: Settings) -> Coordinator:
        """Return a coordinator that has done nothing yet."""
        return cls(
            policy=policy,
            handler=handler,
            settings=settings,
            partitions=[Partition() for _ in range(settings.partitions)],
            free=settings.workers,
        )
