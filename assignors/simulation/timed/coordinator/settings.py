"""How a coordinator is set up: threads, partitions, batches, what it keeps to go back to."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from assignors.documents.values import DocumentError, ErrorCode

COUNT_MAX = 1_000_000
"""The most threads, partitions, or records of a batch."""


class Lingers(Enum):
    """For whom a batch waits before it is appended."""

    QUEUED = "queued"
    """For the requests that were waiting when it began, as with
    `group.coordinator.append.linger.ms=-1`."""
    TIMED = "timed"
    """For a time (`port.Linger`), as with a linger above 0."""
    NOT = "not"
    """For nobody, as with a linger of 0."""


class History(Enum):
    """What is kept of a state that runs ahead of the replicated log, to go back to."""

    UNDO = "undo log"
    """Of each record that is not replicated, the value before."""
    SNAPSHOTS = "snapshots"
    """Of each batch, the values before of the keys it has changed, until a later batch is
    replicated: Kafka's `SnapshotRegistry`."""


class Stale(Enum):
    """What becomes of a result whose inputs have changed while it was computed."""

    DROPPED = "dropped"
    APPLIED = "applied"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Of a coordinator. Raises `DocumentError` with the field's name for a value that cannot be."""

    workers: int = 4
    """Threads that handle requests (`group.coordinator.threads`)."""
    partitions: int = 4
    """Offsets partitions that this broker leads."""
    linger: Lingers = Lingers.QUEUED
    batch_max: int = 1000
    """Records in a batch; a request with more is a batch of its own."""
    history: History = History.UNDO
    background_threads: int = 2
    """Of the background executor (`group.coordinator.background.threads`)."""
    stale: Stale = Stale.DROPPED
    has_timeout: bool = False
    """Whether a request may wait for the log for a time only (`port.Park`)."""
    in_turn: bool = True
    """Whether a high watermark waits for the request of its partition that is being handled, and
    goes before the next one, as in Kafka's event accumulator. It makes no difference to models that
    handle no other request of a key before the replication."""
    picks: int | None = None
    """The key that goes next: `None`: that which has waited longest; else any of those that wait,
    drawn from this seed, as in Kafka's event accumulator."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        for name in ("workers", "partitions", "batch_max", "background_threads"):
            value = getattr(self, name)
            if not 1 <= value <= COUNT_MAX:
                words = f"{value} is not between 1 and {COUNT_MAX}"
                raise DocumentError(ErrorCode.OUT_OF_RANGE, words, (name,))
