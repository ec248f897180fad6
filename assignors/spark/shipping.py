"""This package as a zip, for executors that do not have it installed.

Executors need numpy and pyarrow besides.
"""

from __future__ import annotations

import zipfile
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

SHIPPED = (".py", ".json", ".jsonl", ".typed")
"""How the names of the files end that go into the zip."""

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time a zip can hold: the same package gives the same bytes."""


def package_zip(path: str | Path) -> Path:
    """Write `assignors` and `wire` as a zip to `path`, and return the path.

    `session.addArtifacts(str(package_zip(path)), pyfile=True)` ships it to every executor.
    """
    target = Path(path)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for package in ("assignors", "wire"):
            _add(archive, files(package), package)
    return target


def _add(archive: zipfile.ZipFile, folder: Traversable, prefix: str) -> None:
    for entry in sorted(folder.iterdir(), key=lambda found: found.name):
        name = f"{prefix}/{entry.name}"
        if entry.is_dir() and entry.name != "__pycache__":
            _add(archive, entry, name)
        elif entry.name.endswith(SHIPPED):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), entry.read_bytes())
