"""The examples of docs/spark.md in a Spark session; what fails as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.docs.examples import failures


def main(session: Any, folder: Path) -> None:
    """Run the blocks in order, in one namespace that has the session, and write what failed."""
    failed = failures("docs/spark.md", "python spark", {"spark": session})
    (folder / "answers.json").write_text(json.dumps(failed))
