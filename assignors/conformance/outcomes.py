"""Send every vector to a program and judge its answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from assignors.conformance.judges import Strictness, mistakes, mistakes_of_error
from assignors.conformance.program_under_test import NoAnswer, ProgramUnderTest
from assignors.conformance.vectors import Vector
from assignors.documents.values import Document

UNASKED_SECONDS, UNASKED_TIMES = 1.0, 2.0
"""A program that ended on the first vector is watched so long, and so many times as long as it ran,
without being asked: one that ends then cannot be started."""


class Status(StrEnum):
    """The result of one vector."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One vector, the program's answer, and whether it is right."""

    vector: Vector
    status: Status
    reasons: tuple[str, ...] = ()
    """What is wrong, or why the program skipped it; sentences."""
    answer: Document | None = None
    """`None` where the program gave nothing that is an answer."""


def outcomes(
    vectors: Iterable[Vector], program: ProgramUnderTest, strictness: Strictness
) -> Iterator[Outcome]:
    """Yield the outcome of each vector, in order, as soon as the program has answered it.

    Raises `OSError` if the program cannot be started: `ChildProcessError` if it ends whatever it is
    asked. A vector takes as long as the program, the program's timeout at most.
    """
    for place, vector in enumerate(vectors):
        answer = program.ask(vector.request())
        if not place and isinstance(answer, NoAnswer) and answer.ended_in_seconds is not None:
            program.require_waiting(UNASKED_SECONDS + UNASKED_TIMES * answer.ended_in_seconds)
        yield judged(vector, answer, strictness)


def judged(vector: Vector, answer: Document | NoAnswer, strictness: Strictness) -> Outcome:
    """Return the outcome of one answer; a malformed one has failed. Cost: that of its judge."""
    if isinstance(answer, NoAnswer):
        return Outcome(vector=vector, status=Status.FAILED, reasons=(answer.reason,))
    if "skip" in answer:
        reason = str(answer["skip"])
        return Outcome(vector=vector, status=Status.SKIPPED, reasons=(reason,), answer=answer)
    error, out = answer.get("error"), answer.get("out")
    if isinstance(error, dict):
        found = mistakes_of_error(vector, error, strictness)
    else:
        assert isinstance(out, dict), "an answer has one of out, error, skip"
        found = mistakes(vector, out, strictness)
    status = Status.FAILED if found else Status.PASSED
    return Outcome(vector=vector, status=status, reasons=tuple(found), answer=answer)
