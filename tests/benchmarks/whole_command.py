"""One run of the whole command in a process of its own: time and memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tests.cli.running import AS_LINES


class Used(NamedTuple):
    """What a run took."""

    cpu_s: float
    wall_s: float
    peak_kib: int


def run_command(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Used:
    """Run `kafka-assignors` with these arguments; `AssertionError` if it ends with 2 or more."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "assignors", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**(environment or os.environ), **AS_LINES},
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begin
    assert os.waitstatus_to_exitcode(status) in (0, 1), status
    return Used(used.ru_utime + used.ru_stime, wall, used.ru_maxrss)
