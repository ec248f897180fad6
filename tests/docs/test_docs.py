"""Pages that are written from the code are as the code is."""

from __future__ import annotations

from tests.docs.simulator_reference import PAGE, page


def test_the_simulators_reference_is_what_the_code_says() -> None:
    again = "python -m tests.docs.simulator_reference"
    assert PAGE.read_text(encoding="utf-8") == page(), f"write it anew: {again}"
