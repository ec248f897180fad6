"""Columns decoded together are the columns decoded blob by blob."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assignors.arrow import codecs
from assignors.group_bytes import entries
from tests.group_bytes.blobs import NAMES, groups_of_bytes, mutated
from tests.group_bytes.test_subscriptions import always_together
from tests.wire.vectors import captured
from wire import encode_assignment

ASSIGNMENTS = sorted({bytes.fromhex(case["hex"]) for case in captured("assignment")})


def plain_assignments() -> st.SearchStrategy[bytes]:
    numbers = st.lists(st.integers(0, 5), max_size=4).map(tuple)
    return st.builds(
        encode_assignment,
        st.dictionaries(st.sampled_from(NAMES), numbers, max_size=4),
        user_data=st.sampled_from((None, b"", b"data")),
        version=st.integers(0, 3),
    )


def columns_of(blobs: st.SearchStrategy[bytes]) -> st.SearchStrategy[pa.Array]:
    return st.lists(st.none() | blobs, max_size=6).map(lambda b: pa.array(b, pa.binary()))


WHOLE = st.one_of(plain_assignments(), st.sampled_from(ASSIGNMENTS))
GIVEN = columns_of(st.one_of(WHOLE, mutated(WHOLE), st.binary(max_size=20)))
SAID = columns_of(groups_of_bytes(max_size=1).map(lambda blobs: blobs["m0"]))


def read_both_ways(decode: str, column: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The structs of a column read together to the end, and of one read blob by blob."""
    function = getattr(codecs, decode)
    with always_together():
        together = function(column)
    together.validate(full=True)
    with patch.object(entries, "MESSAGES_MIN", len(column) + 1):
        return together, function(column)


@given(SAID)
def test_subscriptions_read_together_are_those_read_one_by_one(column: pa.Array) -> None:
    together, alone = read_both_ways("decoded_subscriptions", column)
    assert together == alone


@given(GIVEN)
@example(pa.array([encode_assignment({"a": (0, 0)}), None, b"\0\1\0\0\0\1\0\1"], pa.binary()))
def test_assignments_read_together_are_those_read_one_by_one(column: pa.Array) -> None:
    together, alone = read_both_ways("decoded_assignments", column)
    assert together == alone


@pytest.mark.parametrize(
    ("decode", "kind"),
    [
        ("decoded_subscriptions", "subscription"),
        ("decoded_assignments", "assignment"),
    ],
)
def test_every_captured_blob_in_one_column(decode: str, kind: str) -> None:
    column = pa.array([bytes.fromhex(case["hex"]) for case in captured(kind)], pa.binary())
    together, alone = read_both_ways(decode, column)
    assert together == alone


def test_names_that_stand_far_behind_are_learned() -> None:
    """Entries are read step by step: the names of later steps were once looked for in vain."""
    topics = {f"topic-{number:03}": (0, 1) for number in range(300)}
    column = pa.array([encode_assignment(topics)] * 40, pa.binary())
    with patch.object(codecs, "decode_assignment", side_effect=AssertionError("one by one")):
        (first, *_) = codecs.decoded_assignments(column).to_pylist()
    assert [entry["topic"] for entry in first["partitions"]] == list(topics)
