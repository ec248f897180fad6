"""Pages that are written from the code are as the code is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.generated import GENERATED


@pytest.mark.parametrize(
    ("path", "written"), [pytest.param(*row, id=row[0].name) for row in GENERATED.items()]
)
def test_a_generated_page_is_what_the_code_says(path: Path, written: Callable[[], str]) -> None:
    assert path.read_text(encoding="utf-8") == written(), "write it again: python -m tests.docs"
