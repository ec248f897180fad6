"""Columns against records: every row as `wire.records` reads it alone, whatever is in a batch."""

from __future__ import annotations

import gzip
import json
import random
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.buffers import bytes_of
from assignors.replay.consumer_columns import assignment_columns, subscription_columns
from assignors.replay.decoding import DECODED, SLICE_BYTES, decode_batch, decode_batches
from assignors.replay.offset_columns import commit_columns
from assignors.replay.sources import RAW, Raw, batched
from assignors.simulation.batches import decoded_assignments, decoded_subscriptions
from tests.replay.offsets_topics import Mix, group_value, offsets_topic
from wire import Subscription, encode_assignment, encode_subscription
from wire.json_form import to_json
from wire.records import Record, decode_record, encode_key, encode_value, members_of

CAPTURED = Path(__file__).parents[1] / "vectors" / "clients-captured.jsonl.gz"
COMMIT_KEY = encode_key("OFFSET_COMMIT", {"group": "g", "topic": "t", "partition": 5})
GROUP_KEY = encode_key("GROUP_METADATA", {"group": "g"})
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"

Pair = tuple[bytes | None, bytes | None]


def decoded(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """The rows of a batch of keys and values."""
    batches = decode_batches(batched(Raw(key=key, value=value) for key, value in pairs))
    return [row for batch in batches for row in batch.to_pylist()]


def expected(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """What a row should be, from the record read alone."""
    record = decode_record(key, value)
    fields = record.key or {}
    has_json = record.key is not None and record.type is not None and record.type > 2
    return {
        **dict.fromkeys(DECODED.names),
        "type": record.type,
        "name": record.name,
        "group": fields.get("group", fields.get("groupId")),
        "value_version": record.value_version,
        "is_tombstone": value is None,
        "commit": _commit(record),
        "classic_group": _classic(record),
        "key_json": _json(record.key) if has_json else None,
        "value_json": _json(record.value) if has_json else None,
        "raw_key": key if record.error else None,
        "raw_value": value if record.error else None,
        "notes": _notes(record.notes),
        "error": str(record.error) if record.error else None,
    }


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(to_json(value), ensure_ascii=False)


def _notes(notes: Any) -> list[dict[str, Any]]:
    return [{"code": n.code.value, "offset": n.offset, "text": n.text} for n in notes]


def _commit(record: Record) -> dict[str, Any] | None:
    if record.type not in (0, 1) or record.key is None:
        return None
    value = record.value or {}
    return {
        "topic": record.key["topic"],
        "partition": record.key["partition"],
        "offset": value.get("offset"),
        "leader_epoch": value.get("leaderEpoch"),
        "metadata": value.get("metadata"),
        "commit_timestamp_ms": value.get("commitTimestamp"),
        "expire_timestamp_ms": value.get("expireTimestamp"),
        "topic_id": value.get("topicId"),
    }


def _classic(record: Record) -> dict[str, Any] | None:
    if record.type != 2 or record.value is None:
        return None
    value = record.value
    opened: Sequence[Any] = members_of(record) or [None] * len(value["members"])
    return {
        "protocol_type": value["protocolType"],
        "generation": value["generation"],
        "protocol": value["protocol"],
        "leader": value["leader"],
        "state_timestamp_ms": value.get("currentStateTimestamp"),
        "members": [
            _member(member, inner) for member, inner in zip(value["members"], opened, strict=True)
        ],
    }


def _member(member: dict[str, Any], inner: Any) -> dict[str, Any]:
    said = None if inner is None else _subscription(inner.subscription)
    given = None if inner is None else _assignment(inner.assignment)
    user_data = None
    if inner is not None and inner.user_data is not None and said and said["user_data"] is not None:
        user_data = {
            "owned": _partitions(inner.user_data.value and inner.user_data.value.owned),
            "generation": inner.user_data.value and inner.user_data.value.generation,
            "notes": _notes(inner.user_data.notes),
            "error": str(inner.user_data.error) if inner.user_data.error else None,
        }
    return {
        "member_id": member["memberId"],
        "instance_id": member.get("groupInstanceId"),
        "client_id": member["clientId"],
        "client_host": member["clientHost"],
        "rebalance_timeout_ms": member.get("rebalanceTimeout"),
        "session_timeout_ms": member["sessionTimeout"],
        "subscription": said,
        "assignment": given,
        "user_data": user_data,
        "raw_subscription": _raw(member["subscription"], said),
        "raw_assignment": _raw(member["assignment"], given),
    }


def _raw(blob: bytes, struct: dict[str, Any] | None) -> bytes | None:
    return blob if struct is None or struct["notes"] or struct["error"] else None


def _subscription(found: Any) -> dict[str, Any]:
    value = found.value
    return {
        "version": value and value.version,
        "topics": None if value is None else list(value.topics),
        "user_data": value and value.user_data,
        "owned": _partitions(value and value.owned),
        "generation": value and value.generation,
        "rack": value and value.rack_id,
        "notes": _notes(found.notes),
        "error": str(found.error) if found.error else None,
    }


def _assignment(found: Any) -> dict[str, Any]:
    value = found.value
    return {
        "version": value and value.version,
        "partitions": _partitions(value and value.partitions),
        "user_data": value and value.user_data,
        "notes": _notes(found.notes),
        "error": str(found.error) if found.error else None,
    }


def _partitions(partitions: Any) -> list[dict[str, Any]] | None:
    if partitions is None:
        return None
    return [{"topic": topic, "partitions": list(n)} for topic, n in partitions.items()]


names = st.text(st.characters(codec="utf-8"), max_size=8)
int32s = st.integers(-(1 << 31), (1 << 31) - 1)
int64s = st.integers(-(1 << 63), (1 << 63) - 1)


@st.composite
def commits(draw: st.DrawFn) -> Pair:
    """A commit of any version, now and then with long metadata, or a tombstone."""
    key = encode_key(
        "OFFSET_COMMIT", {"group": draw(names), "topic": draw(names), "partition": draw(int32s)}
    )
    version = draw(st.integers(-1, 4))
    if version < 0:
        return key, None
    value: dict[str, Any] = {
        "offset": draw(int64s),
        "metadata": draw(names | st.sampled_from(["m" * 126, "m" * 127, "m" * 128, "m" * 20_000])),
        "commitTimestamp": draw(int64s),
    }
    if version == 1:
        value["expireTimestamp"] = draw(int64s)
    if version >= 3:
        value["leaderEpoch"] = draw(int32s)
    if version == 4 and draw(st.booleans()):
        value["topicId"] = draw(st.sampled_from([TOPIC_ID, "abcdefghijklmnopqrst-_"[:21] + "A"]))
    return key, encode_value("OFFSET_COMMIT", version, value)


@st.composite
def damaged(draw: st.DrawFn) -> Pair:
    """A commit of which a byte is another, or bytes are missing or too many."""
    pair = list(draw(commits()))
    which = draw(st.integers(0, 1))
    blob = bytearray(pair[which] or b"")
    for _ in range(draw(st.integers(0, 2))):
        if blob:
            blob[draw(st.integers(0, len(blob) - 1))] = draw(
                st.sampled_from([0, 1, 2, 16, 127, 128, 255])
            )
    size = draw(st.integers(0, len(blob)) | st.just(len(blob)))
    pair[which] = bytes(blob[:size]) + draw(st.sampled_from([b"", b"", b"\0", b"tail"]))
    return pair[0], pair[1]


others = st.sampled_from(
    [
        (GROUP_KEY, None),
        (GROUP_KEY, group_value(3, member_count=2)),
        (GROUP_KEY, group_value(3, member_count=0)),
        (encode_key("CONSUMER_GROUP_METADATA", {"groupId": "g"}), bytes.fromhex("00000000000700")),
        (encode_key("CONSUMER_GROUP_METADATA", {"groupId": "g"}), None),
        (b"\x00\x09\x00\x01g", b"x"),
        (b"\x7f\xff", None),
        (b"\x00", None),
        (b"", b""),
        (None, b"value"),
        (None, None),
        (COMMIT_KEY, b""),
        (GROUP_KEY, b"\0\0"),
        (
            encode_key("LEGACY_OFFSET_COMMIT", {"group": "g", "topic": "t", "partition": 1}),
            encode_value(
                "LEGACY_OFFSET_COMMIT", 0, {"offset": 1, "metadata": "", "commitTimestamp": 2}
            ),
        ),
        (
            encode_key("LEGACY_OFFSET_COMMIT", {"group": "g", "topic": "t", "partition": 1}),
            encode_value("OFFSET_COMMIT", 2, {"offset": 1, "metadata": "", "commitTimestamp": 2}),
        ),
    ]
)


@given(st.lists(commits() | damaged() | others, max_size=12))
def test_every_row_is_what_its_record_alone_says(pairs: list[Pair]) -> None:
    assert decoded(pairs) == [expected(key, value) for key, value in pairs]


@given(st.lists(commits(), min_size=1, max_size=8))
def test_plain_commits_are_all_read_in_columns(pairs: list[Pair]) -> None:
    """Else the law above would say nothing about the columns."""
    keys = bytes_of(pa.array([key for key, _ in pairs], pa.binary()))
    values = bytes_of(pa.array([value for _, value in pairs], pa.binary()))
    plain = [value is None or len(value) < 16_000 for _, value in pairs]
    read = commit_columns(keys, values, keys.is_valid)
    assert set(read.rows.tolist()) >= {row for row, is_plain in enumerate(plain) if is_plain}


def test_a_text_that_is_none_costs_its_own_row_alone() -> None:
    good = encode_value(
        "OFFSET_COMMIT",
        3,
        {
            "offset": 1,
            "leaderEpoch": 0,
            "metadata": "é",
            "commitTimestamp": 2,
        },
    )
    bad = good.replace("é".encode(), b"\xc3\x28")
    keys = bytes_of(pa.array([COMMIT_KEY] * 3))
    read = commit_columns(keys, bytes_of(pa.array([good, bad, good])), keys.is_valid)
    assert read.rows.tolist() == [0, 2]
    rows = decoded([(COMMIT_KEY, good), (COMMIT_KEY, bad), (COMMIT_KEY, good)])
    assert [row["commit"]["metadata"] for row in rows] == ["é", "\ufffd(", "é"]


def test_slices_of_a_column_are_read_in_their_place() -> None:
    """Arrow columns may begin anywhere in their buffers."""
    (whole,) = offsets_topic(60, seed=2, mix=Mix(tombstones=0.3, classic_groups=0.2))
    every = decode_batch(whole)
    for first in range(0, 60, 7):
        part = decode_batch(whole.slice(first, 13))
        part.validate(full=True)
        assert part.to_pylist() == every.slice(first, 13).to_pylist()


def captured() -> list[bytes]:
    """Every blob that real clients were heard to say."""
    with gzip.open(CAPTURED, "rt") as lines:
        blobs = [json.loads(line).get("hex") for line in lines]
    return [bytes.fromhex(blob) for blob in blobs if blob]


def test_what_clients_really_wrote_is_the_same_in_columns() -> None:
    blobs = captured()
    assert len(blobs) > 900
    blobs += [None, b"", b"\0"]  # type: ignore[list-item]
    column = pa.array(blobs, pa.binary())
    said = subscription_columns(column)
    assert said.equals(decoded_subscriptions(column))
    given = assignment_columns(column)
    assert given.equals(decoded_assignments(column))
    for read in (said, given):
        read.validate(full=True)


@pytest.mark.parametrize("seed", range(12))
def test_blobs_damaged_anywhere_are_the_same_in_columns(seed: int) -> None:
    dice = random.Random(seed)
    long = Subscription(topics=tuple(f"topic-{n:03}" for n in range(200)), rack_id="r")
    plain = [*captured(), encode_subscription(long), encode_assignment({"é": (1,), "t": (0, 2)})]
    blobs: list[bytes | None] = []
    for blob in dice.sample(plain, 300):
        broken = bytearray(blob)
        for _ in range(dice.randrange(3)):
            if broken:
                at = dice.randrange(len(broken))
                broken[at] = dice.choice([0, 1, 127, 128, 255, dice.randrange(256)])
        keep = dice.randrange(len(broken) + 1) if dice.random() < 0.2 else len(broken)
        blobs.append(bytes(broken[:keep]) + dice.choice([b"", b"", b"", b"\0\0"]))
    column = pa.array([*blobs, None, *blobs[:50]], pa.binary())
    assert subscription_columns(column).equals(decoded_subscriptions(column))
    assert assignment_columns(column).equals(decoded_assignments(column))


def test_members_of_every_kind_are_opened_as_records_have_them() -> None:
    dice = random.Random(5)
    blobs = captured()
    pairs: list[Pair] = []
    for number in range(60):
        protocol = dice.choice(["sticky", "cooperative-sticky", "range", None])
        version = dice.randrange(5)
        members = [
            {
                "memberId": f"m{n}",
                "groupInstanceId": dice.choice([None, "i"]) if version >= 3 else None,
                "clientId": "c",
                "clientHost": "/h",
                "rebalanceTimeout": 1 if version else -1,
                "sessionTimeout": 2,
                "subscription": dice.choice(blobs),
                "assignment": dice.choice([b"", *blobs]),
            }
            for n in range(dice.randrange(6))
        ]
        value = {
            "protocolType": dice.choice(["consumer", "consumer", "connect", ""]),
            "generation": number,
            "protocol": protocol,
            "leader": None,
            "currentStateTimestamp": 5 if version >= 2 else -1,
            "members": members,
        }
        pairs.append((GROUP_KEY, encode_value("GROUP_METADATA", version, value)))
    assert decoded(pairs) == [expected(key, value) for key, value in pairs]


def test_rows_that_a_source_could_not_read_keep_their_reason() -> None:
    raws = [Raw(key=COMMIT_KEY), Raw(error="dump: line 2: no", topic="t", offset=9)]
    first, flaw = (row for b in decode_batches(batched(raws)) for row in b.to_pylist())
    assert first["name"] == "OFFSET_COMMIT"
    told = {name: value for name, value in flaw.items() if value not in (None, [])}
    assert told == {"error": "dump: line 2: no", "topic": "t", "offset": 9}


def test_columns_may_be_missing_large_or_none_of_ours() -> None:
    table = {"value": pa.array([None], pa.large_binary()), "key": pa.array([COMMIT_KEY])}
    (batch,) = decode_batches([pa.RecordBatch.from_pydict({**table, "other": pa.array([1])})])
    assert batch.schema == DECODED
    assert batch.to_pylist() == [expected(COMMIT_KEY, None)]
    assert not list(decode_batches(RAW.empty_table().to_batches()))
    assert decode_batch(pa.RecordBatch.from_pylist([], schema=RAW)).num_rows == 0


def test_a_batch_of_long_records_is_decoded_in_slices() -> None:
    value = group_value(1, member_count=50)
    count = 2 * SLICE_BYTES // len(value)
    (raw,) = batched([Raw(key=GROUP_KEY, value=value)] * count, batch_bytes=1 << 40)
    pieces = list(decode_batches([raw]))
    assert len(pieces) > 1
    assert sum(piece.num_rows for piece in pieces) == count
    huge = Raw(key=GROUP_KEY, value=b"\0\3" + bytes(SLICE_BYTES))
    (raw,) = batched([huge, huge], batch_bytes=1 << 40)
    assert [piece.num_rows for piece in decode_batches([raw])] == [1, 1]


def test_a_group_of_very_many_members_is_one_row() -> None:
    count = 100_000
    member = struct.pack(">h1shh1sh1siiii", 1, b"m", -1, 1, b"c", 1, b"h", 1, 2, 0, 0)
    head = struct.pack(">hh8sihhqi", 3, 8, b"consumer", 5, -1, -1, 7, count)
    (row,) = decoded([(GROUP_KEY, head + member * count)])
    assert row["error"] is None
    assert len(row["classic_group"]["members"]) == count
    (cut,) = decoded([(GROUP_KEY, head + member * (count - 1))])
    assert "(byte" in cut["error"]
    assert cut["classic_group"] is None
