"""Writes the results pages of the laboratory: python -m tests.lab.pages.

Most are made from kept figures. Execution models are simulated on a virtual clock.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.lab.calibrate import page as calibrate
from tests.lab.coordinators import page as coordinators
from tests.lab.execution import page as execution
from tests.lab.weights import over_time
from tests.lab.weights import page as weights

PAGES: dict[Path, Callable[[], str]] = {
    each.PAGE: each.page for each in (calibrate, coordinators, execution, weights, over_time)
}
"""File -> its text."""

if __name__ == "__main__":
    for path, text in PAGES.items():
        path.write_text(text(), encoding="utf-8")
