"""Kafka's own classes as judge: one JVM that answers as long as the tests run.

A request is the `in` object of a vector, its answer the `out` object. Requests are written by a
thread of their own while answers are read, so that thousands a second go through one pipe.
A request without answer in `timeout_s`, or one that ends the JVM, is answered here with an `err`
of our own (`JudgeTimeout`, `JudgeDied`); a new JVM goes on with the next one.

    with Judge() as judge:
        judge.ask({"algo": "codec-coopud", "gen": 7})   # {"ud": "00000007"}
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Self

from tests.foreign.jars import class_path

Request = Mapping[str, Any]
Answer = dict[str, Any]

TIMEOUT_S = 20.0
START_S = 60.0
"""How long a JVM may take to start on a busy machine: that is nobody's answering time."""
PING = b'{"algo":"codec-coopud","gen":0}\n'
OURS = ("JudgeTimeout", "JudgeDied")
"""`err` classes that say nothing about Kafka."""
SHORT = ("-XX:TieredStopAtLevel=1",)
"""For a JVM that lives for seconds: what the compiler for long runs costs does not come back."""

OPTIONS = (
    *("-XX:+UseSerialGC", "-Xss8m", "-XX:-UsePerfData"),
    # A hot exception would lose its message.
    "-XX:-OmitStackTraceInFastThrow",
)


class Judge:
    """A JVM to ask; starts when first asked and ends with the `with` block."""

    def __init__(
        self, *, timeout_s: float = TIMEOUT_S, heap: str = "1g", options: Sequence[str] = ()
    ) -> None:
        self._timeout_s = timeout_s
        self._command = ["java", *OPTIONS, *options, f"-Xmx{heap}", "-cp", class_path(), "Judge"]
        self._process: subprocess.Popen[bytes] | None = None
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed at exit
        self.started = 0
        """How many JVMs were needed so far."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        self._complaints.close()

    def ask(self, request: Request) -> Answer:
        """The answer to one request."""
        (answer,) = self.ask_all([request])
        return answer

    def ask_all(self, requests: Iterable[Request]) -> list[Answer]:
        """The answers to all requests, in their order."""
        lines = [json.dumps(request, separators=(",", ":")).encode() for request in requests]
        answers: list[Answer] = []
        while len(answers) < len(lines):
            answers += self._until_it_fails(lines[len(answers) :])
        return answers

    def _until_it_fails(self, lines: Sequence[bytes]) -> list[Answer]:
        """Answers from one JVM; the last one is ours if it gave no more."""
        process = self._process or self._start()
        assert process.stdout is not None
        writer = threading.Thread(target=_write, args=(process, lines), daemon=True)
        writer.start()
        answers: list[Answer] = []
        failure = "JudgeDied"
        try:
            for line in _lines(process.stdout, self._timeout_s):
                answers.append(json.loads(line))
                if len(answers) == len(lines):
                    writer.join()
                    return answers
        except TimeoutError:
            failure = f"JudgeTimeout: no answer in {self._timeout_s:g} s"
        # The writer ends with the JVM, and only then may its pipe be closed under it.
        process.kill()
        process.wait()
        writer.join()
        self._end()
        return [*answers, {"err": f"{failure}: {self._complaint()}"}]

    def _complaint(self) -> str:
        """What the JVM said before it went."""
        self._complaints.seek(0)
        return self._complaints.read()[-2000:].decode("utf-8", "replace")

    def _start(self) -> subprocess.Popen[bytes]:
        self.started += 1
        self._complaints.seek(0)
        self._complaints.truncate()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        # One that does not start is found out by the first request.
        with contextlib.suppress(OSError, TimeoutError):
            self._process.stdin.write(PING)
            next(_lines(self._process.stdout, START_S), None)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                pipe.close()


def _write(process: subprocess.Popen[bytes], lines: Sequence[bytes]) -> None:
    """Feed the JVM, a block at a time; ends early where the JVM does."""
    assert process.stdin is not None
    try:
        for start in range(0, len(lines), 64):
            block = memoryview(b"\n".join(lines[start : start + 64]) + b"\n")
            while block:
                block = block[os.write(process.stdin.fileno(), block) :]
    except (OSError, ValueError):
        pass  # the reader sees the end of the answers and says so


def _lines(pipe: IO[bytes], timeout_s: float) -> Iterator[bytes]:
    """Lines of a pipe until it ends; `TimeoutError` when one takes longer than that."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(timeout_s):
            block = os.read(pipe.fileno(), 1 << 20)
            if not block:
                return
            *whole, rest = (rest + block).split(b"\n")
            yield from whole
    raise TimeoutError
