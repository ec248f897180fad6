"""How long a rebalance takes while a member polls rarely, or stalls: real groups.

Member `a` is there all the time, reads a topic that always has records, and is busy after each one
it polls, for the poll interval; members `b0`, `b1`, ... come and go, at random phases of its polls
and heartbeats, and are quick. Groups run side by side: nearly all of it is waiting.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from assignors.simulation.timed.random_streams import stream
from tests.interop.admin import Admin
from tests.interop.broker import Broker
from tests.lab.execution.programs import Clients, Line, clients

TOPIC = "records"
PARTITIONS = 4
RECORDS = 30_000
"""Of each partition: more than a member reads in a run."""
HEARTBEAT_MS = 1000
QUICK_MS = 20
"""The poll interval of members that come and go."""
CLIENT = "org.apache.kafka.clients.consumer"
PATIENCE_S = 60.0
MILLI = 1000
SETTINGS = {
    "group.consumer.heartbeat.interval.ms": str(HEARTBEAT_MS),
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.session.timeout.ms": "45000",
}
"""Of the broker. Targets are computed at once: only polls and heartbeats make anybody wait."""


class Kind(StrEnum):
    """A protocol, as members use it."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"

    @property
    def settings(self) -> dict[str, object]:
        """Return what makes a Java consumer use it."""
        return _SETTINGS[self]


_SETTINGS: dict[Kind, dict[str, object]] = {
    Kind.EAGER: {"partition_assignment_strategy": f"{CLIENT}.RangeAssignor"},
    Kind.COOPERATIVE: {"partition_assignment_strategy": f"{CLIENT}.CooperativeStickyAssignor"},
    Kind.CONSUMER: {"group_protocol": "consumer"},
}


class Cell(NamedTuple):
    """A group: its protocol, how rarely `a` polls, and whether it stalls when `b` comes or goes."""

    kind: Kind
    poll_ms: int
    stall_ms: int = 0

    @property
    def name(self) -> str:
        """Return a name for its group."""
        return f"{self.kind}-{self.poll_ms}-{self.stall_ms}"


class Took(NamedTuple):
    """One join or one leave."""

    verb: str
    """`join` or `leave`"""
    took_ms: float
    """From the member's first call, or that of close(), until every partition has its owner."""


POLLS_MS = (10, 100, 500, 1000, 3000)
STALLED = (100, 3000)
"""A poll interval, and a stall."""
CELLS = (
    *(Cell(kind, poll_ms) for kind in Kind for poll_ms in POLLS_MS),
    *(Cell(kind, *STALLED) for kind in Kind),
)


def play(
    cells: Sequence[Cell], *, seconds: float, folder: Path, seed: int = 1
) -> dict[Cell, list[Took]]:
    """Let members come and go in each cell's group for so many seconds."""
    with Broker(SETTINGS) as broker:
        Admin(broker.bootstrap).create_topics({TOPIC: PARTITIONS})
        with (
            clients(broker.bootstrap, folder / "rebalances.err") as process,
            ThreadPoolExecutor(len(cells)) as pool,
        ):
            process.fill(TOPIC, partitions=PARTITIONS, records=RECORDS)
            until = time.monotonic() + seconds
            played = [pool.submit(_play, process, cell, until, seed) for cell in cells]
            return {cell: each.result() for cell, each in zip(cells, played, strict=True)}


def _play(process: Clients, cell: Cell, until: float, seed: int) -> list[Took]:
    dice = stream(seed, cell.name, "phase")
    resident = f"{cell.name}-a"
    _start(process, cell, resident, cell.poll_ms)
    _settled(process, resident)
    found: list[Took] = []
    number = 0
    while time.monotonic() < until:
        guest = f"{cell.name}-b{number}"
        number += 1
        _phase(cell, dice.below(1000))
        _stall(process, cell, resident)
        _start(process, cell, guest, QUICK_MS)
        if not _settled(process, resident, guest):
            break
        found += _took(process.of(resident, guest), guest, "join")
        _phase(cell, dice.below(1000))
        _stall(process, cell, resident)
        process.do(guest, "close", "30000")
        if not _settled(process, resident):
            break
        found += _took(process.of(resident, guest), guest, "leave")
    return found


def _start(process: Clients, cell: Cell, name: str, busy_ms: int) -> None:
    process.start(
        name,
        group_id=cell.name,
        topics=TOPIC,
        busy__ms=busy_ms,
        poll__ms=100,
        **cell.kind.settings,
        **({} if cell.kind is Kind.CONSUMER else {"heartbeat_interval_ms": HEARTBEAT_MS}),
    )


def _phase(cell: Cell, share: int) -> None:
    """Wait until what was before has calmed down, and for a random part of the slowest cycle."""
    cycle_s = max(cell.poll_ms, HEARTBEAT_MS) / 1000
    time.sleep(1.0 + cycle_s + cycle_s * share / 1000)


def _stall(process: Clients, cell: Cell, resident: str) -> None:
    if cell.stall_ms:
        process.do(resident, "stall", str(cell.stall_ms))


def _settled(process: Clients, *names: str) -> bool:
    """Wait until every partition has one owner, and every member has some."""

    def is_settled() -> bool:
        owned = owned_by(process.of(*names))
        counts = [len(owned.get(name, ())) for name in names]
        return sum(counts) == PARTITIONS and min(counts) > 0

    return process.wait(is_settled, timeout_s=PATIENCE_S)


def owned_by(lines: Iterable[Line]) -> dict[str, frozenset[str]]:
    """Return what each member owns after these reports."""
    owned: dict[str, frozenset[str]] = {}
    for line in lines:
        before = owned.get(line.member, frozenset())
        if line.event == "assigned":
            owned[line.member] = before | frozenset(line.partitions)
        elif line.event in ("revoked", "lost"):
            owned[line.member] = before - frozenset(line.partitions)
        elif line.event == "closed":
            owned[line.member] = frozenset()
    return owned


def _took(lines: Sequence[Line], guest: str, verb: str) -> list[Took]:
    """Return how long the guest's last verb took, up to the last partition assigned after it."""
    event = "subscribed" if verb == "join" else "does-close"
    began = max(line.at_us for line in lines if line.member == guest and line.event == event)
    ends = [
        line.at_us
        for line in lines
        if line.event == "assigned" and line.partitions and line.at_us > began
    ]
    return [Took(verb, (max(ends) - began) / MILLI)] if ends else []
