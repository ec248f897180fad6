"""A program of ours that is told what to do by lines and says what happens by lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.interop.install import ROOT

READY_S = 60.0
JVM = (
    *("java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"),
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
)
"""A Java program that lives for minutes."""


class Program:
    """A running program. Whoever makes one ends it."""

    def __init__(self, command: Sequence[str], *, errors: Path) -> None:
        self.lines: list[Any] = []
        """What it has said."""
        self.changed = threading.Condition()
        """Notified after each line."""
        with errors.open("ab") as file:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                cwd=ROOT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                start_new_session=True,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, line: str) -> None:
        """Write a line to it."""
        assert self._process.stdin is not None
        with self.changed:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()

    def wait(self, is_so: Callable[[], object], *, timeout_s: float = READY_S) -> bool:
        """Wait until something is so, after a line; false if that does not happen."""
        with self.changed:
            return bool(self.changed.wait_for(is_so, timeout_s))

    def ready(self, is_so: Callable[[], object]) -> None:
        """Wait until it has started: `TimeoutError` where it does not."""
        if not self.wait(is_so):
            raise TimeoutError(f"does not start: {self._process.args!r}")

    def end(self) -> None:
        """End the process, and read it to its end."""
        self._process.kill()
        self._process.wait()
        self._reader.join(READY_S)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for text in self._process.stdout:
            line = json.loads(text)
            with self.changed:
                self.lines.append(line)
                self.changed.notify_all()
