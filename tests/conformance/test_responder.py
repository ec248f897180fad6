"""This package against the kit: nothing fails, also where Java's very answers are asked for."""

from __future__ import annotations

import runpy
import subprocess
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from assignors.conformance.judges import Strictness
from assignors.conformance.outcomes import Outcome, Status, judged, outcomes
from assignors.conformance.program_under_test import ProgramUnderTest
from assignors.conformance.responder import answer, answers
from assignors.conformance.vectors import Vector
from assignors.documents.values import Document
from tests.conformance.peers import OURSELVES
from tests.conformance.published import KAFKA, PEERS, RECORDS, vectors

LEVELS = {
    "lawful": Strictness(),
    "exact": Strictness(exact=True),
    "in order": Strictness(exact=True, in_order=True),
}


def outcome(vector: Vector, strictness: Strictness) -> Outcome:
    return judged(vector, answer(vector.request()), strictness)


def summary(found: list[Outcome]) -> str:
    return "\n".join(f"{one.vector.vector_id}: {one.status} {one.reasons}" for one in found)


@pytest.mark.parametrize("level", LEVELS)
def test_all_of_kafkas_vectors_pass(level: str) -> None:
    found = [outcome(vector, LEVELS[level]) for vector in vectors(KAFKA, RECORDS)]
    assert len(found) > 1_500
    wrong = [one for one in found if one.status is not Status.PASSED]
    assert not wrong, summary(wrong)


def test_all_cases_of_peers_pass() -> None:
    # Their conclusions are this package's own, not Kafka's: exactness is not asked.
    found = [outcome(vector, Strictness()) for vector in vectors(PEERS)]
    wrong = [one for one in found if one.status is not Status.PASSED]
    assert not wrong, summary(wrong)


def test_as_a_program_all_pass_too() -> None:
    asked = [*vectors(KAFKA, RECORDS)[::7], *vectors(PEERS)]
    with ProgramUnderTest(OURSELVES, timeout_seconds=60) as program:
        found = list(outcomes(asked, program, Strictness()))
    wrong = [one for one in found if one.status is not Status.PASSED]
    assert not wrong, summary(wrong)


def test_a_line_without_anything_in_it_is_no_request() -> None:
    assert list(answers([b"\n", b"  \n"])) == []


def test_a_module_to_run_answers_until_its_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, said = BytesIO(b'{"id": 1, "algo": "codec-coopud", "gen": 7}\n'), BytesIO()
    monkeypatch.setattr("sys.stdin", TextIOWrapper(asked))
    monkeypatch.setattr("sys.stdout", TextIOWrapper(said))
    runpy.run_module("assignors.conformance", run_name="__main__")
    assert said.getvalue() == b'{"id": 1, "out": {"ud": "00000007"}}\n'


def test_a_record_of_no_known_type_is_not_written() -> None:
    asked: Document = {"id": "a", "algo": "rec-enc", "type": 99, "key": {}, "value": None}
    assert answer(asked) == {"id": "a", "error": {"text": "record type 99 is not known"}}


def test_what_is_not_done_is_skipped() -> None:
    asked: Document = {"id": "a", "algo": "somebody else's"}
    assert answer(asked) == {"id": "a", "skip": "somebody else's is not supported"}


def test_a_group_of_an_assignor_without_lists_is_answered_by_topic() -> None:
    # Groups of bytes are answered by this package's own leader, which has no list order.
    (vector,) = [one for one in vectors(PEERS) if one.note == "a Subscription of zero bytes"]
    out = answer(vector.request())["out"]
    assert isinstance(out, dict)
    assert set(out) == {"assignment"}


@pytest.mark.parametrize("file", [KAFKA, RECORDS, PEERS], ids=lambda file: file.name)
def test_answers_do_not_depend_on_what_was_asked_before(file: Path) -> None:
    asked = vectors(file)[:: max(1, len(vectors(file)) // 40)]
    forwards = [answer(vector.request()) for vector in asked]
    backwards = [answer(vector.request()) for vector in reversed(asked)]
    assert forwards == backwards[::-1]


def test_the_module_says_what_it_is_for() -> None:
    asked = [sys.executable, "-m", "assignors.conformance", "--help"]
    done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.startswith("usage: python -m assignors.conformance\n")
    assert done.returncode == 0
