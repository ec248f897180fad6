"""Real members in crowds: one process for all members of a group, a thread each.

What they report carries the monotonic clock, which all processes of a machine share.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from assignors.ownership.changes import Change
from tests.foreign.calibrate.plan import KINDS, TOPIC, Cell
from tests.interop.install import BROKER, ROOT, STEP_S, Step, class_path

SOURCE = Path(__file__).resolve().parent / "programs" / "Crowd.java"
FETCH_WAIT_MS = 5000
"""Nothing is written to the topics: a fetch waits at the broker, and costs nothing meanwhile."""
READY_S = 60
NANO = 1000
"""Nanoseconds in a microsecond."""


def _compile(target: Path) -> None:
    options = ["-encoding", "UTF-8", "-cp", class_path(BROKER.made())]
    command = ["javac", *options, "-d", str(target), str(SOURCE)]
    subprocess.run(command, check=True, timeout=STEP_S)


CROWD = Step(
    name="crowd",
    tools=("javac", *BROKER.tools),
    made_from=(SOURCE, *BROKER.made_from),
    make=_compile,
)


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

    process: subprocess.Popen[str]
    lines: list[Line] = field(default_factory=list)
    _ready: threading.Event = field(default_factory=threading.Event)
    _reader: threading.Thread = field(init=False)

    def __post_init__(self) -> None:
        """Read what the members report, in a thread of its own."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, verb: str, member: str) -> None:
        """Let a member start or stop."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{verb} {member}\n")
        self.process.stdin.flush()

    def wait(self) -> None:
        """Wait until members may be started."""
        if not self._ready.wait(READY_S):
            raise TimeoutError("the program of the members does not start")

    def end(self) -> None:
        """End the process and every member in it."""
        self.process.kill()
        self.process.wait()
        self._reader.join(READY_S)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            at, member, event, partitions = json.loads(line)
            if event == "ready":
                self._ready.set()
            else:
                self.lines.append(
                    Line(at=at // NANO, member=member, event=event, partitions=tuple(partitions))
                )


def start_crowd(cell: Cell, *, bootstrap: str, group: str, topic: str, errors: Path) -> Crowd:
    """Start the process in which a group's members will run."""
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
    with errors.open("ab") as file:
        process = subprocess.Popen(
            [*_command(kind.client), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
    return Crowd(process=process)


def _command(client: str) -> list[str]:
    if client != "java":
        return [sys.executable, "-m", "tests.foreign.calibrate.programs.crowd"]
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
