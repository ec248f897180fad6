"""Spark's Kafka connector, fetched once under `build/foreign/members` as the brokers' jars are."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.interop.install import STEP_S, Step

POM = Path(__file__).parent / "connector_jars" / "pom.xml"


def _make(target: Path) -> None:
    done = subprocess.run(
        [
            *("mvn", "--quiet", "--batch-mode", "--file", str(POM)),
            *("dependency:copy-dependencies", f"-DoutputDirectory={target}"),
        ],
        capture_output=True,
        text=True,
        timeout=STEP_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"mvn failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")


CONNECTOR = Step(name="spark-kafka", tools=("java", "mvn"), made_from=(POM,), make=_make)
