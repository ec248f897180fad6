"""The run itself: every vector asked, every answer judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from assignors.conformance.judges import Strictness, faults, faults_of_error
from assignors.conformance.programs import Broken, Program
from assignors.conformance.vectors import Vector
from assignors.documents.values import Document


class Status(StrEnum):
    """What came of one vector."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One vector and what the program made of it."""

    vector: Vector
    status: Status
    reasons: tuple[str, ...] = ()
    """What is wrong, or why the program did not do it."""
    answer: Document | None = None
    """What came; `None` where nothing did that is an answer."""


def outcomes(
    vectors: Iterable[Vector], program: Program, strictness: Strictness
) -> Iterator[Outcome]:
    """Yield what comes of each vector, in order; `OSError` if the program cannot be started."""
    for vector in vectors:
        yield judged(vector, program.ask(vector.request()), strictness)


def judged(vector: Vector, answer: Document | Broken, strictness: Strictness) -> Outcome:
    """Return what one answer is worth."""
    if isinstance(answer, Broken):
        return Outcome(vector=vector, status=Status.FAILED, reasons=(answer.reason,))
    if "skip" in answer:
        reason = str(answer["skip"])
        return Outcome(vector=vector, status=Status.SKIPPED, reasons=(reason,), answer=answer)
    error, out = answer.get("error"), answer.get("out")
    if isinstance(error, dict):
        found = faults_of_error(vector, error, strictness)
    else:
        assert isinstance(out, dict), "an answer has one of out, error, skip"
        found = faults(vector, out, strictness)
    status = Status.FAILED if found else Status.PASSED
    return Outcome(vector=vector, status=status, reasons=tuple(found), answer=answer)
