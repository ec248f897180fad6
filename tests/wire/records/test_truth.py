"""Kafka's own classes as judge: records of real brokers, and bytes made by hand."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from typing import Any

import pytest

from tests.wire.records.samples import Sample, all_samples, samples, vectors
from wire import Decoded, Mode, decode_assignment, decode_subscription
from wire.records import (
    RECORD_TYPES,
    Record,
    decode_record,
    encode_key,
    encode_value,
    formatter_json,
    members_of,
    record_json,
)
from wire.records.json_form import from_json

BY_NUMBER = {found.number: found for found in RECORD_TYPES}


def in_truths_words(record: Record) -> dict[str, Any]:
    """A record under the names of the truth files."""
    document = record_json(record)
    named = {"type": document["type"], "typeName": document["name"], "key": document["key"]}
    if record.value_version is not None:
        named["valueVersion"] = record.value_version
    return {**named, "value": document["value"]}


def test_every_record_of_a_real_broker_reads_as_kafka_reads_it() -> None:
    for sample in all_samples():
        record = decode_record(sample.key, sample.value)
        truth = {name: part for name, part in sample.truth.items() if name != "embedded"}
        truth = {name: truth[name] for name in truth if name not in {"partition", "offset"}}
        assert in_truths_words(record) == truth, sample.place
        assert record.error is None
        assert record.notes == ()
        assert record.is_tombstone == (truth["value"] is None)


def test_the_bundled_records_hold_every_type_that_a_4_4_broker_writes() -> None:
    seen = Counter(sample.truth["type"] for sample in samples())
    assert set(seen) == {found.number for found in RECORD_TYPES} - {0}
    tombstones = {sample.truth["type"] for sample in samples() if sample.value is None}
    assert tombstones >= {1, 2, 3, 4, 5, 6, 7, 8, 16}


def test_every_record_of_a_real_broker_is_written_byte_for_byte() -> None:
    for sample in all_samples():
        record = decode_record(sample.key, sample.value)
        assert record.key is not None
        assert encode_key(record.name, record.key) == sample.key, sample.place
        if record.value is not None:
            assert record.value_version is not None
            again = encode_value(record.name, record.value_version, record.value)
            assert again == sample.value, sample.place


def subscription_in_truths_words(blob: bytes) -> dict[str, Any] | None:
    """A Subscription as Kafka's JSON converter writes it; None where Kafka's reader throws."""
    value = decode_subscription(blob, mode=Mode.STRICT).value
    if value is None:
        return None
    data: dict[str, Any] = {"topics": list(value.topics), "userData": based(value.user_data)}
    if value.version >= 1:
        data["ownedPartitions"] = [
            {"topic": topic, "partitions": list(numbers)} for topic, numbers in value.owned.items()
        ]
    if value.version >= 2:
        data["generationId"] = value.generation
    if value.version >= 3:
        data["rackId"] = value.rack_id
    return {"version": value.version, "data": data}


def assignment_in_truths_words(blob: bytes) -> dict[str, Any] | None:
    value = decode_assignment(blob, mode=Mode.STRICT).value
    if value is None:
        return None
    given = [
        {"topic": topic, "partitions": list(numbers)} for topic, numbers in value.partitions.items()
    ]
    data = {"assignedPartitions": given, "userData": based(value.user_data)}
    return {"version": value.version, "data": data}


def based(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def told(embedded: dict[str, Any] | None) -> dict[str, Any] | None:
    """What Kafka read, in the order and with the defaults that a reader cannot tell apart."""
    # The truth was made with the generated classes; ConsumerProtocol refuses negative versions.
    if embedded is None or "data" not in embedded or embedded["version"] < 0:
        return None
    data = dict(embedded["data"])
    for name in ("ownedPartitions", "assignedPartitions"):
        if name in data:
            # We put the numbers of a topic together; one without numbers says nothing.
            merged: dict[str, list[int]] = {}
            for entry in data[name]:
                if entry["partitions"]:
                    merged.setdefault(entry["topic"], []).extend(entry["partitions"])
            data[name] = [{"topic": topic, "partitions": merged[topic]} for topic in merged]
    if data.get("rackId") == "":
        data["rackId"] = None
    if "generationId" in data:
        data["generationId"] = max(data["generationId"], -1)
    return {"version": embedded["version"], "data": data}


def same(ours: Decoded[Any], theirs: Decoded[Any]) -> bool:
    """Whether two decoders say the same; errors have no equality of their own."""
    return (ours.value, ours.notes, str(ours.error)) == (
        theirs.value,
        theirs.notes,
        str(theirs.error),
    )


def check_members(sample: Sample) -> int:
    """Compare a record's members with Kafka's reading of their bytes; how many there were."""
    record = decode_record(sample.key, sample.value)
    members = members_of(record)
    embedded = sample.truth.get("embedded") or []
    assert len(members) == len(embedded), sample.place
    assert record.value is not None
    if record.type == 2:
        blobs = [(each["subscription"], each["assignment"]) for each in record.value["members"]]
    else:
        supported = record.value["classicMemberMetadata"]["supportedProtocols"]
        blobs = [(each["metadata"], b"") for each in supported]
    for member, truth, (subscription, assignment) in zip(members, embedded, blobs, strict=True):
        assert truth.get("memberId", member.member_id) == member.member_id
        assert truth.get("protocol", member.protocol) == member.protocol
        assert subscription_in_truths_words(subscription) == told(truth["subscription"])
        assert assignment_in_truths_words(assignment) == told(truth.get("assignment"))
        assert same(member.subscription, decode_subscription(subscription))
        if record.type == 2:
            assert member.assignment is not None
            assert same(member.assignment, decode_assignment(assignment))
        else:
            assert member.assignment is None
    return len(members)


def test_what_members_said_is_opened_and_reads_as_kafka_reads_it() -> None:
    opened = Counter[int]()
    for sample in all_samples():
        if sample.truth.get("embedded"):
            opened[sample.truth["type"]] += check_members(sample)
    assert opened[2] > 500
    assert opened[5] > 10


@pytest.mark.parametrize("case", vectors("rec-enc"), ids=lambda case: case["id"])
def test_bytes_are_kafkas(case: dict[str, Any]) -> None:
    given, expected = case["in"], case["out"]
    found = BY_NUMBER[given["type"]]
    assert encode_key(found.name, given["key"]).hex() == expected["key"]
    if given["value"] is not None:
        value = from_json(found.value, given["value"])
        assert encode_value(found.name, given["version"], value).hex() == expected["value"]


@pytest.mark.parametrize("case", vectors("rec-dec"), ids=lambda case: case["id"])
def test_records_are_read_and_refused_as_by_kafka(case: dict[str, Any]) -> None:
    given, expected = case["in"], case["out"]
    value = None if given["value"] is None else bytes.fromhex(given["value"])
    record = decode_record(bytes.fromhex(given["key"]), value)
    assert (record.error is not None) == ("err" in expected)
    if record.error is None:
        document = record_json(record)
        rest = expected.get("rest", 0)
        wanted = {"version": None, **{k: v for k, v in expected.items() if k != "rest"}}
        assert document == wanted
        ends = [note.text for note in record.notes if note.text.endswith("bytes after the end")]
        assert (f"value: {rest} bytes after the end" in ends) == (rest > 0)
        data = None if value is None else {"version": wanted["version"], "data": wanted["value"]}
        key = {"type": wanted["type"], "data": wanted["key"]}
        assert formatter_json(record) == {"key": key, "value": data}
    else:
        assert formatter_json(record) is None
