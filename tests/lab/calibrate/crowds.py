"""Real members in crowds: one process for all members of a group, a thread each.

Members of kafka-python have a process each, as consumers have everywhere: as threads of one they
wait for Python's lock, and a round of thirty is mostly that. All newcomers of a group share one,
one after the other: a process that never had a member starts and joins slowly.

What they report carries the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assignors.ownership.changes import Change
from tests.interop.install import BROKER, class_path, classes
from tests.interop.program import JVM, Program
from tests.lab.calibrate.plan import KINDS, TOPIC, Plan

SOURCE = Path(__file__).resolve().parent / "programs" / "Crowd.java"
FETCH_WAIT_MS = 5000
"""Nothing is written to the topics: a fetch waits at the broker, and costs nothing meanwhile."""
NANO = 1000
"""Nanoseconds in a microsecond."""
APART = frozenset({"kafka-python"})
"""Clients whose members have a process each."""


CROWD = classes("members/crowd", [SOURCE], BROKER)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What a member reports."""

    at: int
    """Microseconds of the monotonic clock."""
    member: str
    event: str
    """`starting`, `assigned`, `revoked`, `lost`, `closing`, `closed` or `died`."""
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """The members of one group. Whoever makes one ends it."""

    programs: Sequence[Program]
    own: Mapping[str, int]
    """Member -> which of the processes is its own; the others share the last one."""

    def ask(self, verb: str, member: str) -> None:
        """Let a member start or stop."""
        self.programs[self.own.get(member, -1)].ask(f"{verb} {member}")

    def wait(self) -> None:
        """Wait until members may be started."""
        for program in self.programs:
            program.ready(program.lines.__len__)

    def end(self) -> None:
        """End the processes and every member in them."""
        for program in self.programs:
            program.end()

    @property
    def lines(self) -> list[Line]:
        """What the members have reported."""
        return [
            Line(at=at // NANO, member=member, event=event, partitions=tuple(partitions))
            for program in self.programs
            for at, member, event, partitions in program.lines
            if event != "ready"
        ]


def start_crowd(plan: Plan, *, bootstrap: str, group: str, topic: str, errors: Path) -> Crowd:
    """Start the processes in which a group's members will run."""
    cell = plan.cell
    kind = KINDS[cell.kind]
    flags = {
        "client": kind.client,
        "bootstrap": bootstrap,
        "group": group,
        "topic": topic,
        "protocol": kind.protocol.value,
        "assignor": kind.assignor,
        "heartbeat-ms": str(cell.heartbeat_ms),
        "fetch-wait-ms": str(FETCH_WAIT_MS),
    }
    words = [word for name, value in flags.items() for word in (f"--{name}", value)]
    stay = [name for _, name in plan.starts] if kind.client in APART else []
    programs = [
        Program([*_command(kind.client), *words], errors=errors) for _ in range(len(stay) + 1)
    ]
    return Crowd(programs=programs, own={name: place for place, name in enumerate(stay)})


def _command(client: str) -> list[str]:
    if client != "java":
        return [sys.executable, "-m", "tests.lab.calibrate.programs.crowd"]
    return [*JVM, "-cp", class_path(CROWD.made(), BROKER.made()), "Crowd"]


def changes_of(lines: Iterable[Line]) -> list[Change]:
    """Return who consumed what from when on, by what the members report."""
    owned: dict[str, frozenset[int]] = {}
    found = []
    for line in sorted(lines, key=lambda line: line.at):
        before = owned.get(line.member, frozenset())
        after = _after(line, before)
        if after != before:
            owned[line.member] = after
            partitions = {TOPIC: tuple(sorted(after))} if after else {}
            found.append(
                Change(at=line.at, member_id=line.member, owned=partitions, reason=line.event)
            )
    return found


def _after(line: Line, owned: frozenset[int]) -> frozenset[int]:
    if line.event == "assigned":
        return owned | frozenset(line.partitions)
    if line.event in ("revoked", "lost"):
        return owned - frozenset(line.partitions)
    return owned if line.event in ("starting", "closing") else frozenset()


def versions() -> dict[str, str]:
    """Return the version of every client."""
    import confluent_kafka  # noqa: PLC0415 - members alone need the clients
    import kafka  # noqa: PLC0415 - as above

    (jar,) = BROKER.made().glob("kafka-clients-*.jar")
    return {
        "librdkafka": confluent_kafka.libversion()[0],
        "java": jar.stem.removeprefix("kafka-clients-"),
        "kafka-python": kafka.__version__,
    }
