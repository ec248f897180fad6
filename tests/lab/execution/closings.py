"""Which offsets are on the broker after a member has closed its consumer: real clients.

A member processes ten records of two partitions, and calls `close` while nothing, an asynchronous
commit or one whose time is over is pending; in a calm group, or in a rebalance of which its
application has not heard yet. Commits take a tenth of a second on this broker (its linger), so that
an answer never comes before `close` is called.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from time import sleep
from typing import NamedTuple

from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.lab.execution.programs import Clients, Line, clients
from tests.lab.execution.rebalances import Kind

TOPIC = "processed"
PARTITIONS = 2
RECORDS = 10
"""What a member processes; each partition has more."""
PENDING_OFFSET = 3
"""What a pending commit commits, of each partition."""
LINGER_MS = 100
HEARTBEAT_MS = 300
NEVER_MS = 3_600_000
"""The interval of automatic commits: only `close` makes one."""
PATIENCE_S = 30.0
SETTINGS = {
    "group.coordinator.append.linger.ms": str(LINGER_MS),
    "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.session.timeout.ms": "45000",
}


class Commit(StrEnum):
    """What is pending when `close` is called."""

    NONE = "none"
    ASYNC = "commitAsync"
    SYNC = "commitSync that timed out"


class Left(StrEnum):
    """Which offsets are on the broker afterwards."""

    PROCESSED = "processed"
    """Those of all records that were processed."""
    PENDING = "pending"
    """Those of the pending commit."""
    NOTHING = "nothing"
    OTHER = "other"


class Cell(NamedTuple):
    """A way to close."""

    kind: Kind
    is_auto: bool
    """`enable.auto.commit`"""
    pending: Commit
    timeout_ms: int
    """The argument of `close`."""
    is_rebalancing: bool

    @property
    def name(self) -> str:
        """Return a name for its group."""
        words = (self.kind, self.is_auto, self.pending.name, self.timeout_ms, self.is_rebalancing)
        return "-".join(str(word).lower() for word in words)


class Closed(NamedTuple):
    """What came of it."""

    left: Left
    answer: str
    """What the callback of the asynchronous commit said: `accepted`, an error, or `never`."""
    close: str
    """What `close` did: `returned`, or its exception."""
    took_ms: float


CELLS = tuple(
    Cell(*each)
    for each in itertools.product(
        (Kind.EAGER, Kind.CONSUMER), (True, False), Commit, (5000, 0), (False, True)
    )
)


def play(cells: Sequence[Cell], *, repetitions: int, folder: Path) -> dict[Cell, list[Closed]]:
    """Close a member in each way, so often; the cells of a repetition run side by side."""
    found: dict[Cell, list[Closed]] = {cell: [] for cell in cells}
    with Broker(SETTINGS) as broker:
        Admin(broker.bootstrap).create_topics({TOPIC: PARTITIONS})
        with clients(broker.bootstrap, folder / "closings.err") as process:
            process.fill(TOPIC, partitions=PARTITIONS, records=2 * RECORDS)
            for repetition in range(repetitions):
                with ThreadPoolExecutor(len(cells)) as pool:
                    played = {
                        cell: pool.submit(_play, broker, process, cell, repetition)
                        for cell in cells
                    }
                    for cell, each in played.items():
                        found[cell].append(each.result())
    return found


def _play(broker: Broker, process: Clients, cell: Cell, repetition: int) -> Closed:
    group = f"{cell.name}-{repetition}"
    member, other = f"{group}.a", f"{group}.b"
    _start(process, cell, group, member, stop__after=RECORDS)
    _await(process, member, "stopped")
    if cell.is_rebalancing:
        _start(process, cell, group, other)
        sleep(4 * HEARTBEAT_MS / 1000)
    if cell.pending is Commit.ASYNC:
        process.do(member, "commit-async", str(PENDING_OFFSET))
    elif cell.pending is Commit.SYNC:
        process.do(member, "commit-sync", f"{PENDING_OFFSET}/1")
    process.do(member, "close", str(cell.timeout_ms))
    _await(process, member, "closed")
    sleep(1.0)
    committed = Admin(broker.bootstrap).committed(group)
    if cell.is_rebalancing:
        process.do(other, "close", "0")
    return _closed(process.of(member), [each for each in committed.values() if each >= 0])


def _start(process: Clients, cell: Cell, group: str, name: str, **more: object) -> None:
    classic = {"heartbeat_interval_ms": HEARTBEAT_MS, "session_timeout_ms": 45_000}
    process.start(
        name,
        group_id=group,
        topics=TOPIC,
        poll__ms=100,
        enable_auto_commit=str(cell.is_auto).lower() if more else "false",
        auto_commit_interval_ms=NEVER_MS,
        **cell.kind.settings,
        **({} if cell.kind is Kind.CONSUMER else classic),
        **more,
    )


def _await(process: Clients, member: str, event: str) -> None:
    def is_there() -> bool:
        return any(line.event == event for line in process.of(member))

    if not process.wait(is_there, timeout_s=PATIENCE_S):
        raise TimeoutError(f"{member}: never {event}")


def _closed(lines: Sequence[Line], offsets: Sequence[int]) -> Closed:
    if sum(offsets) == RECORDS:
        left = Left.PROCESSED
    elif set(offsets) == {PENDING_OFFSET}:
        left = Left.PENDING
    else:
        left = Left.OTHER if offsets else Left.NOTHING
    answers = [line.text or "accepted" for line in lines if line.event == "committed"]
    errors = [line.text.removeprefix("close ") for line in lines if line.text.startswith("close ")]
    begun = next(line.at_us for line in lines if line.event == "does-close")
    took_us = next(line.at_us for line in lines if line.event == "closed") - begun
    answer = answers[0] if answers else "never"
    return Closed(left, answer, errors[0] if errors else "returned", took_us / 1000)


def predicted(cell: Cell) -> frozenset[Left]:
    """Return what Java's order of closing allows: commit, wait, leave.

    Where `close` has time to wait, every commit is on the broker. Where it has none, nobody reads
    the last answers, and any commit may be lost.
    """
    outcomes = {True} if cell.timeout_ms else {True, False}
    processed_kept = outcomes if cell.is_auto else {False}
    pending_kept = {False} if cell.pending is Commit.NONE else outcomes
    return frozenset(
        Left.PROCESSED if processed else Left.PENDING if pending else Left.NOTHING
        for processed, pending in itertools.product(processed_kept, pending_kept)
    )
