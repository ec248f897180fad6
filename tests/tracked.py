"""The files under version control."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def tracked_files() -> list[str] | None:
    """Return their paths from the root of the tree; `None` where this is no checkout."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"],  # noqa: S607 - the git that is on the PATH, wherever
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        return None
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
