"""The execution models, and the settings of a coordinator.

A request is checked (some of them: the verification of a transaction), handled, appended to the
local log, and replicated. Requests of one key are handled one after the other; the key is the
offsets partition or the group. A model says what waits with a request that waits, and when the
state changes: at the append, to be taken back if that fails, or once the records are replicated.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Annotated

from assignors.documents.keys import integer, require_values


class Key(Enum):
    """Whose requests are handled one after the other."""

    PARTITION = "partition"
    GROUP = "group"


class Holds(Enum):
    """What waits with a request."""

    WORKER = "worker"
    """Its worker and its key."""
    KEY = "key"
    """Its key: workers do something else, other requests of the key wait."""
    NOTHING = "nothing"
    """Whoever is next goes on."""


class Applies(Enum):
    """When a request changes the state."""

    APPEND = "append"
    """At once; what fails is taken back, so what is not replicated is remembered."""
    REPLICATION = "replication"
    """Once its records are replicated: there is nothing to take back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """An execution model."""

    text: str
    """What it is, and who has proposed it."""
    key: Key
    in_check: Holds
    """What waits while a request is checked."""
    in_replication: Holds
    """What waits while its records are replicated."""
    applies: Applies = Applies.APPEND
    has_batches: bool = False
    """Records of several requests are one append."""
    shares_commits: bool = False
    """Commits of a group do not wait for each other, only for what changes the group."""
    runs_inline: bool = False
    """A request whose key is free is handled by the thread that brought it, without a hand-off."""


POLICIES: dict[str, Policy] = {
    "wait-all": Policy(
        text="A worker waits until the records of its request are replicated.",
        key=Key.PARTITION,
        in_check=Holds.WORKER,
        in_replication=Holds.WORKER,
        applies=Applies.REPLICATION,
    ),
    "blocking": Policy(
        text="A worker waits for the append and all its checks; the answer waits for the high"
        " watermark (apache/kafka#14705).",
        key=Key.PARTITION,
        in_check=Holds.WORKER,
        in_replication=Holds.NOTHING,
    ),
    "pipelined": Policy(
        text="As blocking, and requests share batches; the state runs ahead of the log, and goes"
        " back where an append fails.",
        key=Key.PARTITION,
        in_check=Holds.WORKER,
        in_replication=Holds.NOTHING,
        has_batches=True,
    ),
    "two-stage": Policy(
        text="As pipelined; a check is a stage of its own, after which the request is queued again"
        " (Kafka 4).",
        key=Key.PARTITION,
        in_check=Holds.NOTHING,
        in_replication=Holds.NOTHING,
        has_batches=True,
    ),
    "per-group": Policy(
        text="A group waits for its own requests alone; no state that is not replicated, so nothing"
        " goes back.",
        key=Key.GROUP,
        in_check=Holds.KEY,
        in_replication=Holds.KEY,
        applies=Applies.REPLICATION,
        shares_commits=True,
    ),
    "inline": Policy(
        text="As two-stage, but a request whose partition is free is handled by the thread that"
        " brought it.",
        key=Key.PARTITION,
        in_check=Holds.NOTHING,
        in_replication=Holds.NOTHING,
        has_batches=True,
        runs_inline=True,
    ),
}
"""Name -> execution model. A new one is a row."""


COUNT_MAX = 1_000_000
"""The most threads, partitions, or records of a batch."""


class Lingers(StrEnum):
    """For whom a batch waits before it is appended."""

    QUEUED = "queued"
    """For the requests that were waiting when it began, as with
    `group.coordinator.append.linger.ms=-1`."""
    TIMED = "timed"
    """For a time (`port.Linger`), as with a linger above 0."""
    NOT = "not"
    """For nobody, as with a linger of 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Of a coordinator. Raises `DocumentError` with the field's name for a value that cannot be."""

    workers: Annotated[int, integer(1, 10_000)] = 4
    """Threads that handle requests (`group.coordinator.threads`)."""
    partitions: Annotated[int, integer(1, 10_000)] = 4
    """Offsets partitions that this broker leads."""
    linger: Lingers = Lingers.QUEUED
    batch_max: Annotated[int, integer(1, COUNT_MAX)] = 1000
    """Records in a batch; a request with more is a batch of its own."""

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        require_values(self)
