"""The twins against the answers of Kafka's own classes: lists, order and faults."""

from __future__ import annotations

from typing import Any

import pytest

from assignors import JavaFailure, OnFailure, Options, Rebalance, assignor_named
from assignors.checks import check
from assignors.conformance.groups import group_of
from tests.foreign.convert import NAMES as EVERY_NAME
from tests.laws.laws import protocol_of
from tests.wire.vectors import kafka

NAMES = {algorithm: name for algorithm, name in EVERY_NAME.items() if name.startswith("java/")}
CASES = kafka(*NAMES)
FAILURES = [case for case in CASES if "err" in case["out"]]


def lists_of(answer: Rebalance) -> dict[str, list[list[Any]]]:
    assert answer.lists is not None
    return {member: [list(pair) for pair in pairs] for member, pairs in answer.lists.items()}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_answer_is_javas(case: dict[str, Any]) -> None:
    group = group_of(case["in"])
    assignor = assignor_named(NAMES[case["in"]["algo"]])
    expected = case["out"]
    if "err" in expected:
        with pytest.raises(JavaFailure) as failure:
            assignor.assign(group)
        assert str(failure.value) == expected["err"]
        return
    answer = assignor.assign(group)
    assert lists_of(answer) == expected["assignment"]
    assert list(answer.order or ()) == expected["order"] == list(answer.assignment)
    if "maxGen" in expected:
        assert answer.state is not None
        assert answer.state.max_generation == expected["maxGen"]
    if expected.get("transfer") is not None:
        waits = {(topic, number) for topic, number, _ in expected["transfer"]}
        withheld = {(topic, n) for topic, numbers in answer.withheld.items() for n in numbers}
        assert withheld == waits if assignor.is_cooperative else not withheld


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_by_topic_the_answer_holds_what_the_lists_hold(case: dict[str, Any]) -> None:
    assignor = assignor_named(NAMES[case["in"]["algo"]])
    answer = assignor.configured(Options(on_failure=OnFailure.REPAIR)).assign(group_of(case["in"]))
    assert answer.lists is not None
    for member, share in answer.assignment.items():
        pairs = [(topic, number) for topic, numbers in share.items() for number in numbers]
        assert sorted(pairs) == sorted(answer.lists[member])


@pytest.mark.parametrize("case", FAILURES, ids=[case["id"] for case in FAILURES])
def test_a_repaired_answer_is_lawful_and_says_so(case: dict[str, Any]) -> None:
    group = group_of(case["in"])
    assignor = assignor_named(NAMES[case["in"]["algo"]])
    answer = assignor.configured(Options(on_failure=OnFailure.REPAIR)).assign(group)
    notes = [note for note in answer.notes if note.code == "repaired"]
    assert len(notes) == 1
    assert case["out"]["err"].split(":")[0] in notes[0].text
    report = check(
        group, answer.assignment, withheld=answer.withheld, protocol=protocol_of(assignor)
    )
    rules = {violation.rule.value for violation in report.violations}
    assert rules <= {"not-subscribed", "given-too-early"}, "Java's own faults stay"
