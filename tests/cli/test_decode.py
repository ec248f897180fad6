from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.running import answer, answers
from tests.wire.vectors import captured
from wire import Subscription, encode_sticky_user_data, encode_subscription

KEYS = ["schema", "value", "notes", "error", "error_kind"]


def test_a_subscription_of_version_3_reads_as_documented() -> None:
    blob = encode_subscription(
        Subscription(
            topics=("t", "u"), user_data=b"\x01", owned={"t": (0, 1)}, generation=5, rack_id="r"
        )
    )
    document = answer("decode", "subscription", given=blob.hex())
    assert document == {
        "schema": 2,
        "value": {
            "version": 3,
            "topics": ["t", "u"],
            "user_data": "01",
            "owned": [["t", [0, 1]]],
            "generation": 5,
            "rack_id": "r",
        },
        "notes": [],
        "error": None,
        "error_kind": None,
    }


def test_an_assignment_reads_as_documented() -> None:
    given = "0001 00000001 000174 00000002 00000000 00000003 ffffffff".replace(" ", "")
    document = answer("decode", "assignment", given=given)
    assert document["value"] == {"version": 1, "partitions": [["t", [0, 3]]], "user_data": None}
    assert document["error"] is None


def test_sticky_user_data_reads_as_documented() -> None:
    blob = encode_sticky_user_data({"t": (1, 2)}, 9)
    document = answer("decode", "sticky-userdata", given=blob.hex())
    assert document["value"] == {"owned": [["t", [1, 2]]], "generation": 9}


def test_cooperative_user_data_has_owned_only_in_the_sticky_layout() -> None:
    short = answer("decode", "cooperative-userdata", given="00000009")
    assert short["value"] == {"generation": 9}
    sticky = encode_sticky_user_data({"t": (1, 2)}, 9)
    long = answer("decode", "cooperative-userdata", given=sticky.hex())
    assert long["value"] == {"generation": 9, "owned": [["t", [1, 2]]]}


@pytest.mark.parametrize("kind", ["sticky-userdata", "cooperative-userdata"])
def test_null_user_data_is_not_zero_bytes(kind: str) -> None:
    (null, dash, empty), _ = answers("decode", kind, given="null\n-\n\n")
    assert null == dash
    assert null["error"] is None
    assert null["notes"] != empty["notes"]


@pytest.mark.parametrize("kind", ["subscription", "assignment"])
def test_null_is_no_hex_where_nothing_can_be_null(kind: str) -> None:
    assert answer("decode", kind, given="null\n")["error_kind"] == "bad-hex"


@pytest.mark.parametrize("form", ["0X{}", "  {}  ", "\t0x{}\r"])
def test_hex_may_be_in_either_case_prefixed_and_surrounded_by_white_space(form: str) -> None:
    digits = "0000000000010001740000000A"
    plain = answer("decode", "subscription", given=digits.lower() + "\n")
    assert answer("decode", "subscription", given=form.format(digits) + "\n") == plain


@pytest.mark.parametrize(
    ("line", "offset"), [("00g0", 2), ("  0xzz", 4), ("000", 3), ("\u00e9", 0)]
)
def test_bad_hex_is_named_by_its_place_in_the_line(line: str, offset: int) -> None:
    document = answer("decode", "subscription", given=line + "\n")
    assert [*document][: len(KEYS)] == KEYS
    assert document["value"] is None
    assert (document["error_kind"], document["error_at"]["offset"]) == ("bad-hex", offset)


def test_one_unreadable_line_sets_the_exit_code_and_the_others_go_on() -> None:
    good = "00000000000100017400000000"
    documents, code = answers("decode", "subscription", given=f"{good}\nzz\n\n{good}\n")
    assert code == 2
    assert [document["error"] is None for document in documents] == [True, False, False, True]
    assert answers("decode", "subscription", given=good)[1] == 0


def test_strict_mode_refuses_what_kafka_refuses() -> None:
    cut = "0001000000010001740000"
    assert answer("decode", "subscription", given=cut)["error"] is None
    strict = answer("decode", "subscription", "--mode", "strict", given=cut)
    assert strict["value"] is None
    assert set(strict["error_at"]) == {"offset", "line"}


@given(st.lists(st.binary(max_size=40).map(bytes.hex), max_size=6))
def test_there_is_one_document_for_each_blob(blobs: list[str]) -> None:
    for kind in ("subscription", "assignment", "sticky-userdata", "cooperative-userdata"):
        documents, _ = answers("decode", kind, given="".join(f"{blob}\n" for blob in blobs))
        assert [[*document][: len(KEYS)] for document in documents] == [KEYS] * len(blobs)


@pytest.mark.parametrize("kind", ["subscription", "assignment"])
def test_what_real_clients_wrote_is_read(kind: str) -> None:
    cases = captured(kind)
    lines = "".join(f"{case['hex']}\n" for case in cases)
    documents, _ = answers("decode", kind, given=lines)
    for case, document in zip(cases, documents, strict=True):
        # A leader that forgot a member leaves it zero bytes: those hold no version.
        assert (document["value"] is None) == (case["hex"] == "")
        if case["hex"] and kind == "subscription":
            assert document["value"]["topics"] == case["decoded"]["topics"]
            assert document["value"]["version"] == case["decoded"]["version"]
