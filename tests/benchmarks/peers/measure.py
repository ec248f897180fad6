"""Start contenders on one core, give each its time, and collect what they print."""

from __future__ import annotations

import json
import os
import platform
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import psutil

from tests.benchmarks.peers.contenders import Contender, Stage
from tests.benchmarks.peers.results import Quality, Row
from tests.optimal.groups import Arrays

ROOT = Path(__file__).resolve().parent.parent.parent.parent
LIMIT_S = 10.0
"""A contender that needs longer for one call has not finished."""
START_S = 6.0
"""What starting, reading the file and warming up may take besides."""


def processor() -> str:
    """Return what kind of processor this is."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return found[1] if found else platform.machine()


@contextmanager
def pinned(core: int) -> Iterator[None]:
    """Run what is started here on one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def stage_rows(
    contender: Contender, folder: Path, workload: str, stage: Stage, *, seconds: float
) -> Iterator[Row]:
    """Yield what a contender needs for each event.

    After an event that it does not finish, only the fresh group is tried, which is the easiest.
    """
    events = list(contender.events(workload, stage))
    while events:
        for said in _lines(contender, folder, stage, seconds, tuple(events)):
            fields = {name: value for name, value in said.items() if name != "event"}
            yield Row(
                workload=workload,
                event=said["event"],
                contender=contender.name,
                stage=stage,
                **fields,
            )
            events.remove(said["event"])
        if events:
            failed = events.pop(0)
            yield Row(workload=workload, event=failed, contender=contender.name, stage=stage)
            events = [event for event in events if event == "fresh"]


def timed(contender: Contender, folder: Path, stage: Stage, event: str, *, seconds: float) -> float:
    """Return the least CPU milliseconds of one stage; `RuntimeError` if it does not finish."""
    for said in _lines(contender, folder, stage, seconds, (event,)):
        return float(said["least_ms"])
    raise RuntimeError(f"{contender.name} did not finish {stage}")


def _lines(
    contender: Contender, folder: Path, stage: Stage, seconds: float, events: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield the lines of one process until it ends or takes too long for one."""
    command = [*contender.command(), str(folder), contender.name, stage, str(seconds), *events]
    lines: queue.Queue[bytes] = queue.Queue()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        reader = threading.Thread(target=_read, args=(process.stdout, lines), daemon=True)
        reader.start()
        try:
            for _ in events:
                line = _next(lines, psutil.Process(process.pid), LIMIT_S + START_S + seconds)
                if line is None:
                    return
                if not line:
                    raise RuntimeError(f"{' '.join(command)} ended with {process.wait()}")
                yield json.loads(line)
        finally:
            process.kill()
            reader.join()


def _next(lines: queue.Queue[bytes], process: psutil.Process, limit_s: float) -> bytes | None:
    """Return the next line, or `None` after so many seconds of CPU time, or many more of wall."""
    begin, until = _cpu_s(process), time.monotonic() + 10 * limit_s
    while time.monotonic() < until:
        try:
            return lines.get(timeout=0.5)
        except queue.Empty:
            if _cpu_s(process) - begin > limit_s:
                break
    return None


def _cpu_s(process: psutil.Process) -> float:
    try:
        spent = process.cpu_times()
    except psutil.NoSuchProcess:  # it has just ended: its last lines are in the queue
        return 0.0
    return float(spent.user + spent.system)


def _read(source: IO[bytes], lines: queue.Queue[bytes]) -> None:
    for line in source:
        lines.put(line)
    lines.put(b"")


def quality_rows(
    contender: Contender, folder: Path, workload: str, best: dict[str, Arrays]
) -> Iterator[Quality]:
    """Yield how good a contender's plans are; those it does not finish are left out."""
    for row in stage_rows(contender, folder, workload, "plan", seconds=0):
        path = folder / f"{row.event}.{contender.name}.plan"
        if path.exists():
            made = best[row.event]
            given = np.frombuffer(path.read_bytes(), ">i4").astype(np.int32)
            square, remote, kept = figures(made, given)
            ideal_square, ideal_remote, ideal_kept = figures(made, made.solve().owner)
            is_complete = bool((given >= 0).all())
            gap = square - ideal_square if is_complete else None
            # Nobody beats the optimum, or it is none.
            worse = (square, remote, -kept) >= (ideal_square, ideal_remote, -ideal_kept)
            assert worse or not is_complete, (workload, row)
            yield Quality(
                workload=workload,
                event=row.event,
                contender=contender.name,
                balance_gap=gap,
                moves_above=ideal_kept - kept,
                mismatches_above=remote - ideal_remote,
                moves_least=int(np.count_nonzero(made.owner >= 0)) - ideal_kept,
            )


def figures(made: Arrays, given: np.ndarray[Any, Any]) -> tuple[int, int, int]:
    """Return (sum of squared loads, rack mismatches, partitions kept); O(P), whatever the size."""
    held = np.flatnonzero(given >= 0)
    load = np.bincount(given[held], minlength=made.member_count)
    kept = int(np.count_nonzero(given[held] == made.owner[held]))
    remote = 0
    if made.rack is not None:
        assert made.replica_set is not None
        assert made.replica_racks is not None
        rack = made.rack[given[held]]
        remote = int(np.count_nonzero(~made.replica_racks[made.replica_set[held], rack]))
    return int(load @ load), remote, kept


def say(text: str, *, since: float) -> None:
    """Report progress."""
    print(f"{time.monotonic() - since:6.0f} s  {text}", file=sys.stderr, flush=True)
