"""Writes the results pages of the laboratory: python -m tests.lab.pages.

Most are made from kept recordings; those of execution and client models are simulated on a virtual
clock, in half a minute.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.lab.clients import page as clients
from tests.lab.coordinators import page as coordinators
from tests.lab.execution import page as execution
from tests.lab.weights import over_time
from tests.lab.weights import page as weights

FROM_RECORDINGS: dict[Path, Callable[[], str]] = {
    **execution.FILES,
    **weights.FILES,
    **over_time.FILES,
}
"""File -> its text, from what a program has measured and kept."""
SIMULATED: dict[Path, Callable[[], str]] = {**clients.FILES, **coordinators.FILES}
"""File -> its text, simulated again."""

if __name__ == "__main__":
    for path, written in (FROM_RECORDINGS | SIMULATED).items():
        path.write_text(written(), encoding="utf-8")
