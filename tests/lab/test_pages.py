"""The laboratory's pages can be written again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lab.coordinators import page as coordinators
from tests.lab.pages import FROM_RECORDINGS, SIMULATED


@pytest.mark.parametrize(
    ("path", "written"),
    [
        *(pytest.param(*row, id=row[0].stem) for row in FROM_RECORDINGS.items()),
        # half a minute of simulated requests
        *(pytest.param(*row, id=row[0].stem, marks=pytest.mark.deep) for row in SIMULATED.items()),
    ],
)
def test_a_page_is_what_its_program_writes(path: Path, written: Callable[[], str]) -> None:
    assert path.read_text(encoding="utf-8") == written(), "python -m tests.lab.pages"


def test_one_load_under_every_execution_model_is_as_the_page_says() -> None:
    quick = min(coordinators.LOADS, key=lambda row: row[1].requests)
    assert coordinators.row(*quick) in coordinators.PAGE.read_text(encoding="utf-8")
