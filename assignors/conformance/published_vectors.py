"""The vectors that come with this package, by name.

In an installed package they lie in `assignors/conformance/published`, where the build copies them
to; in a checkout, where they are made, in `tests/vectors`.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

PUBLISHED = {
    "kafka-4.4.0": "kafka-4.4.0.jsonl.gz",
    "records-4.4.0": "records-4.4.0.jsonl.gz",
    "peers": "peers.jsonl",
}
"""Name -> file. Beside them stands `README.md`, which describes their format."""


def published_vectors(name: str) -> Traversable:
    """Return the file of vectors with this name, also where the package is a zip.

    Raises `KeyError` for another name, `FileNotFoundError` where the package was built without.

    >>> published_vectors("peers").name
    'peers.jsonl'
    """
    file_name = PUBLISHED[name]
    checkout = Path(__file__).resolve().parents[2] / "tests" / "vectors"
    for folder in (files("assignors.conformance") / "published", checkout):
        if (folder / file_name).is_file():
            return folder / file_name
    raise FileNotFoundError(f"{file_name} is not in this package")
