"""Jobs with a Spark session, in processes of their own: sessions of two kinds never share one."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.spark.sessions import KINDS, ROOT

JOB_S = 300.0
STOP_S = 30.0
WHERE, WHERE_S = signal.SIGUSR1, 2.0
"""What lets the process write into its log where it is, and how long that may take."""


def answers_of(job: str, *arguments: str, folder: Path) -> Any:
    """Run a job that needs a process of its own; return what it leaves in the folder."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.spark.{job}", *arguments, str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=JOB_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads((folder / "answers.json").read_text())


class SparkProcess:
    """A process with a session of one kind, which runs one job after another."""

    def __init__(self, kind: str) -> None:
        assert kind in KINDS
        self.kind = kind
        self._folder = tempfile.TemporaryDirectory(prefix=f"spark-{kind}-")
        self._log = Path(self._folder.name) / "process.log"
        folders = {
            "SPARK_LOCAL_DIRS": f"{self._folder.name}/local",
            "SPARK_WORKER_DIR": f"{self._folder.name}/work",
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.spark.process", kind, self._folder.name],
                cwd=ROOT,
                env={**os.environ, **folders},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                # The JVM and its executors end with the group, whatever state they are in.
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def is_alive(self) -> bool:
        """Whether it takes jobs."""
        return self._process.poll() is None

    def answers_of(self, job: str, folder: Path, *, timeout_s: float = JOB_S) -> Any:
        """Run `tests.spark.<job>` with the session and the folder; return what it leaves there."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"job": job, "folder": str(folder)}).encode() + b"\n")
        self._process.stdin.flush()
        failure = self._line(timeout_s)
        assert failure == "", f"{failure}\n{self._end_of_log()}"
        return json.loads((folder / "answers.json").read_text())

    def stop(self) -> None:
        """End it: in order where it can, else by its process group."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(STOP_S)
        # Who is left of the group has no work any more.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()

    def _line(self, timeout_s: float) -> str:
        """The answer to a job; why there is none."""
        assert self._process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            if not selector.select(timeout_s):
                self._process.send_signal(WHERE)
                selector.select(WHERE_S)
                os.killpg(self._process.pid, signal.SIGKILL)
                return f"no answer in {timeout_s:g} s"
        line = self._process.stdout.readline()
        return str(json.loads(line)) if line else f"the process ended: {self._process.wait()}"

    def _end_of_log(self) -> str:
        logs = (self._log, self._log.with_name("connect.log"))
        return "\n".join(log.read_text("utf-8", "replace")[-4000:] for log in logs if log.exists())
