"""Members of every client, as programs to start, stop, kill, freeze and ask.

A kind is a client in one version with one set of strategies; a `Member` is one process of a
kind. What it says is read by a thread of its own into a list that the whole group shares, in
the order of each member's own lines.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from tests.interop.events import Event, Partition, now_ms, parse
from tests.interop.install import BROKER, CLASSES, CLIENTS_24, CLIENTS_31, GO, NODE, ROOT
from tests.interop.install import class_path as java_path

CLOSE_S = 15.0
PROGRAMS = "tests.foreign.members.python"

JVM = (
    *("java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"),
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Flags:
    """What a member program is told; names as on its command line, `-` for `_`."""

    bootstrap: str
    group: str
    topics: tuple[str, ...]
    assignors: tuple[str, ...] = ("cooperative-sticky",)
    client_id: str = ""
    instance: str = ""
    rack: str = ""
    session_timeout_ms: int = 6000
    heartbeat_ms: int = 200
    rebalance_timeout_ms: int = 30_000
    metadata_max_age_ms: int = 2000
    group_protocol: str = "classic"
    api_version: str = ""
    """Sarama's `Config.Version`; empty for its default."""
    strategies: str = "shipped"
    """Of the Python clients: those they ship, or `ours`."""

    def words(self) -> list[str]:
        """The command line behind the program's name."""
        words = []
        for one in fields(self):
            value = getattr(self, one.name)
            joined = ",".join(value) if isinstance(value, tuple) else str(value)
            words += [f"--{one.name.replace('_', '-')}", joined]
        return words


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A client in one version, and what of it is always the same."""

    command: Callable[[], list[str]]
    told: Mapping[str, Any] = field(default_factory=dict)
    """Flags that make the kind."""


def _java(jars: Callable[[], Path]) -> Callable[[], list[str]]:
    return lambda: [*JVM, "-cp", java_path(CLASSES.made(), jars()), "Member"]


def _python(module: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, "-m", f"{PROGRAMS}.{module}"]


KINDS: Mapping[str, Kind] = {
    "java44": Kind(command=_java(BROKER.made)),
    "java31": Kind(command=_java(CLIENTS_31.made)),
    "java24": Kind(command=_java(CLIENTS_24.made)),
    "java848": Kind(command=_java(BROKER.made), told={"group_protocol": "consumer"}),
    "sarama": Kind(command=lambda: [str(GO.made() / "sarama")]),
    "sarama36": Kind(command=lambda: [str(GO.made() / "sarama")], told={"api_version": "3.6.0"}),
    "franz": Kind(command=lambda: [str(GO.made() / "franz")]),
    "kjs": Kind(command=lambda: ["node", str(NODE.made() / "kafkajs.js")]),
    "ck": Kind(command=_python("confluent_member")),
    "kp": Kind(command=_python("kafka_python_member")),
    "aio": Kind(command=_python("aiokafka_member")),
    "kpp": Kind(command=_python("kafka_python_member"), told={"strategies": "ours"}),
    "aiop": Kind(command=_python("aiokafka_member"), told={"strategies": "ours"}),
}
"""Every kind by its name: client and version, `p` at the end for our plug-in."""


class Member:
    """One member program. Started by `start`; whoever makes one ends it with `end`."""

    def __init__(
        self, kind: str, name: str, flags: Flags, *, events: list[Event], folder: Path
    ) -> None:
        self.kind = kind
        self.name = name
        self.flags = replace(flags, client_id=name, **KINDS[kind].told)
        self.owned: frozenset[Partition] = frozenset()
        """What the member says it has, by its newest line."""
        self.is_paused = False
        self._events = events
        self._errors = folder / f"{name}.err"
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._heard = threading.Condition()

    @property
    def is_alive(self) -> bool:
        """Whether the process runs, frozen or not."""
        return self._process is not None and self._process.poll() is None

    @property
    def topics(self) -> tuple[str, ...]:
        """What it subscribes to, by what it was last told."""
        return self.flags.topics

    @property
    def events(self) -> list[Event]:
        """All it said so far, over all its lives."""
        return [event for event in self._events if event.member == self.name]

    @property
    def errors(self) -> list[str]:
        """What its client complained about."""
        return [event.text for event in self.events if event.kind == "error"]

    def start(self) -> None:
        """Start the program."""
        assert not self.is_alive, f"{self.name} runs"
        self.is_paused = False
        with self._errors.open("ab") as errors:
            self._process = subprocess.Popen(
                [*KINDS[self.kind].command(), *self.flags.words()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                cwd=ROOT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, args=(self._process,), daemon=True)
        self._reader.start()

    def tell(self, command: str) -> None:
        """Write a command; nothing happens where the program is gone."""
        if self._process is None or self._process.stdin is None:
            return
        # Where the program is gone, its end is an event of its own.
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()

    def subscribe(self, *topics: str) -> None:
        """Change the subscription of the running member."""
        self.flags = replace(self.flags, topics=topics)
        self.tell(f"subscribe {','.join(topics)}")

    def close(self, *, timeout_s: float = CLOSE_S) -> int | None:
        """Let it leave in peace; its exit code, or None where it had to be killed."""
        self.tell("close")
        assert self._process is not None
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return None
        self._ended()
        return code

    def kill(self) -> None:
        """End it at once: no commit, no farewell."""
        if self._process is None:
            return
        was_alive = self.is_alive
        self._process.kill()
        killed_ms = now_ms()
        self._process.wait()
        self._ended()
        self.owned = frozenset()
        if was_alive:
            self._add(Event(t_ms=killed_ms, member=self.name, kind="killed"))

    def pause(self) -> None:
        """Freeze the process: it owns on, without a sign of life."""
        self._signal(signal.SIGSTOP)
        self.is_paused = True
        self._add(Event(t_ms=now_ms(), member=self.name, kind="paused"))

    def resume(self) -> None:
        """Let it go on, not knowing how long it slept."""
        self._add(Event(t_ms=now_ms(), member=self.name, kind="resumed"))
        self.is_paused = False
        self._signal(signal.SIGCONT)

    def restart(self, **changes: Any) -> None:
        """Close, change flags, start again."""
        self.close()
        self.flags = replace(self.flags, **changes)
        self.start()

    def end(self) -> None:
        """Be gone, in whatever state it is: for the end of a test."""
        self.kill()

    def wait_for(
        self, is_reached: Callable[[frozenset[Partition]], bool], *, timeout_s: float
    ) -> bool:
        """Wait until what the member says it owns fulfils a condition; false if it never does."""
        until = time.monotonic() + timeout_s
        with self._heard:
            while not is_reached(self.owned):
                if not self._heard.wait(until - time.monotonic()):
                    return is_reached(self.owned)
        return True

    def wait_for_view(self, *, timeout_s: float = 2.0) -> frozenset[Partition] | None:
        """Ask for a view and wait for the answer; None where none comes in time."""
        since, until = now_ms(), time.monotonic() + timeout_s
        self.tell("view")
        with self._heard:
            while True:
                answers = [
                    event
                    for event in self._events
                    if event.member == self.name and event.kind == "view" and event.t_ms >= since
                ]
                if answers:
                    return answers[0].partitions
                if not self._heard.wait(until - time.monotonic()):
                    return None

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _ended(self) -> None:
        """Read to the last line, so that nothing the process said comes after its end."""
        assert self._process is not None
        assert self._reader is not None
        self._reader.join(CLOSE_S)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            # What was not flushed to a program that is gone cannot be, nor needs it.
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        has_closed = False
        for line in process.stdout:
            event = parse(line, self.name)
            has_closed = has_closed or event.kind == "closed"
            self._add(event)
        code = process.wait()
        if not has_closed and code != -signal.SIGKILL:
            text = f"exit code {code}"
            self._add(Event(t_ms=now_ms(), member=self.name, kind="died", text=text))

    def _add(self, event: Event) -> None:
        with self._heard:
            self._events.append(event)
            if event.kind == "assigned":
                self.owned |= event.partitions
            elif event.kind in ("revoked", "lost"):
                self.owned -= event.partitions
            elif event.kind == "view":
                self.owned = event.partitions
            elif event.kind in ("closed", "died", "killed"):
                self.owned = frozenset()
            self._heard.notify_all()
