"""What is stored in the notebooks: their answers and plots, of a run in order, and nothing else.

pytest runs every notebook itself (nbmake); what they claim is asserted in them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.docs.notebooks import FOLDER, NOTEBOOKS, executed

TOPICS = {
    "example_replay_incident": r"\breplay\b.*dump",
    "example_spark_sql": r"\bSpark\b.*SQL",
    "example_own_assignor": r"assignor of your own",
    "example_scale_up": r"add five consumers",
    "example_leave_classic": r"leave the classic protocol",
    "example_coordinator_models": r"coordinator execute requests",
    "example_uneven_traffic": r"partitions that are not equal",
}
"""Notebook -> what its title is about."""


def cells(path: Path, kind: str) -> list[dict[str, Any]]:
    read = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in read["cells"] if cell["cell_type"] == kind]


def outputs(path: Path) -> list[dict[str, Any]]:
    return [output for cell in cells(path, "code") for output in cell["outputs"]]


@pytest.mark.parametrize("name", list(TOPICS))
def test_each_question_has_its_notebook_with_answers_and_plots(name: str) -> None:
    path = FOLDER / f"{name}.ipynb"
    title = "".join(cells(path, "markdown")[0]["source"]).splitlines()[0]
    assert re.search(TOPICS[name], title, flags=re.IGNORECASE), title
    drawn = [output for output in outputs(path) if "image/svg+xml" in output.get("data", {})]
    assert drawn
    assert len(outputs(path)) > len(drawn)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_stores_answers_and_nothing_of_the_machine(path: Path) -> None:
    stored = outputs(path)
    assert stored
    assert {output["output_type"] for output in stored} <= {"stream", "execute_result"}
    assert {output.get("name", "stdout") for output in stored} == {"stdout"}
    assert all(cell["execution_count"] is None for cell in cells(path, "code"))


def test_nothing_has_to_be_installed_for_a_plot() -> None:
    read = [path.read_text(encoding="utf-8") for path in (*NOTEBOOKS, FOLDER / "plots.py")]
    assert not [name for name in ("matplotlib", "altair", "plotly") if name in "".join(read)]


@pytest.mark.deep
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_the_answers_that_are_stored_are_those_of_today(path: Path) -> None:
    again = executed(path)
    today = json.loads(json.dumps([cell.outputs for cell in again.cells if "outputs" in cell]))
    stored = [cell["outputs"] for cell in cells(path, "code")]
    assert [text_of(each) for each in today] == [text_of(each) for each in stored], (
        f"store them anew: python -m tests.docs.notebooks {path.stem}"
    )


def text_of(found: list[dict[str, Any]]) -> list[str]:
    """Return outputs as text, however the file splits its lines."""
    kinds = ("text", "data")
    return ["".join(_flat(output[kind])) for output in found for kind in kinds if kind in output]


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return "".join(_flat(value[key]) for key in sorted(value))
    return value if isinstance(value, str) else "".join(map(str, value))  # type: ignore[call-overload]
