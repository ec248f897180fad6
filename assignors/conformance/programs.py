"""Programs under test: asked line by line, and never able to end the run.

A program is started once and gets one request at a time, a JSON object a line; it answers each
with a line. Whatever else it does (it ends, stays silent, prints something else or half a
line, floods standard error) costs it the vector it was asked, and it is started anew for the next.

A process cannot be plain data: `Program` holds one, and the three threads that read and write
its pipes, because a full pipe would otherwise stop both sides for ever.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Semaphore, Thread
from types import TracebackType
from typing import IO, Self

from assignors.documents.values import Document, described

LINE_LIMIT = 64 * 2**20
"""Longest answer, in bytes: far beyond the largest group."""

STDERR_KEPT = 2_000
"""Bytes of standard error kept to explain an end."""

GRACE_SECONDS = 2.0
"""How long a program may take to end once its input has ended."""

OUTCOMES = ("out", "error", "skip")


@dataclass(frozen=True, slots=True)
class Broken:
    """The program did not answer: why."""

    reason: str


class Program:
    """A program under test, started with its first question if nobody did before."""

    def __init__(self, command: Sequence[str], *, timeout_seconds: float = 10.0) -> None:
        """Remember how to start it."""
        self._command = tuple(command)
        self._timeout_seconds = timeout_seconds
        self._run: _Run | None = None

    def __enter__(self) -> Self:
        """Return itself; nothing is started yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the program: kindly if all went well."""
        if self._run is not None:
            self._run.end(GRACE_SECONDS if kind is None else 0)
            self._run = None

    def start(self) -> None:
        """Start it; `OSError` if that cannot be done."""
        if self._run is None:
            self._run = _Run(self._command)

    def ask(self, request: Document) -> Document | Broken:
        """Return the program's answer, an object with its `id` and `out`, `error` or `skip`."""
        self.start()
        assert self._run, "a program that was started runs"
        line = self._run.exchange(request, self._timeout_seconds)
        answer = _answer_in(line, request["id"]) if isinstance(line, bytes) else line
        if isinstance(answer, Broken):
            # What it still has to say belongs to no question: nobody could tell whose answer.
            self._run.end(0)
            self._run = None
        return answer


class _Run:
    """One process, from start to end."""

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
        self._wanted = Semaphore(0)
        self._said = b""
        streams = (self._process.stdin, self._process.stdout, self._process.stderr)
        works = (self._write, self._read, self._listen)
        self._threads = [
            Thread(target=work, args=(stream,), daemon=True)
            for work, stream in zip(works, streams, strict=True)
        ]
        for thread in self._threads:
            thread.start()

    def exchange(self, request: Document, timeout_seconds: float) -> bytes | Broken:
        """Send a request; return the line that comes back, or why none did."""
        self._requests.put(json.dumps(request).encode() + b"\n")
        self._wanted.release()
        try:
            line = self._lines.get(timeout=timeout_seconds)
        except Empty:
            return Broken(f"no answer in {timeout_seconds:g} s{self._last_words()}")
        if line.endswith(b"\n"):
            return line
        if len(line) == LINE_LIMIT:
            return Broken(f"a line of more than {LINE_LIMIT} bytes")
        ending = self._ending(timeout_seconds)
        return Broken(f"half a line, then it {ending}" if line else f"it {ending}")

    def end(self, grace_seconds: float) -> None:
        """Close its input, give it that long to end, then kill it with its children."""
        self._requests.put(None)
        if grace_seconds:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(grace_seconds)
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._wanted.release()
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
            return f"ended with exit code {code}{self._last_words()}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        return f"was ended by {name}{self._last_words()}"

    def _last_words(self) -> str:
        """Return the last line of standard error."""
        lines = self._said.decode(errors="replace").strip().splitlines()
        return f": {lines[-1][:300]}" if lines else ""

    def _write(self, stream: IO[bytes]) -> None:
        # It may end at any time: reading its output tells.
        with contextlib.suppress(OSError), stream:
            while (line := self._requests.get()) is not None:
                stream.write(line)
                stream.flush()

    def _read(self, stream: IO[bytes]) -> None:
        """Read a line for each request and no more: a flood stays in the program's pipe."""
        with stream:
            while self._wanted.acquire() and self._process.returncode is None:
                line = stream.readline(LINE_LIMIT)
                self._lines.put(line)
                if not line.endswith(b"\n"):
                    return

    def _listen(self, stream: IO[bytes]) -> None:
        with stream:
            while said := os.read(stream.fileno(), 65_536):
                self._said = (self._said + said)[-STDERR_KEPT:]


def _answer_in(line: bytes, asked: object) -> Document | Broken:
    """Return the answer in a line, if it is one to the question that was asked."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return Broken(f"no JSON: {line[:80].decode(errors='replace').strip()}")
    if not isinstance(answer, dict):
        return Broken(f"expected an object, found {described(answer)}")
    if answer.get("id") != asked:
        return Broken(f"expected the answer to {asked}, found one to {described(answer.get('id'))}")
    return _checked(answer)


def _checked(answer: Document) -> Document | Broken:
    """Return an answer that has exactly one of its three forms; an error's text as an object."""
    told = [key for key in OUTCOMES if key in answer]
    if len(told) != 1:
        return Broken(f"expected one of out, error, skip, found {', '.join(told) or 'none'}")
    (key,) = told
    value = answer[key]
    if isinstance(value, str) and key != "out":
        return answer if key == "skip" else {**answer, "error": {"text": value}}
    if key == "skip" or not isinstance(value, dict):
        return Broken(f"{key}: found {described(value)}")
    return answer
