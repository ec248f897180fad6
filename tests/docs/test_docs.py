"""Pages that are written from the code are as the code is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs import coordinator_models, coordinator_pictures
from tests.docs.generated import GENERATED

QUICK = {coordinator_pictures.FOLDER / f"{name}.svg" for name in ("timeline", "isolation")}
DEAR = coordinator_models.FILES.keys() - QUICK
"""Ten seconds of simulated requests: the suite compares some of it, here and below."""


@pytest.mark.parametrize(
    ("path", "written"),
    [
        pytest.param(*row, marks=[pytest.mark.deep] if row[0] in DEAR else [], id=row[0].name)
        for row in GENERATED.items()
    ],
)
def test_a_generated_page_is_what_the_code_says(path: Path, written: Callable[[], str]) -> None:
    assert path.read_text(encoding="utf-8") == written(), "write it anew: python -m tests.docs"


def test_the_quick_parts_of_the_coordinator_models_are_what_the_code_says() -> None:
    """Its claims are measured in `test_claims`, its example runs with those of all pages."""
    text = coordinator_models.PAGE.read_text(encoding="utf-8")
    quick = min(coordinator_models.LOADS, key=lambda row: row[1].requests)
    for part in (
        coordinator_models.HEAD,
        coordinator_models.models(),
        coordinator_models.timeline(),
        coordinator_models.row(*quick),
    ):
        assert part in text, "write it anew: python -m tests.docs.coordinator_models"
