"""Jobs with a Spark session: processes of their own, as sessions of two kinds never share one.

A local Connect server always takes the same port, so only one such job runs at a time.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from tests.locks import locked

ROOT = Path(__file__).parents[2]
PORT_LOCK = ROOT / "build" / "spark" / "connect.lock"


def answers_of(job: str, *arguments: str, folder: Path, timeout_s: float = 600) -> Any:
    """Run `tests.spark.<job>` with the arguments and the folder; return what it leaves there."""
    with locked(PORT_LOCK) if "connect" in arguments else nullcontext():
        done = subprocess.run(
            [sys.executable, "-m", f"tests.spark.{job}", *arguments, str(folder)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads((folder / "answers.json").read_text())
