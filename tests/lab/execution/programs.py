"""The two Java programs that are measured with: members of groups, and a load of commits."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.interop.install import BROKER, class_path, classes
from tests.interop.program import JVM, READY_S, Program
from tests.waiting import comes

SOURCES = Path(__file__).resolve().parent / "programs"
JAVA = (SOURCES / "Clients.java", SOURCES / "CommitLoad.java")
NANO = 1000
"""Nanoseconds in a microsecond."""


PROGRAMS = classes("members/execution", JAVA, BROKER)


class Line(NamedTuple):
    """What a member reports."""

    at_us: int
    """Microseconds of the monotonic clock."""
    member: str
    event: str
    call: str
    """The call of the consumer in which it happened; empty outside all of them."""
    thread: str
    """`application`: the thread that calls the consumer; else the thread's name."""
    partitions: tuple[str, ...]
    text: str


class Clients:
    """Members of groups in one process, a thread each. Whoever makes one ends it."""

    def __init__(self, bootstrap: str, errors: Path) -> None:
        command = _command("Clients", "--bootstrap", bootstrap)
        self._program = Program(command, errors=errors)
        self.end, self.wait = self._program.end, self._program.wait

    def ready(self) -> None:
        """Wait until members may be started."""
        self._program.ready(lambda: self.of(""))

    def fill(self, topic: str, *, partitions: int, records: int) -> None:
        """Write so many records to each partition of a topic."""
        self._program.ask(f"fill {topic} {partitions} {records}")
        self.wait(lambda: any(line.text == topic for line in self.of("")))

    def start(self, name: str, **settings: object) -> None:
        """Start a member; `_` in the name of a setting stands for `.`, `__` for `-`."""
        words = [
            f"{each.replace('__', '-').replace('_', '.')}={value}"
            for each, value in settings.items()
        ]
        self._program.ask(" ".join(("start", name, *words)))

    def do(self, name: str, verb: str, argument: str = "") -> None:
        """Let a member do something between two calls of `poll`."""
        self._program.ask(f"do {name} {verb} {argument}".strip())

    def of(self, *names: str) -> list[Line]:
        """Return what some members have reported, in order; the process's own name is empty."""
        with self._program.changed:
            said = list(self._program.lines)
        found = [
            Line(at // NANO, member, event, call, thread, tuple(partitions), text)
            for at, member, event, call, thread, partitions, text in said
            if member in names
        ]
        return sorted(found, key=lambda line: line.at_us)

    def rest(self, *names: str, quiet_s: float, timeout_s: float = 30.0) -> None:
        """Wait until some members have not reported anything for a while."""
        seen = [len(self.of(*names)), time.monotonic()]

        def is_quiet() -> bool:
            count = len(self.of(*names))
            if count != seen[0]:
                seen[:] = count, time.monotonic()
            return time.monotonic() - seen[1] >= quiet_s

        comes(is_quiet, within_s=timeout_s)


class CommitLoad:
    """A program that commits offsets at random times, and measures how long that takes."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def play(self, rate: int, *, seconds: float, warm_seconds: float, seed: int) -> dict[str, Any]:
        """Commit so often a second; what it measured, as the program reports it."""
        before = len(self._program.lines)
        self._program.ask(f"{rate} {seconds} {warm_seconds} {seed}")
        longest_s = READY_S + seconds + warm_seconds
        self._program.wait(lambda: len(self._program.lines) > before, timeout_s=longest_s)
        found: dict[str, Any] = self._program.lines[before]
        return found


@contextmanager
def clients(bootstrap: str, errors: Path) -> Iterator[Clients]:
    """Start a process for members of groups."""
    started = Clients(bootstrap, errors)
    with ExitStack() as ends:
        ends.callback(started.end)
        started.ready()
        yield started


@contextmanager
def commit_load(
    bootstrap: str, errors: Path, *, topic: str, groups: int, partitions: int, connections: int
) -> Iterator[CommitLoad]:
    """Start a load of commits; `partitions` are those of `__consumer_offsets`."""
    flags = {
        "bootstrap": bootstrap,
        "topic": topic,
        "groups": groups,
        "offsets-partitions": partitions,
        "connections": connections,
    }
    words = [word for name, value in flags.items() for word in (f"--{name}", str(value))]
    program = Program(_command("CommitLoad", *words), errors=errors)
    with ExitStack() as ends:
        ends.callback(program.end)
        program.ready(lambda: program.lines == [{"ready": True}])
        yield CommitLoad(program)


def _command(*words: str) -> list[str]:
    return [*JVM, "-cp", class_path(PROGRAMS.made(), BROKER.made()), *words]
