"""Records of real brokers with Kafka's own reading of each, and vectors made by Kafka's classes."""

from __future__ import annotations

import gzip
import json
import os
from base64 import b64decode
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "vectors"

TRUTH = os.environ.get("OFFSETS_TRUTH")
"""A folder with more: pairs of `NAME.jsonl.gz` and `NAME.truth.jsonl.gz`, line for line."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A record as it stands on the log, and Kafka's reading of it."""

    place: str
    key: bytes
    value: bytes | None
    truth: dict[str, Any]


@cache
def samples() -> tuple[Sample, ...]:
    """The bundled records."""
    return tuple(
        _sample(line, line["truth"]) for line in _lines(FOLDER / "records-sample.jsonl.gz")
    )


def all_samples() -> tuple[Sample, ...]:
    """The bundled records, and those of the folder that `OFFSETS_TRUTH` names."""
    found = list(samples())
    for path in sorted(Path(TRUTH).glob("*.truth.jsonl.gz")) if TRUTH else ():
        lines = _lines(path.with_name(path.name.replace(".truth", "")))
        found += [_sample(*pair) for pair in zip(lines, _lines(path), strict=True)]
    return tuple(found)


@cache
def vectors(algorithm: str) -> list[dict[str, Any]]:
    """What Kafka's classes wrote (`rec-enc`) or read (`rec-dec`)."""
    found = [
        case
        for case in _lines(FOLDER / "records-4.4.0.jsonl.gz")
        if case.get("in", {}).get("algo") == algorithm
    ]
    assert found, algorithm
    return found


def _sample(line: dict[str, Any], truth: dict[str, Any]) -> Sample:
    value = None if line["value"] is None else b64decode(line["value"])
    place = f"{line.get('source', '')} {line['partition']}/{line['offset']}"
    return Sample(place, b64decode(line["key"]), value, truth)


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
