"""Run a program under test: send it requests line by line, and survive whatever it does.

A program is started once and gets one request at a time, a JSON object a line; it answers each
with a line. If it does something else (ends, stays silent, prints something else or half a line,
fills standard error), the vector it was asked fails, and it is started again for the next one.

`ProgramUnderTest` has a process and three threads that read and write its pipes: without them a
full pipe would stop both sides for ever.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Semaphore, Thread
from types import TracebackType
from typing import IO, Self

from assignors.documents.values import Document, described

LINE_LIMIT = 64 * 2**20
"""Longest answer in bytes, far beyond the largest group."""

STDERR_KEPT = 2_000
"""Bytes of standard error that are kept, to explain why a program ended."""

GRACE_SECONDS = 2.0
"""How long a program may take to end once its input has ended."""

FORMS = ("out", "error", "skip")
"""An answer has exactly one of these keys."""


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """The program did not answer."""

    reason: str
    """Why, as a sentence."""
    ended_in_seconds: float | None = None
    """How long it ran, where it ended by itself and printed nothing."""


class ProgramUnderTest:
    """A program under test, started by `start` or the first request, ended with the context."""

    def __init__(self, command: Sequence[str], *, timeout_seconds: float = 10.0) -> None:
        """Keep the command and its arguments; nothing is started."""
        self._command = tuple(command)
        self._timeout_seconds = timeout_seconds
        self._running: _Process | None = None

    def __enter__(self) -> Self:
        """Return itself; nothing is started."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the program: by closing its input, at once if there was an error."""
        if self._running is not None:
            self._running.end(GRACE_SECONDS if kind is None else 0)
            self._running = None

    def start(self) -> None:
        """Start it, if it does not run; `OSError` if that fails."""
        if self._running is None:
            self._running = _Process(self._command)

    def require_waiting(self, seconds: float) -> None:
        """Raise `ChildProcessError` if it ends within so many seconds, though nothing is asked.

        Then no request is what it failed on. It is started for this, and ended.
        """
        process = _Process(self._command)
        try:
            ending = process.ending_unasked(seconds)
        finally:
            process.end(0)
        if ending is not None:
            raise ChildProcessError(f"it {ending}, and was asked nothing")

    def ask(self, request: Document) -> Document | NoAnswer:
        """Return the program's answer, an object with its `id` and `out`, `error` or `skip`.

        `NoAnswer` if it gave none in time, or something else; the next request then starts it
        again. Raises `OSError` if it cannot be started.
        """
        self.start()
        assert self._running, "start() leaves a process or raises"
        line = self._running.exchange(request, self._timeout_seconds)
        answer = _answer_in(line, request["id"]) if isinstance(line, bytes) else line
        if isinstance(answer, NoAnswer):
            # A late answer would be taken for the answer to the next request.
            self._running.end(0)
            self._running = None
        return answer


class _Process:
    """One process and its pipes, from start to end."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603  # what the user asked to be tested
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that its own children end with it
        )
        assert self._process.stdin
        assert self._process.stdout
        assert self._process.stderr
        self._requests: SimpleQueue[bytes | None] = SimpleQueue()
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._lines_wanted = Semaphore(0)
        self._stderr_tail = b""
        self._started_at = time.monotonic()
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        works = (self._write, self._read, self._read_stderr)
        self._threads = [
            Thread(target=work, args=(stream,), daemon=True)
            for work, stream in zip(works, streams, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    def exchange(self, request: Document, timeout_seconds: float) -> bytes | NoAnswer:
        """Send a request; return the line that comes back, or why none did."""
        self._requests.put(json.dumps(request).encode() + b"\n")
        self._lines_wanted.release()
        try:
            line = self._lines.get(timeout=timeout_seconds)
        except Empty:
            return NoAnswer(f"no answer in {timeout_seconds:g} s{self._last_stderr_line()}")
        if line.endswith(b"\n"):
            return line
        if len(line) == LINE_LIMIT:
            return NoAnswer(f"a line of more than {LINE_LIMIT} bytes")
        ending = self._ending(timeout_seconds)
        if line:
            return NoAnswer(f"half a line, then it {ending}")
        has_ended = self._process.returncode is not None
        seconds = time.monotonic() - self._started_at if has_ended else None
        return NoAnswer(f"it {ending}", ended_in_seconds=seconds)

    def ending_unasked(self, seconds: float) -> str | None:
        """Return how it ends within so many seconds; `None` where it does not, or prints a line."""
        self._lines_wanted.release()
        try:
            line = self._lines.get(timeout=seconds)
        except Empty:
            return None
        return None if line else self._ending(seconds)

    def end(self, grace_seconds: float) -> None:
        """Close its input, wait so long for it to end, then kill it and its children."""
        self._requests.put(None)
        if grace_seconds:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_seconds)
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._lines_wanted.release()
        for thread in self._threads:
            thread.join(GRACE_SECONDS)

    def _ending(self, timeout_seconds: float) -> str:
        """Return how the process ended, once its output has."""
        try:
            code = self._process.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            return "closed its output"
        self._threads[2].join(GRACE_SECONDS)
        if code >= 0:
            return f"ended with exit code {code}{self._last_stderr_line()}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"was ended by {name}{self._last_stderr_line()}"

    def _last_stderr_line(self) -> str:
        """Return the last line of standard error."""
        lines = self._stderr_tail.decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""

    def _write(self, stream: IO[bytes]) -> None:
        # It may end at any time; reading its output shows that.
        with contextlib.suppress(OSError), stream:
            while (line := self._requests.get()) is not None:
                stream.write(line)
                stream.flush()

    def _read(self, stream: IO[bytes]) -> None:
        """Read one line for each request: what is printed beyond that stays in the pipe."""
        with stream:
            while self._lines_wanted.acquire() and self._process.returncode is None:
                line = stream.readline(LINE_LIMIT)
                self._lines.put(line)
                if not line.endswith(b"\n"):
                    return

    def _read_stderr(self, stream: IO[bytes]) -> None:
        with stream:
            while chunk := os.read(stream.fileno(), 65_536):
                self._stderr_tail = (self._stderr_tail + chunk)[-STDERR_KEPT:]


def _answer_in(line: bytes, asked: object) -> Document | NoAnswer:
    """Return the answer in a line, if it is one to the request `asked`."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return NoAnswer(f"no JSON: {line[:80].decode(errors='replace').strip()}")
    if not isinstance(answer, dict):
        return NoAnswer(f"expected an object, found {described(answer)}")
    if answer.get("id") != asked:
        return NoAnswer(
            f"expected the answer to {asked}, found one to {described(answer.get('id'))}"
        )
    return _checked(answer)


def _checked(answer: Document) -> Document | NoAnswer:
    """Return an answer that has exactly one of its forms; an error's text becomes an object."""
    present = [key for key in FORMS if key in answer]
    if len(present) != 1:
        return NoAnswer(f"expected one of out, error, skip, found {', '.join(present) or 'none'}")
    (key,) = present
    value = answer[key]
    if isinstance(value, str) and key != "out":
        return answer if key == "skip" else {**answer, "error": {"text": value}}
    if key == "skip" or not isinstance(value, dict):
        return NoAnswer(f"{key}: found {described(value)}")
    return answer
