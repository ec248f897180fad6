"""`decode offsets-record`: two hexadecimal numbers a line in, Kafka's own JSON out."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from assignors.cli.command import command
from tests.cli.running import answer, answers
from tests.wire.records.samples import samples, vectors
from wire import Subscription, encode_assignment, encode_sticky_user_data, encode_subscription
from wire.records import encode_key, encode_value

KEYS = ["schema", "type", "name", "key", "version", "value", "notes", "error", "error_kind"]
KIND = ("decode", "offsets-record")
COMMIT = "0001 0001 67 0001 74 00000002".replace(" ", "")


def line(key: bytes, value: bytes | None) -> str:
    return f"{key.hex()} {'-' if value is None else value.hex()}\n"


def test_a_commit_reads_as_documented() -> None:
    value = encode_value("OFFSET_COMMIT", 4, {"offset": 5, "metadata": "", "commitTimestamp": 7})
    assert answer(*KIND, given=f"{COMMIT} {value.hex()}") == {
        "schema": 2,
        "type": 1,
        "name": "OFFSET_COMMIT",
        "key": {"group": "g", "topic": "t", "partition": 2},
        "version": 4,
        "value": {"offset": 5, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 7},
        "notes": [],
        "error": None,
        "error_kind": None,
    }


def test_a_tombstone_has_no_value_and_no_error() -> None:
    document = answer(*KIND, given=f"{COMMIT} -\n")
    assert (document["version"], document["value"], document["error"]) == (None, None, None)


def test_records_read_as_in_kafkas_vectors() -> None:
    cases = vectors("rec-dec")
    pairs = [(case["in"]["key"], case["in"]["value"]) for case in cases]
    given = "".join(f"{key} {'-' if value is None else value}\n" for key, value in pairs)
    documents, code = answers(*KIND, given=given)
    assert code == 2
    for case, document in zip(cases, documents, strict=True):
        assert [*document][: len(KEYS)] == KEYS
        assert (document["error"] is not None) == ("err" in case["out"])
        if document["error"] is None:
            for name in ("type", "name", "key", "value"):
                assert document[name] == case["out"][name]
            assert document["version"] == case["out"].get("version")


def test_records_of_a_real_broker_read_as_kafka_reads_them() -> None:
    documents, code = answers(
        *KIND, given="".join(line(sample.key, sample.value) for sample in samples())
    )
    assert code == 0
    for sample, document in zip(samples(), documents, strict=True):
        truth = sample.truth
        assert document["name"] == truth["typeName"]
        assert document["key"] == truth["key"]
        assert document["version"] == truth.get("valueVersion")
        assert document["value"] == truth["value"]


def test_nothing_is_no_null() -> None:
    for nothing in ("", " ", " 0x", "\t"):
        document = answer(*KIND, given=f"{COMMIT}{nothing}\n")
        assert document["error_kind"] == "truncated"
        assert document["name"] == "OFFSET_COMMIT"
    assert answer(*KIND, given="\n")["error"] == "key: 0 bytes hold no type (byte 0)"
    assert answer(*KIND, given="- -\n")["error"] == "key: null (byte 0)"
    assert answer(*KIND, given=" -\n")["error"] == "key: 0 bytes hold no type (byte 0)"


def test_an_unknown_type_is_labelled() -> None:
    document = answer(*KIND, given="0012000167 0000\r\n")
    assert (document["type"], document["name"]) == (18, "UNKNOWN")
    assert document["error"] == "key: record type 18 is not known (byte 0)"
    assert document["error_kind"] == "unknown-type"
    assert document["error_at"] == {"offset": 0, "line": 1}


@pytest.mark.parametrize(
    ("given", "offset"), [("00zz -", 2), (COMMIT + " 00zz", 27), (COMMIT + "\t000", 28)]
)
def test_bad_hex_is_named_by_its_place_in_the_line(given: str, offset: int) -> None:
    document = answer(*KIND, given=given + "\n")
    assert [*document][: len(KEYS)] == KEYS
    assert (document["error_kind"], document["error_at"]["offset"]) == ("bad-hex", offset)
    assert document["name"] is None


@given(st.lists(st.tuples(st.binary(max_size=20), st.none() | st.binary(max_size=40)), max_size=6))
def test_there_is_one_document_for_each_record(records: list[tuple[bytes, bytes | None]]) -> None:
    documents, _ = answers(*KIND, given="".join(line(*record) for record in records))
    assert [[*document][: len(KEYS)] for document in documents] == [KEYS] * len(records)


def sticky_group() -> str:
    subscription = Subscription(topics=("t",), user_data=encode_sticky_user_data({"t": (1,)}, 3))
    member: dict[str, Any] = {
        "memberId": "m",
        "clientId": "c",
        "clientHost": "h",
        "sessionTimeout": 1,
        "subscription": encode_subscription(subscription),
        "assignment": b"",
    }
    value = {
        "protocolType": "consumer",
        "generation": 1,
        "protocol": "sticky",
        "leader": "m",
        "members": [member, {**member, "assignment": encode_assignment({"t": (1,)})}],
    }
    return line(
        encode_key("GROUP_METADATA", {"group": "g"}), encode_value("GROUP_METADATA", 3, value)
    )


def test_members_are_opened_where_asked_for() -> None:
    assert "members" not in answer(*KIND, given=sticky_group())
    first, second = answer(*KIND, "--members", given=sticky_group())["members"]
    assert first["member_id"] == "m"
    assert first["protocol"] == "sticky"
    assert first["subscription"]["value"]["topics"] == ["t"]
    assert first["user_data"]["value"] == {"owned": [["t", [1]]], "generation": 3}
    assert first["assignment"]["value"] is None
    assert first["assignment"]["error_kind"] == "truncated"
    assert second["assignment"]["value"]["partitions"] == [["t", [1]]]
    assert second["assignment"]["notes"] == []


def test_members_have_rows_below_their_record() -> None:
    arguments = [*KIND, "--members", "-o", "table"]
    whole = CliRunner(env={"COLUMNS": ""})
    shown = whole.invoke(command, arguments, input=sticky_group()).stdout
    rows = [line.split() for line in shown.splitlines() if " m  " in line]
    kinds = ["subscription", "assignment", "user_data"]
    assert [row[0] for row in rows] == [*kinds, *kinds]
    assert "(truncated)" in rows[1]
    assert '[["t",' in rows[4]


def test_members_of_every_record_can_be_opened() -> None:
    given = "".join(line(sample.key, sample.value) for sample in samples())
    documents, _ = answers(*KIND, "--members", given=given + "zz\n0012 -\n")
    for sample, document in zip(samples(), documents, strict=False):
        assert len(document["members"]) == len(sample.truth.get("embedded") or [])
    assert [document["members"] for document in documents[-2:]] == [[], []]


def test_members_are_for_records() -> None:
    result = CliRunner().invoke(command, ["decode", "subscription", "--members"], input="")
    assert result.exit_code == 2
    assert "offsets-record" in result.output


def test_a_table_shows_records_tombstones_notes_and_errors() -> None:
    given = f"{COMMIT} -\n0003000167 00000000000700cc\n00030001 -\n000300021b5d -\n{sticky_group()}"
    result = CliRunner().invoke(
        command, [*KIND, "-o", "table"], input=given, env={"COLUMNS": "200"}
    )
    assert result.exit_code == 2
    shown = result.output
    for text in ("OFFSET_COMMIT", "g/t/2", "tombstone", '{"epoch": 7}', "1 bytes after the end"):
        assert text in shown, text
    assert "ERROR" in shown
    assert "\x1b]" not in shown
    assert "..." in shown


def test_a_line_of_a_dump_is_named_with_what_reads_it() -> None:
    (document,), code = answers(*KIND, given='{"key": "AAEA", "value": null}\n')
    assert code == 2
    assert document["error_kind"] == "bad-hex"
    assert "replay reads dumps" in document["error"]
