"""Partitions of documents are checked together where all is right, else one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from assignors.documents.groups import partitions_from_document
from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    as_int32,
    as_list,
    as_string,
    described,
)
from tests.conftest import cases

ANYTHING: list[Any] = [
    *("t0", "é", "\ud800", "01", 0, -(2**31), 2**31 - 1, 2**31, -(2**31) - 1, 2**70),
    *(True, None, 1.0, [], [0], [[0]], ["t0", [0]], ["t0", [0], 1], {}, {"t0": [0]}),
]


@st.composite
def documents(draw: st.DrawFn) -> Any:
    """Draw partitions by topic in either form; in most of them one thing is something else."""
    names = draw(st.lists(st.sampled_from([f"t{i}" for i in range(12)]), max_size=12))
    numbers = st.lists(st.integers(-1, 3), max_size=3)
    pairs: list[Any] = [[name, draw(numbers)] for name in names]
    is_object = draw(st.booleans())
    for _ in range(draw(st.integers(0, 2)) if pairs else 0):
        pair, other = draw(st.sampled_from(pairs)), draw(st.sampled_from(ANYTHING))
        kind = draw(st.sampled_from(["entry", "topic", "numbers", "number"]))
        if kind == "number" and isinstance(pair[-1], list):
            pair[-1].append(other)
        elif kind == "entry" and not is_object:
            pairs[pairs.index(pair)] = other
            break
        else:
            pair[kind != "topic"] = str(other) if is_object and kind == "topic" else other
    return dict(pairs) if is_object else pairs


@cases(300)
@given(documents())
@example({name: [0] for name in [*"abcde", "\ud800"]})
@example({f"t{i}": [2**31 * (i == 5)] for i in range(6)})
@example({f"t{i}": [-(2**31) - (i == 5)] for i in range(6)})
def test_partitions_read_together_are_those_read_one_by_one(document: Any) -> None:
    found = result_of(partitions_from_document, document)
    assert repr(found) == repr(result_of(one_by_one, document))


def result_of(read: Callable[[Any, Any], Any], document: Any) -> Any:
    try:
        return read(document, ("members", 0, "owned"))
    except DocumentError as error:
        return error.document()


def one_by_one(document: Any, place: Any) -> Any:
    """Partitions by topic, each value by its own check, the first that is wrong raises."""
    if isinstance(document, dict):
        return {
            as_string(topic, place): tuple(
                as_int32(number, (*place, topic, position))
                for position, number in enumerate(as_list(listed, (*place, topic)))
            )
            for topic, listed in document.items()
        }
    merged: dict[str, tuple[int, ...]] = {}
    for entry, pair in enumerate(as_list(document, place)):
        if not isinstance(pair, list) or len(pair) != 2:
            words = f"expected [topic, [partitions]], found {described(pair)}"
            raise DocumentError(ErrorCode.WRONG_TYPE, words, (*place, entry))
        topic = as_string(pair[0], (*place, entry, 0))
        merged.setdefault(topic, ())
        for position, number in enumerate(as_list(pair[1], (*place, entry, 1))):
            merged[topic] += (as_int32(number, (*place, entry, 1, position)),)
    return merged
