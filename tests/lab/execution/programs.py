"""The two Java programs that are measured with: members of groups, and a load of commits."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from tests.interop.install import BROKER, ROOT, class_path, classes

SOURCES = Path(__file__).resolve().parent / "programs"
JAVA = (SOURCES / "Clients.java", SOURCES / "CommitLoad.java")
READY_S = 60.0
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


def end_program(process: subprocess.Popen[str], reader: threading.Thread) -> None:
    """End a program that is talked to through pipes, and the thread that reads what it writes."""
    process.kill()
    process.wait()
    reader.join(READY_S)
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        with contextlib.suppress(BrokenPipeError):
            pipe.close()


class Clients:
    """Members of groups in one process, a thread each. Whoever makes one ends it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._lines: dict[str, list[Line]] = defaultdict(list)
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def fill(self, topic: str, *, partitions: int, records: int) -> None:
        """Write so many records to each partition of a topic."""
        self._ask(f"fill {topic} {partitions} {records}")
        self.wait(lambda: any(line.text == topic for line in self.of("")), timeout_s=READY_S)

    def start(self, name: str, **settings: object) -> None:
        """Start a member; `_` in the name of a setting stands for `.`, `__` for `-`."""
        words = [
            f"{each.replace('__', '-').replace('_', '.')}={value}"
            for each, value in settings.items()
        ]
        self._ask(" ".join(("start", name, *words)))

    def do(self, name: str, verb: str, argument: str = "") -> None:
        """Let a member do something between two calls of `poll`."""
        self._ask(f"do {name} {verb} {argument}".strip())

    def of(self, *names: str) -> list[Line]:
        """Return what some members have reported, in order; the process's own name is empty."""
        with self._changed:
            lines = [line for name in names for line in self._lines[name]]
            return sorted(lines, key=lambda line: line.at_us)

    def wait(self, is_so: Callable[[], bool], *, timeout_s: float) -> bool:
        """Wait until something is so, after a report; false if that does not happen."""
        with self._changed:
            return self._changed.wait_for(is_so, timeout_s)

    def rest(self, *names: str, quiet_s: float, timeout_s: float = 30.0) -> None:
        """Wait until some members have not reported anything for a while."""
        until = time.monotonic() + timeout_s
        before, since = -1, time.monotonic()
        while time.monotonic() < until:
            count = len(self.of(*names))
            if count != before:
                before, since = count, time.monotonic()
            elif time.monotonic() - since >= quiet_s:
                return
            time.sleep(0.02)

    def end(self) -> None:
        """End the process and every member in it."""
        end_program(self._process, self._reader)

    def _ask(self, line: str) -> None:
        assert self._process.stdin is not None
        with self._changed:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for text in self._process.stdout:
            at, member, event, call, thread, partitions, rest = json.loads(text)
            line = Line(at // NANO, member, event, call, thread, tuple(partitions), rest)
            with self._changed:
                self._lines[member].append(line)
                self._changed.notify_all()


class CommitLoad:
    """A program that commits offsets at random times, and measures how long that takes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def play(self, rate: int, *, seconds: float, warm_seconds: float, seed: int) -> dict[str, Any]:
        """Commit so often a second; what it measured, as the program reports it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{rate} {seconds} {warm_seconds} {seed}\n")
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found


@contextmanager
def clients(bootstrap: str, errors: Path) -> Iterator[Clients]:
    """Start a process for members of groups."""
    with errors.open("ab") as file:
        process = _java("256m", "Clients", "--bootstrap", bootstrap, errors=file)
    started = Clients(process)
    try:
        if not started.wait(lambda: bool(started.of("")), timeout_s=READY_S):
            raise TimeoutError("the program of the members does not start")
        yield started
    finally:
        started.end()


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
    with errors.open("ab") as file:
        process = _java("256m", "CommitLoad", *words, errors=file)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert json.loads(process.stdout.readline()) == {"ready": True}
        yield CommitLoad(process)
    finally:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()


def _java(memory: str, *words: str, errors: IO[bytes]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *("java", f"-Xmx{memory}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
            *("-XX:-UsePerfData", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
            *("-cp", class_path(PROGRAMS.made(), BROKER.made()), *words),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        cwd=ROOT,
        start_new_session=True,
    )
