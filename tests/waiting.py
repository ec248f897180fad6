"""Waiting for what other threads and programs do: a condition, never a time."""

from __future__ import annotations

import time
from collections.abc import Callable

LOOK_S = 0.02


def comes(is_so: Callable[[], object], *, within_s: float) -> bool:
    """Return whether something comes true in time."""
    until = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() >= until:
            return False
        time.sleep(LOOK_S)
    return True


def wait(
    is_so: Callable[[], object],
    *,
    within_s: float = 60.0,
    shows: Callable[[], object] = lambda: "it never came to that",
) -> None:
    """Wait for something that must come; where it does not, fail with what `shows` returns."""
    assert comes(is_so, within_s=within_s), shows()
