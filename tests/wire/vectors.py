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
    with gzip.open(FOLDER / "kafka-4.4.0.jsonl.gz", "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    found = [case for case in cases if case.get("in", {}).get("algo") in algorithms]
    assert found, algorithms
    return found


@cache
def captured(kind: str) -> list[dict[str, Any]]:
    """Bytes of real clients, of one kind."""
    with gzip.open(FOLDER / "clients-captured.jsonl.gz", "rt", encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    found = [case for case in cases if case["kind"] == kind]
    assert found, kind
    return found
