"""The JSON form of decoded values: other programs read it, so every key is pinned here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wire import (
    Decoded,
    WireError,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
)
from wire.protocol.documents import (
    assignment_document,
    cooperative_user_data_document,
    error_document,
    note_document,
    sticky_user_data_document,
    subscription_document,
)

OWNED = "00000001000174000000020000000000000001"


def test_a_subscription() -> None:
    blob = "00030000000100017400000001ab" + OWNED + "000000070000"
    decoded = decode_subscription(bytes.fromhex(blob))
    assert subscription_document(decoded.require()) == {
        "version": 3,
        "topics": ["t"],
        "user_data": "ab",
        "owned": [["t", [0, 1]]],
        "generation": 7,
        "rack_id": None,
    }
    assert [note_document(note) for note in decoded.notes] == [
        {"code": "rack-empty", "offset": 37, "text": "rack of length 0, not null"}
    ]


def test_an_assignment() -> None:
    value = decode_assignment(bytes.fromhex("0001" + OWNED + "ffffffff")).require()
    assert assignment_document(value) == {
        "version": 1,
        "partitions": [["t", [0, 1]]],
        "user_data": None,
    }


def test_sticky_user_data_tells_absent_from_minus_one() -> None:
    for tail, generation in (("", None), ("ffffffff", -1), ("00000005", 5)):
        value = decode_sticky_user_data(bytes.fromhex(OWNED + tail)).require()
        expected = {"owned": [["t", [0, 1]]], "generation": generation}
        assert sticky_user_data_document(value) == expected


def test_cooperative_user_data_shows_owned_only_where_the_bytes_carry_it() -> None:
    four = decode_cooperative_user_data(bytes.fromhex("00000007")).require()
    assert cooperative_user_data_document(four) == {"generation": 7}
    full = decode_cooperative_user_data(bytes.fromhex(OWNED + "00000007")).require()
    expected = {"generation": 7, "owned": [["t", [0, 1]]]}
    assert cooperative_user_data_document(full) == expected


def test_an_error_has_a_sentence_a_code_and_a_place() -> None:
    decoded = decode_subscription(b"\x00")
    assert isinstance(decoded.error, WireError)
    document: dict[str, Any] = error_document(decoded.error)
    assert json.loads(json.dumps(document)) == document
    assert (document["error_kind"], document["error_at"]) == ("truncated", {"offset": 0})


def test_a_value_that_is_required_and_missing_is_an_error() -> None:
    with pytest.raises(WireError):
        Decoded().require()
