"""Run the notebooks and store what they print and draw: `python -m tests.docs.notebooks [NAME...]`.

Stored are texts and pictures alone, without numbers and times of a run, so that a notebook that is
run again differs only where its answers do.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

RUN_S = 300

WANTED = ("text/plain", "image/svg+xml", "text/html")
"""Kinds of output that are stored."""


def executed(path: Path) -> Any:
    """Return the notebook with the outputs of a run in its folder, of the usual size."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call] # has no types
    where = {"metadata": {"path": str(path.parent)}}
    usual = {name: value for name, value in os.environ.items() if name != "DEEP"}
    client = NotebookClient(notebook, timeout=RUN_S, resources=where)
    client.execute(env={**usual, "PYTHONPATH": str(ROOT)})
    for cell in notebook.cells:
        cell.metadata.clear()
        if cell.cell_type == "code":
            cell.execution_count = None
            cell.outputs = _stored(cell.outputs)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def _stored(outputs: list[Any]) -> list[Any]:
    """Return what is kept: what was printed, as one text, and results in kinds that are wanted."""
    kept: list[Any] = []
    for output in outputs:
        if output.output_type == "stream":
            is_printed = output.name == "stdout"
            if is_printed and kept and kept[-1].output_type == "stream":
                kept[-1].text += output.text
            elif is_printed:
                kept.append(output)
            continue
        if "data" in output:
            output.data = {kind: output.data[kind] for kind in WANTED if kind in output.data}
        if "execution_count" in output:
            output.execution_count = None
        kept.append(output)
    return kept


def main(*names: str) -> None:
    """Write the outputs of the notebooks, or of those that are named, into their files."""
    for path in NOTEBOOKS:
        if not names or path.stem in names:
            text = nbformat.writes(executed(path), indent=1)  # type: ignore[no-untyped-call] # has no types
            path.write_text(text.rstrip() + "\n", encoding="utf-8")
            sys.stdout.write(f"{path.name}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
