"""The models: which thread does what, and the decisions in which clients have differed."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Thread(StrEnum):
    """The threads of a client."""

    POLLING = "polling"
    """The application's: it calls `poll`, `commit` and `close`."""
    OTHER = "other"
    """The client's own: a heartbeat thread, or a background thread."""


class Duty(StrEnum):
    """What a thread does in one step."""

    READ = "read"
    """Take the oldest answer from the network."""
    HEARTBEAT = "heartbeat"
    """Send the heartbeat that is due."""
    RECONCILE = "reconcile"
    """Move a rebalance on: ask for a callback, acknowledge, take what is granted."""
    CALLBACK = "callback"
    """Run the callback that is asked for."""
    COMMIT = "commit"
    """Send the oldest commit that waits, else commit what previous polls returned."""
    FETCH = "fetch"
    """Ask for the next record of an owned partition."""
    COLLECT = "collect"
    """Take a fetched record out of the buffer, to return it."""


class Model(NamedTuple):
    """A way to divide the duties, and the decisions that each can get wrong."""

    name: str
    polling: tuple[Duty, ...]
    """What the polling thread does in `poll`, in this order, each while there is something to do;
    it returns with one record, or none."""
    waiting: tuple[Duty, ...]
    """What it does while it waits for a commit."""
    other: tuple[Duty, ...]
    """What the other thread does, in any order, whenever there is something to do."""
    pauses_before_revoking: bool = True
    """Whether a partition is fetched and returned no more from when its revocation is decided."""
    checks_when_collecting: bool = True
    """Whether a buffered record is returned only if its partition is owned, at its position."""
    commits_previous_polls: bool = True
    """Whether automatic commits cover what earlier polls returned; else all that is collected."""
    matches_commits: bool = True
    """Whether an answer completes the commit that it belongs to; else any that waits."""
    waits_for_callbacks: bool = True
    """Whether a revocation is acknowledged only after its callback has run."""
    calls_in_order: bool = True
    """Whether callbacks run in the order in which they were asked for; else the newest first."""
    calls_lost: bool = True
    """Whether a member that was removed calls its partitions lost; else revoked, as in order."""
    drops_callbacks_when_fenced: bool = True
    """Whether callbacks that are asked for no longer run once the client knows it was removed."""
    forgets_when_called: bool = True
    """Whether partitions are forgotten once their revoked callback has run; else only when the
    rebalance goes on, so that who is removed or closes in between calls them revoked or lost once
    more. Java's client of KIP-848 does so in 4.4.0 (seen in `close`)."""
    reads_identity_whole: bool = True
    """Whether generation and owned partitions are read in one step; else one after the other."""
    blocks_in_callbacks: bool = False
    """Whether the other thread does nothing else while a callback waits for its commit."""
    blocks_for_callbacks: bool = False
    """Whether the other thread does nothing else while a callback is asked for."""


_POLL = (
    Duty.READ,
    Duty.RECONCILE,
    Duty.CALLBACK,
    Duty.RECONCILE,
    Duty.HEARTBEAT,
    Duty.COMMIT,
    Duty.COLLECT,
    Duty.FETCH,
)

IN_POLL = Model("in_poll", polling=_POLL, waiting=(Duty.READ, Duty.COMMIT), other=())

HEARTBEAT_THREAD = Model(
    "heartbeat_thread",
    polling=tuple(each for each in _POLL if each is not Duty.HEARTBEAT),
    waiting=(Duty.READ, Duty.COMMIT),
    other=(Duty.READ, Duty.HEARTBEAT),
)

BACKGROUND_THREAD = Model(
    "background_thread",
    polling=(Duty.CALLBACK, Duty.COLLECT),
    waiting=(),
    other=(Duty.READ, Duty.HEARTBEAT, Duty.RECONCILE, Duty.COMMIT, Duty.FETCH),
)

MODELS = (IN_POLL, HEARTBEAT_THREAD, BACKGROUND_THREAD)
