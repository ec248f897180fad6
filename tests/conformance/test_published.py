"""The published files are what they say: made by Kafka's classes, whole, small, in one format."""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path

import pytest

from assignors.conformance.vectors import (
    CLIENT_ALGORITHMS,
    FORMAT,
    OPERATIONS,
    SERVER_ALGORITHMS,
    Judge,
    default_judge,
)
from tests.conformance.published import FILES, KAFKA, PEERS, RECORDS, lines, text_of, vectors
from tests.foreign.judge import Judge as Reference
from tests.vectors import make

SIZE_MAX = 600_000


def first_difference(published: bytes, made: bytes) -> str:
    """The first lines in which two texts differ, and what to do if that is meant."""
    pair = (published.decode().splitlines(), made.decode().splitlines())
    changed = [line for line in difflib.unified_diff(*pair, lineterm="", n=0) if line[:1] in "+-"]
    shown = "\n".join(line[:300] for line in changed[:8])
    return f"if the new text is meant: python -m tests.vectors.make\n{shown}"


@pytest.mark.foreign
def test_kafka_gives_the_same_answers_to_the_same_seed(judge: Reference) -> None:
    made = make.text_of(make.kafka_file(judge, make.SEED))
    assert made == text_of(KAFKA), first_difference(text_of(KAFKA), made)
    made = make.text_of(make.records_file(judge))
    assert made == text_of(RECORDS), first_difference(text_of(RECORDS), made)


@pytest.mark.foreign
def test_another_seed_asks_other_questions(judge: Reference) -> None:
    header, *others = make.kafka_file(judge, make.SEED + 1)
    assert set(header["counts"]) == set(lines(KAFKA)[0]["counts"])
    asked = [{line["id"]: line["in"] for line in file} for file in (others, lines(KAFKA)[1:])]
    same = {name.rpartition("-")[0] for name in asked[0] if asked[0][name] == asked[1].get(name)}
    assert {"codec-edge", "codec-utf8", "special"} <= same
    assert not {"sticky", "srv-uniform", "codec-dec"} & same


def test_the_cases_of_peers_are_those_of_their_source() -> None:
    made = make.text_of(make.peers_file())
    assert made == text_of(PEERS), first_difference(text_of(PEERS), made)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_starts_with_a_header_that_counts_its_lines(file: Path) -> None:
    header, *others = lines(file)
    assert header["format"] == FORMAT
    assert header["licence"] == "Apache-2.0"
    assert header["counts"] == Counter(line["category"] for line in others)
    assert len({line["id"] for line in others}) == len(others) == len(vectors(file))
    assert all(line["id"].startswith(f"{line['category']}-") for line in others)


def test_the_file_is_small_and_has_everything_in_it() -> None:
    assert KAFKA.stat().st_size < SIZE_MAX
    found = vectors(KAFKA)
    assert {vector.algorithm for vector in found} >= {
        *CLIENT_ALGORITHMS,
        *SERVER_ALGORITHMS,
        *(algorithm for algorithm in OPERATIONS if algorithm.startswith("codec-")),
    }
    assert {vector.judge for vector in found} == set(Judge)
    assert sum(vector.is_reference_failing for vector in found) > 100
    notes = Counter(note for vector in found for note in vector.note.split("; "))
    assert notes["the next round of the group before"] > 200
    assert notes["a partition claimed twice"] > 50
    assert notes["static members beside dynamic ones"] > 100


def test_no_question_is_asked_twice() -> None:
    asked = Counter(repr(vector.given) for vector in vectors(KAFKA))
    assert set(asked.values()) == {1}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_peers_case_says_who_does_what(file: Path) -> None:
    for line in lines(file)[1:]:
        is_peers = line["category"].startswith("peer-")
        assert is_peers == bool(line.get("clients"))
        if is_peers:
            assert line["note"]
            assert {"value", "out"} & set(line) or line["judge"] == "lawful"
        else:
            assert line["op"] == OPERATIONS[line["in"]["algo"]]
            assert line["judge"] == default_judge(line["in"]["algo"], line["in"], line["out"])
