"""Real members in crowds: one process for all members of a group, a thread each.

Members of kafka-python have a process each, as consumers have everywhere: as threads of one they
wait for Python's lock, and a round of thirty is mostly that. All newcomers of a group share one,
one after the other: a process that never had a member starts and joins slowly.

What they report carries the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assignors.ownership.changes import Change
from tests.interop.install import BROKER, ROOT, class_path, classes
from tests.lab.calibrate.plan import KINDS, TOPIC, Plan
from tests.lab.execution.programs import end_program

SOURCE = Path(__file__).resolve().parent / "programs" / "Crowd.java"
FETCH_WAIT_MS = 5000
"""Nothing is written to the topics: a fetch waits at the broker, and costs nothing meanwhile."""
READY_S = 60
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


@dataclass(slots=True, kw_only=True)
class Crowd:
    """The members of one group. Whoever makes one ends it."""

    processes: Sequence[subprocess.Popen[str]]
    own: Mapping[str, int]
    """Member -> which of the processes is its own; the others share the last one."""
    lines: list[Line] = field(default_factory=list)
    _ready: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    _readers: list[threading.Thread] = field(init=False)

    def __post_init__(self) -> None:
        """Read what the members report, in a thread for each process."""
        self._readers = [
            threading.Thread(target=self._read, args=(each,), daemon=True)
            for each in self.processes
        ]
        for reader in self._readers:
            reader.start()

    def ask(self, verb: str, member: str) -> None:
        """Let a member start or stop."""
        process = self.processes[self.own.get(member, -1)]
        assert process.stdin is not None
        process.stdin.write(f"{verb} {member}\n")
        process.stdin.flush()

    def wait(self) -> None:
        """Wait until members may be started."""
        for _ in self.processes:
            if not self._ready.acquire(timeout=READY_S):
                raise TimeoutError("the program of the members does not start")

    def end(self) -> None:
        """End the processes and every member in them."""
        for process in self.processes:
            process.kill()
        for process, reader in zip(self.processes, self._readers, strict=True):
            end_program(process, reader)

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            at, member, event, partitions = json.loads(line)
            if event == "ready":
                self._ready.release()
            else:
                self.lines.append(
                    Line(at=at // NANO, member=member, event=event, partitions=tuple(partitions))
                )


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
    with errors.open("ab") as file:
        processes = [
            subprocess.Popen(
                [*_command(kind.client), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                cwd=ROOT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
            for _ in range(len(stay) + 1)
        ]
    return Crowd(processes=processes, own={name: place for place, name in enumerate(stay)})


def _command(client: str) -> list[str]:
    if client != "java":
        return [sys.executable, "-m", "tests.lab.calibrate.programs.crowd"]
    return [
        *("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"),
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
        *("-cp", class_path(CROWD.made(), BROKER.made()), "Crowd"),
    ]


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
