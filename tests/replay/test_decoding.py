"""Columns against records: every row as `wire.records` reads it alone, whatever is in a batch."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.decode.batches import (
    DECODED,
    RECORD,
    SLICE_BYTES,
    decode_batch,
    decode_batches,
    decoded_records,
)
from assignors.replay.sources import Raw, open_source
from assignors.replay.sources.arrow import RAW, batched
from tests.replay.decoded_rows import GROUP_KEY, Pair, decoded, expected, shared
from tests.replay.offsets_topics import Mix, group_value, offsets_topic
from wire.records import encode_key, encode_value

COMMIT_KEY = encode_key("OFFSET_COMMIT", {"group": "g", "topic": "t", "partition": 5})
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"

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
    assert [*map(shared, decoded(pairs))] == [expected(key, value) for key, value in pairs]


@given(st.lists(commits() | damaged() | others, max_size=12))
def test_a_column_of_structs_has_the_rows_of_a_batch(pairs: list[Pair]) -> None:
    keys = pa.array([key for key, _ in pairs], pa.binary())
    values = pa.array([value for _, value in pairs], pa.binary())
    structs = decoded_records(keys, values)
    assert (structs.type, structs.null_count) == (RECORD, 0)
    without_place = [{name: row[name] for name in structs.type.names} for row in decoded(pairs)]
    assert structs.to_pylist() == without_place


def test_a_text_that_is_none_costs_its_own_row_alone() -> None:
    fields = {"offset": 1, "leaderEpoch": 0, "metadata": "é", "commitTimestamp": 2}
    good = encode_value("OFFSET_COMMIT", 3, fields)
    bad = good.replace("é".encode(), b"\xc3\x28")
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


def test_rows_that_a_source_could_not_read_keep_their_reason() -> None:
    raws = [Raw(key=COMMIT_KEY), Raw(error="dump: line 2: no", topic="t", offset=9)]
    first, flaw = (row for b in decode_batches(batched(raws)) for row in b.to_pylist())
    assert first["name"] == "OFFSET_COMMIT"
    told = {name: value for name, value in flaw.items() if value not in (None, [])}
    error = {"error": "dump: line 2: no", "error_kind": "truncated"}
    assert told == {**error, "topic": "t", "offset": 9}


def test_columns_may_be_missing_large_or_none_of_ours() -> None:
    table = {"value": pa.array([None], pa.large_binary()), "key": pa.array([COMMIT_KEY])}
    (batch,) = decode_batches([pa.RecordBatch.from_pydict({**table, "other": pa.array([1])})])
    assert batch.schema == DECODED
    assert [*map(shared, batch.to_pylist())] == [expected(COMMIT_KEY, None)]
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


@pytest.mark.parametrize(
    ("pair", "bytes_max"),
    [((COMMIT_KEY, None), 250), ((GROUP_KEY, group_value(1)), 1.5 * len(group_value(1)))],
    ids=["commit", "group"],
)
def test_a_record_is_handed_on_in_few_bytes(pair: Pair, bytes_max: float) -> None:
    """Most of what decoding on Spark costs is the way of its result back to the JVM."""
    (raw,) = batched([Raw(key=pair[0], value=pair[1])] * 500)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, DECODED) as stream:
        stream.write_batch(decode_batch(raw))
    assert len(sink.getvalue()) < 500 * bytes_max


@pytest.mark.parametrize("name", ["real", "java-plans"])
def test_a_real_topic_is_what_its_records_alone_say(name: str) -> None:
    path = Path(__file__).parent / "data" / f"{name}.jsonl.gz"
    raws = list(open_source(path))
    assert len(raws) > 400
    found = decoded([(raw.key, raw.value) for raw in raws])
    for raw, row in zip(raws, found, strict=True):
        assert shared(row) == expected(raw.key, raw.value)
    coordinates = [row for b in decode_batches(batched(open_source(path))) for row in b.to_pylist()]
    assert [(row["partition"], row["offset"]) for row in coordinates] == [
        (raw.partition, raw.offset) for raw in raws
    ]
    assert not [row["error"] for row in found if row["error"]]


V4_HEAD = struct.pack(">hqi", 4, 1, 7)
V4_TAIL = struct.pack(">q", 2)
LONG = encode_value(
    "OFFSET_COMMIT",
    4,
    {"offset": 1, "leaderEpoch": 7, "metadata": "m" * 20_000, "commitTimestamp": 2},
)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (COMMIT_KEY, LONG),
        # A third byte of the length taken for text: then everything else would fit.
        (COMMIT_KEY, LONG[:100] + LONG[101:]),
        (COMMIT_KEY, V4_HEAD + b"\x01" + V4_TAIL + b"\x01\x00\x10" + bytes(16)),
        (COMMIT_KEY, V4_HEAD + b"\x01" + V4_TAIL + b"\x01\x00\x0f" + b"i" * 16),
        (COMMIT_KEY, V4_HEAD + b"\x01" + V4_TAIL + b"\x01\x05\x10" + b"i" * 16),
        (b"\0\1\0\1\xff\0\1t\0\0\0\1", None),
        (b"\0\1\0\1g\0\1\xff\0\0\0\1", None),
        (b"\0\1\xff\xff\0\1t\0\0\0\1", None),
        (b"\0\1\0\1g\xff\xff\0\0\0\1", None),
    ],
)
def test_what_nearly_fits_is_what_its_record_says(key: bytes, value: bytes | None) -> None:
    good: Pair = (COMMIT_KEY, V4_HEAD + b"\x01" + V4_TAIL + b"\0")
    pairs = [good, (key, value), good]
    assert [*map(shared, decoded(pairs))] == [expected(*pair) for pair in pairs]
