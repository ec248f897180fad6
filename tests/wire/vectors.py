"""The bundled vectors, read once."""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "vectors"


@cache
def kafka(*algorithms: str) -> list[dict[str, Any]]:
    """Vectors of Kafka 4.4.0 whose `in.algo` is one of these."""
    found = [case for case in _kafka() if case.get("in", {}).get("algo") in algorithms]
    assert found, algorithms
    return found


@cache
def captured(kind: str) -> list[dict[str, Any]]:
    """Bytes of real clients, of one kind."""
    found = [case for case in _captured() if case["kind"] == kind]
    assert found, kind
    return found


@cache
def _kafka() -> list[dict[str, Any]]:
    return _read("kafka-4.4.0.jsonl.gz")


@cache
def _captured() -> list[dict[str, Any]]:
    return _read("clients-captured.jsonl.gz")


def _read(name: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
