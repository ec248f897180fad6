"""One Spark process a kind of session: whoever asks next for the same kind finds it running.

At most one runs, in one worker of the suite, and the tests of a kind follow on each other, so that
each kind starts once. The other workers play real groups meanwhile, which mostly wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.spark.jobs import JOB_S, SparkProcess
from tests.spark.sessions import KINDS

EVERY_KIND = pytest.mark.parametrize(
    "kind", [pytest.param("classic", marks=pytest.mark.deep), "cluster", "connect"]
)
"""A cluster is a classic session too, whose executors are processes: it shows more."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort by kind of session: the kind is a parameter, or classic."""
    items.sort(key=_kind)


def _kind(item: pytest.Item) -> int:
    call = getattr(item, "callspec", None)
    kind = call.params.get("kind") if call else None
    return KINDS.index(kind) if kind in KINDS else 0


class SparkAnswers(Protocol):
    """What the fixture `spark_answers` gives."""

    def __call__(self, job: str, kind: str, folder: Path, *, timeout_s: float = JOB_S) -> Any:
        """Run `tests.spark.<job>` in a session of this kind; return what it leaves."""


@pytest.fixture(scope="session")
def spark_answers(java: None) -> Iterator[SparkAnswers]:
    """Runs jobs in sessions of any kind."""
    running: list[SparkProcess] = []

    def answers(job: str, kind: str, folder: Path, *, timeout_s: float = JOB_S) -> Any:
        if running and not (running[0].kind == kind and running[0].is_alive):
            running.pop().stop()
        if not running:
            running.append(SparkProcess(kind))
        return running[0].answers_of(job, folder, timeout_s=timeout_s)

    try:
        yield answers
    finally:
        for process in running:
            process.stop()
