"""Whatever a table allows is written, read back as it was, and written to the same bytes."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.records.values import VERSIONS, random_key, random_value
from wire import ErrorKind, NoteCode, WireError
from wire.layout import NO_ID, UNKNOWN_TAGS
from wire.records import RECORD_TYPES, RecordType, decode_record, encode_key, encode_value
from wire.records.json_form import from_json, to_json

every_version = pytest.mark.parametrize(
    ("found", "version"), VERSIONS, ids=[f"{found.name} v{version}" for found, version in VERSIONS]
)
dice = st.randoms(use_true_random=False)


@every_version
@given(dice=dice)
def test_what_is_written_is_read_back(found: RecordType, version: int, dice: Random) -> None:
    key, value = random_key(dice, found), random_value(dice, found, version)
    key_bytes = encode_key(found.name, key)
    value_bytes = encode_value(found.name, version, value)
    record = decode_record(key_bytes, value_bytes)
    assert record.error is None
    assert (record.type, record.name, record.key_version) == (found.number, found.name, 0)
    assert (record.key, record.value_version, record.value) == (key, version, value)
    assert not record.is_tombstone
    assert encode_value(found.name, version, value) == value_bytes
    assert {note.code for note in record.notes} <= {NoteCode.UNKNOWN_TAG}
    assert (UNKNOWN_TAGS in str(value)) == bool(record.notes)
    tombstone = decode_record(key_bytes, None)
    assert tombstone.is_tombstone
    assert (tombstone.error, tombstone.key, tombstone.value) == (None, key, None)


@every_version
@given(dice=dice)
def test_the_json_form_means_the_same_value(found: RecordType, version: int, dice: Random) -> None:
    value = random_value(dice, found, version, with_unknown=False)
    assert from_json(found.value, to_json(value)) == value


def test_versions_are_those_of_kafka_4_4() -> None:
    newest = {found.name: found.value.versions[-1] for found in RECORD_TYPES}
    assert newest.pop("OFFSET_COMMIT") == 4
    assert newest.pop("GROUP_METADATA") == 4
    assert set(newest.values()) == {0}
    assert sorted(found.number for found in RECORD_TYPES) == sorted({*range(24)} - {9, 18})
    assert all(found.value.versions[0] == 0 for found in RECORD_TYPES)


COMMIT = {"offset": 5, "metadata": "", "commitTimestamp": 7}
MEMBER = {"groupId": "g", "memberId": "m"}


def test_what_has_a_default_may_be_left_out() -> None:
    full = {**COMMIT, "leaderEpoch": -1, "topicId": NO_ID}
    assert encode_value("OFFSET_COMMIT", 4, full) == encode_value("OFFSET_COMMIT", 4, COMMIT)


def test_a_field_of_another_version_may_only_have_its_default() -> None:
    older = encode_value("OFFSET_COMMIT", 0, {**COMMIT, "leaderEpoch": -1})
    assert older == encode_value("OFFSET_COMMIT", 0, COMMIT)
    with pytest.raises(WireError, match="leaderEpoch"):
        encode_value("OFFSET_COMMIT", 0, {**COMMIT, "leaderEpoch": 3})


@pytest.mark.parametrize(
    ("name", "version", "value", "told"),
    [
        ("OFFSET_COMMIT", 3, {"offset": 5, "metadata": ""}, "commitTimestamp is missing"),
        ("OFFSET_COMMIT", 3, {**COMMIT, "offset": 2**63}, "offset"),
        ("OFFSET_COMMIT", 3, {**COMMIT, "offset": "5"}, "offset"),
        ("OFFSET_COMMIT", 3, {**COMMIT, "metadata": None}, "metadata"),
        ("OFFSET_COMMIT", 3, {**COMMIT, "metadata": b""}, "metadata: bytes is no string"),
        ("OFFSET_COMMIT", 3, {**COMMIT, "metadata": "x" * 32_768}, "32768 bytes is too long"),
        ("OFFSET_COMMIT", 4, {**COMMIT, "metadata": "x" * 32_768}, "32768 bytes is too long"),
        ("OFFSET_COMMIT", 4, {**COMMIT, "topicId": "short"}, "'short' is no uuid"),
        ("OFFSET_COMMIT", 4, {**COMMIT, "topicId": "A" * 21 + "B"}, "is no uuid"),
        ("OFFSET_COMMIT", 4, {**COMMIT, "surprise": 1}, "has no field 'surprise'"),
        ("OFFSET_COMMIT", 3, {**COMMIT, UNKNOWN_TAGS: [(9, b"")]}, "has no field"),
        ("OFFSET_COMMIT", 3, [], "list is no struct"),
        ("CONSUMER_GROUP_REGULAR_EXPRESSION", 0, {"topics": "t"}, "topics: str is no array"),
        ("CONSUMER_GROUP_REGULAR_EXPRESSION", 0, {"topics": None}, "topics: null"),
    ],
)
def test_what_cannot_be_written_is_refused_by_name(
    name: str, version: int, value: Any, told: str
) -> None:
    with pytest.raises(WireError, match=told) as refused:
        encode_value(name, version, value)
    assert refused.value.kind is ErrorKind.UNWRITABLE


def test_bytes_that_are_no_bytes_are_refused() -> None:
    member = {
        "memberId": "m",
        "clientId": "c",
        "clientHost": "h",
        "sessionTimeout": 1,
        "subscription": "text",
        "assignment": b"",
    }
    value = {"protocolType": "", "generation": 0, "protocol": None, "leader": None}
    with pytest.raises(WireError, match="subscription: str is no bytes"):
        encode_value("GROUP_METADATA", 3, {**value, "members": [member]})


def test_unknown_types_and_versions_are_refused() -> None:
    with pytest.raises(WireError) as no_type:
        encode_key("SURPRISE", {"group": "g"})
    assert no_type.value.kind is ErrorKind.UNKNOWN_TYPE
    for version in (-1, 5, 70_000):
        with pytest.raises(WireError) as no_version:
            encode_value("OFFSET_COMMIT", version, COMMIT)
        assert no_version.value.kind is ErrorKind.UNKNOWN_VERSION
    with pytest.raises(WireError):
        encode_value("SURPRISE", 0, {})


def test_json_with_something_else_than_base64_is_refused() -> None:
    found = next(found for found in RECORD_TYPES if found.name == "GROUP_METADATA")
    for broken in ("no base64!", 7):
        with pytest.raises(WireError, match="subscription"):
            from_json(found.value, {"members": [{"subscription": broken}]})
    # What is not of the expected shape is left for the writer to refuse.
    assert from_json(found.value, {"members": 7, "surprise": 1}) == {"members": 7, "surprise": 1}
