"""What was read wrongly, or written wrongly, is found."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from assignors.conformance.judges import mistakes, mistakes_of_error
from assignors.conformance.values import expected_value
from assignors.conformance.vectors import Judge, Operation, vector_from_document
from assignors.documents.values import Document
from tests.conformance.published import KAFKA, vectors
from tests.conformance.references import EXACT, LAWFUL, Answer, answerable, right


def spoilt_values(value: Answer) -> Iterator[Answer]:
    """The value with each field changed."""
    yield {**value, "owned": [*(value["owned"] or []), ["z", 999]]}
    if value["owned"]:
        yield {**value, "owned": value["owned"][:-1]}
    if "topics" in value:
        yield {**value, "topics": [*value["topics"], "zzz"]}
    if "ud" in value:
        yield {**value, "ud": (value["ud"] or "") + "00"}
        if not value["ud"]:  # null and empty differ: some readers fail over one of them
            yield {**value, "ud": "" if value["ud"] is None else None}
    if "gen" in value:
        yield {**value, "gen": 123_456}
    if "rack" in value:
        yield {**value, "rack": "elsewhere"}


def test_a_spoilt_value_fails() -> None:
    found = 0
    for vector in answerable(Operation.DECODE):
        if vector.judge is Judge.ACCEPT:
            for answer in spoilt_values(right(vector)):
                assert mistakes(vector, answer, LAWFUL), (vector.vector_id, answer)
                found += 1
    assert found > 500


def test_how_nothing_is_written_makes_no_difference() -> None:
    found = 0
    for vector in answerable(Operation.DECODE):
        value = right(vector)
        if value.get("gen", 0) in (None, -1):
            assert not mistakes(vector, {**value, "gen": None}, LAWFUL)
            assert not mistakes(vector, {**value, "gen": -1}, LAWFUL)
            assert not mistakes(vector, {**value, "gen": -(2**31)}, LAWFUL)
            found += 1
        if "rack" in value and not value["rack"]:
            assert not mistakes(vector, {**value, "rack": None}, LAWFUL)
            assert not mistakes(vector, {**value, "rack": ""}, LAWFUL)
            found += 1
    assert found > 50


def test_what_is_to_be_read_may_not_be_refused_nor_the_reverse() -> None:
    for vector in vectors(KAFKA):
        refused = mistakes_of_error(vector, {"text": "no"}, LAWFUL)
        if vector.judge is Judge.REFUSE:
            assert not refused
            assert mistakes(vector, {}, LAWFUL) == ["decoded what must be refused"]
        elif vector.judge is Judge.EITHER:
            assert not refused
            assert not mistakes(vector, {}, LAWFUL)
        elif not vector.is_reference_failing:
            assert refused == ["failed: no"], vector.vector_id


def test_exactly_java_fails_where_java_fails_and_by_that_name() -> None:
    failing = [one for one in vectors(KAFKA) if one.is_reference_failing]
    for vector in failing:
        name = str(vector.expected["err"]).partition(":")[0]
        assert not mistakes_of_error(vector, {"exception": name}, EXACT)
        assert not mistakes_of_error(vector, {"text": "no name given"}, EXACT)
        assert mistakes_of_error(vector, {"exception": "AnotherException"}, EXACT)
        assert mistakes(vector, {"assignment": {}}, EXACT)
        assert not mistakes_of_error(vector, {"exception": "AnotherException"}, LAWFUL)
    assert len(failing) > 100


def flipped(digits: str, dice: Random) -> str:
    blob = bytearray.fromhex(digits)
    blob[dice.randrange(len(blob))] ^= 1 << dice.randrange(8)
    return blob.hex()


def test_a_spoilt_byte_fails_where_bytes_are_asked_for() -> None:
    dice = Random(1)
    for vector in answerable(Operation.ENCODE):
        for key, digits in right(vector).items():
            assert mistakes(vector, {**right(vector), key: flipped(digits, dice)}, EXACT)


def test_bytes_in_another_order_say_the_same() -> None:
    vector = vector_from_document(
        {
            "id": "codec-mkasg-1",
            "in": {"algo": "codec-mkasg", "owned": [["a", 0], ["b", 1]], "ud": None},
            "out": {"v0": "00000000000200016100000001000000000001620000000100000001ffffffff"},
        }
    )
    turned = "00000000000200016200000001000000010001610000000100000000ffffffff"
    assert not mistakes(vector, {"v0": turned}, LAWFUL)
    assert mistakes(vector, {"v0": turned}, EXACT) == [
        "v0: byte 8: expected 6100000001000000, got 6200000001000000"
    ]
    other = turned.replace("0000000100000001", "0000000100000002")
    (words,) = mistakes(vector, {"v0": other}, LAWFUL)
    assert words.startswith("v0: owned: expected")
    (words,) = mistakes(vector, {"v0": turned[:-2]}, LAWFUL)
    assert words.startswith("v0: Kafka refuses it")
    assert mistakes(vector, {"v0": None}, LAWFUL) == ["v0: expected 32 bytes, got null"]
    assert mistakes(vector, {"v9": turned}, LAWFUL) == ["none of v0 in the answer"]


def test_versions_that_a_program_does_not_write_are_not_missed() -> None:
    for vector in answerable(Operation.ENCODE):
        if "v0" in vector.expected:
            assert not mistakes(vector, {"v1": vector.expected["v1"]}, LAWFUL)


@pytest.mark.parametrize("answer", [{}, {"owned": 1}, {"topics": "a"}, {"topics": [], "ud": "0"}])
def test_a_value_of_another_form_is_refused_with_its_place(answer: Answer) -> None:
    (vector, *_) = [
        one
        for one in answerable(Operation.DECODE)
        if one.algorithm == "codec-sub" and one.judge is Judge.ACCEPT
    ]
    (words,) = mistakes(vector, answer, LAWFUL)
    assert words.startswith("not an answer: "), words


def test_values_spelled_out_are_those_in_the_bytes() -> None:
    for vector in answerable(Operation.DECODE):
        if vector.value is not None:
            bare: Document = {"id": vector.vector_id, "in": vector.given, "out": vector.expected}
            assert expected_value(vector_from_document(bare)) == expected_value(vector)


def test_a_field_that_the_program_does_not_have_is_not_compared() -> None:
    vector = next(
        each
        for each in vectors(KAFKA)
        if each.algorithm == "codec-sub"
        and each.judge is Judge.ACCEPT
        and right(each)["rack"]
        and right(each)["owned"]
    )
    answer = {**right(vector), "rack": None, "owned": []}
    assert mistakes(vector, answer, LAWFUL)
    assert mistakes(vector, {**answer, "unseen": ["rack", "owned"]}, LAWFUL) == []
    assert mistakes(vector, {**answer, "unseen": ["rack"]}, LAWFUL)
    names = ["topics", "ud", "owned", "gen", "rack"]
    for wrong in (names, ["nothing"], ["rack", "rack"], "rack", [7]):
        (sentence,) = mistakes(vector, {**answer, "unseen": wrong}, LAWFUL)
        assert sentence.startswith("not an answer: ")
        assert "unseen" in sentence
