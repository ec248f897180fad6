"""Answers and failures equal to those of Kafka's own broker-side classes."""

from __future__ import annotations

from typing import Any

import pytest

from assignors import JavaFailure, OnFailure, Options, assignor_named
from assignors.checks import check
from assignors.conformance.groups import group_of
from tests.server.groups import NAMES, cases, lists_of

CASES = cases()
FAILURES = [case for case in CASES if "err" in case["out"]]


def test_the_vectors_cover_answers_and_failures() -> None:
    assert {case["in"]["algo"] for case in CASES} >= {"srv-uniform", "srv-range"}
    assert {case["out"]["err"].split(":")[0] for case in FAILURES} == {
        "PartitionAssignorException",
        "ArrayIndexOutOfBoundsException",
    }


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_answer_is_that_of_the_broker(case: dict[str, Any]) -> None:
    assignor = assignor_named(NAMES[case["in"]["algo"]])
    group, expected = group_of(case["in"]), case["out"]
    if "err" in expected:
        with pytest.raises(JavaFailure) as failure:
            assignor.assign(group)
        assert str(failure.value) == expected["err"]
        return
    answer = assignor.assign(group)
    assert lists_of(answer) == {
        # a group that subscribes to nothing gets an answer without members
        member: sorted(expected["assignment"].get(member, []))
        for member in expected["order"]
    }
    assert list(answer.order or ()) == expected["order"] == list(answer.assignment)


@pytest.mark.parametrize("case", FAILURES, ids=[case["id"] for case in FAILURES])
def test_a_repaired_answer_is_lawful_and_says_so(case: dict[str, Any]) -> None:
    group = group_of(case["in"])
    assignor = assignor_named(NAMES[case["in"]["algo"]])
    answer = assignor.configured(Options(on_failure=OnFailure.REPAIR)).assign(group)
    (note,) = [note for note in answer.notes if note.code == "repaired"]
    assert case["out"]["err"] in note.text
    assert not check(group, answer.assignment).violations
