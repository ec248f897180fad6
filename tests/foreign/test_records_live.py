"""Records of `__consumer_offsets` against Kafka's own serializer: what we write it reads, and back.

Values are made from our tables, so a table that is wrong shows as a byte or a refusal; bytes are
spoiled after that, and what Kafka refuses we refuse. The tag sections, whose rules are easy to get
wrong, are also written by hand.
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.foreign.judge import Judge
from tests.foreign.trial import as_line, profile, seed
from tests.wire.records.values import VERSIONS, random_key, random_value, spoiled
from wire.layout.writing import varint_bytes
from wire.records import (
    RECORD_TYPES,
    Record,
    decode_record,
    encode_key,
    encode_value,
    record_json,
)
from wire.records.json_form import to_json

pytestmark = pytest.mark.foreign

Request = dict[str, Any]
Pair = tuple[bytes, bytes | None]

CURRENT = "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT"
MEMBER = "CONSUMER_GROUP_MEMBER_METADATA"


def asked(pair: Pair) -> Request:
    key, value = pair
    return {"algo": "rec-dec", "key": key.hex(), "value": None if value is None else value.hex()}


def ours(record: Record) -> dict[str, Any]:
    """Our reading in the form of the judge's answers."""
    if record.error is not None:
        return {"err": str(record.error)}
    document = record_json(record)
    if document["version"] is None:
        del document["version"]
    return document


def differ(theirs: dict[str, Any], record: Record) -> bool:
    """Whether the judge read something else, or refused what we read, or read what we refuse."""
    mine = ours(record)
    if "err" in theirs or "err" in mine:
        return ("err" in theirs) != ("err" in mine)
    rest = theirs.get("rest", 0)
    ends = [note.offset for note in record.notes if note.text.startswith("value: ")
            and note.text.endswith("bytes after the end")]  # fmt: skip
    left = len(record.value_bytes or b"") - ends[0] if ends else 0
    expected = {name: part for name, part in theirs.items() if name != "rest"}
    return rest != left or json.dumps(expected, sort_keys=True) != json.dumps(mine, sort_keys=True)


def check(judge: Judge, pairs: list[Pair]) -> Counter[bool]:
    """Fail with a vector where judge and we differ; how many were refused, and how many read."""
    outcomes: Counter[bool] = Counter()
    requests = [asked(pair) for pair in pairs]
    for request, pair, answer in zip(requests, pairs, judge.ask_all(requests), strict=True):
        record = decode_record(*pair)
        outcomes["err" in answer] += 1
        if differ(answer, record):
            pytest.fail(f"{as_line(request, answer)}\nours: {ours(record)}")
    return outcomes


def test_any_value_of_any_version_is_written_as_kafka_writes_it(judge: Judge) -> None:
    dice = Random(seed())
    requests: list[Request] = []
    written: list[tuple[str, str]] = []
    for found, version in VERSIONS * (profile().blobs // 400):
        key = random_key(dice, found)
        value = random_value(dice, found, version, with_unknown=False)
        requests.append(
            {
                "algo": "rec-enc",
                "type": found.number,
                "version": version,
                "key": key,
                "value": to_json(value),
            }
        )
        pair = encode_key(found.name, key), encode_value(found.name, version, value)
        written.append((pair[0].hex(), pair[1].hex()))
    for request, pair_hex, answer in zip(requests, written, judge.ask_all(requests), strict=True):
        if (answer.get("key"), answer.get("value")) != pair_hex:
            pytest.fail(f"{as_line(request, answer)}\nours: {pair_hex}")


def test_what_we_write_kafka_reads_with_unknown_tags_too(judge: Judge) -> None:
    dice = Random(seed())
    pairs: list[Pair] = []
    for found, version in VERSIONS * (profile().blobs // 400):
        value = encode_value(found.name, version, random_value(dice, found, version))
        pairs.append((encode_key(found.name, random_key(dice, found)), value))
    assert check(judge, pairs) == {False: len(pairs)}


def test_spoiled_records_are_read_and_refused_as_kafka_does(judge: Judge) -> None:
    dice = Random(seed())
    pairs: list[Pair] = []
    for found, version in VERSIONS * (profile().blobs // len(VERSIONS)):
        key = encode_key(found.name, random_key(dice, found))
        value: bytes | None = encode_value(found.name, version, random_value(dice, found, version))
        if dice.random() < 0.1:
            key = spoiled(dice, key)
        assert value is not None
        value = None if dice.random() < 0.02 else spoiled(dice, value)
        pairs.append((key, value))
    outcomes = check(judge, pairs)
    assert min(outcomes.values()) > len(pairs) / 10, "too few are read, or too few refused"


def test_noise_is_read_and_refused_as_kafka_does(judge: Judge) -> None:
    dice = Random(seed())
    lengths = (0, 1, 2, 3, 8, 20, 60)
    pairs: list[Pair] = []
    for _ in range(profile().blobs // 4):
        number = dice.choice((dice.randrange(30), dice.randrange(2**16))).to_bytes(2)
        key = number + b"\0\1g" * 3 + dice.randbytes(4)
        value = b"\0" + dice.choice((b"\0", b"\1", b"\4")) + dice.randbytes(dice.choice(lengths))
        pairs.append((key[: dice.randrange(len(key) + 1)] if dice.random() < 0.2 else key, value))
    check(judge, pairs)


def pair_of(name: str, value: bytes) -> Pair:
    """A key that fits the type, and these bytes behind value version 0."""
    dice = Random(1)
    found = next(found for found in RECORD_TYPES if found.name == name)
    return encode_key(name, random_key(dice, found)), b"\0\0" + value


def tag(number: int, payload: bytes, size: int | None = None) -> bytes:
    return varint_bytes(number) + varint_bytes(len(payload) if size is None else size) + payload


HASH = bytes(7) + b"\7"
EPOCH = b"\0\0\0\7"
MEMBER_VALUE = bytes.fromhex("0000026302680100000000050000"[:-2])
TOPIC = b"\2" + bytes(16) + b"\2" + EPOCH
"""One topic with one partition, up to its tags."""
CURRENT_VALUE = bytes(9) + TOPIC
NO_CLASSIC = b"\1\0\0\0\0\1\0"
CONFIGS = b"\2\2k\2v\0"
COMMIT = bytes(8) + bytes(4) + b"\1" + bytes(8)

SECTIONS: list[tuple[str, bytes, bytes, bytes]] = [
    ("CONSUMER_GROUP_METADATA", EPOCH, HASH, b""),
    ("CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA", EPOCH, bytes(8), b""),
    (MEMBER, MEMBER_VALUE, b"\0", b""),
    (MEMBER, MEMBER_VALUE, NO_CLASSIC, b""),
    (MEMBER, MEMBER_VALUE, b"\1\0\0\0\1\1\0", b""),
    (MEMBER, MEMBER_VALUE, b"\1\0\0\0\0\1\1\7\0", b""),
    (MEMBER, MEMBER_VALUE, b"\2" + NO_CLASSIC[1:], b""),
    (MEMBER, MEMBER_VALUE, b"\xff\xff\xff\xff\x0f" + NO_CLASSIC[1:], b""),
    (CURRENT, CURRENT_VALUE, b"\0", b"\1\0"),
    (CURRENT, CURRENT_VALUE, b"\1", b"\1\0"),
    (CURRENT, CURRENT_VALUE, b"\2" + EPOCH, b"\1\0"),
    ("STREAMS_GROUP_METADATA", EPOCH + HASH, EPOCH, b""),
]
"""Type, bytes in front of the tags, a payload of tag 0, bytes behind them."""


def sections(payload: bytes) -> list[bytes]:
    """Tag sections around a payload, right and wrong."""
    one = tag(0, payload)
    numbers = (1, 2, 3, 4, 127, 128, 2**31 - 1, 2**31, 2**32 - 1)
    return [
        b"\0",
        b"\1" + one,
        b"\2" + one + one,
        b"\2" + one + tag(0, b"\0"),
        *(b"\2" + one + tag(number, b"\0") for number in numbers),
        *(b"\2" + one + tag(number, EPOCH) for number in numbers),
        *(b"\2" + tag(number, CONFIGS) + one for number in numbers),
        *(b"\1" + tag(0, payload, size) for size in (0, 1, 7, 100, 2**31, 2**32 - 1)),
        *(b"\1" + tag(9, payload, size) for size in (0, 1, 7, 100, 2**31, 2**32 - 1)),
        b"\x81\x80\x80\x80\x00" + one,
        b"\x81\x80\x80\x80\x10" + one,
        b"\x81\x80\x80\x80\x80\x00" + one,
        varint_bytes(10_000) + tag(9, b"") * 10_000,
        varint_bytes(10_001) + tag(9, b"") * 10_001,
        varint_bytes(2**31) + one,
        varint_bytes(2**32 - 1) + one,
        b"\x80",
        b"",
    ]


@pytest.mark.parametrize("number", range(len(SECTIONS)))
def test_tag_sections_are_read_and_refused_as_kafka_does(number: int, judge: Judge) -> None:
    name, front, payload, behind = SECTIONS[number]
    outcomes = check(
        judge, [pair_of(name, front + section + behind) for section in sections(payload)]
    )
    assert outcomes[False] > 3


def test_the_offset_commits_tag_is_the_topics_id(judge: Judge) -> None:
    key, _ = pair_of("OFFSET_COMMIT", b"")
    tags = [b"\1" + tag(0, topic_id) for topic_id in (bytes(16), bytes(15) + b"\1", bytes(15))]
    check(judge, [(key, b"\0\4" + COMMIT + section) for section in [b"\0", *tags]])


def lengths() -> list[bytes]:
    """Lengths of every sign, and varints longer than they need to be."""
    numbers = (0, 1, 2, 127, 128, 32_767, 32_768, 32_769, 1_000_001, 1_000_002, 2**31, 2**32 - 1)
    return [*map(varint_bytes, numbers), b"\x82\x80\x80\x80\x10", b"\x82\x80\x80\x80\x80\x01"]


def test_lengths_are_read_and_refused_as_kafka_does(judge: Judge) -> None:
    pairs: list[Pair] = []
    for length in lengths():
        for size in (1, 40_000, 1_100_000):
            filler = b"\1" * size
            pairs.append(pair_of("CONSUMER_GROUP_REGULAR_EXPRESSION", length + filler))
            pairs.append(pair_of(MEMBER, length + filler))
    for count in (-(2**31), -2, -1, 0, 1, 1_000_000, 1_000_001, 2**31 - 1):
        head = b"\0\0" + bytes(4) + b"\xff\xff" * 2 + count.to_bytes(4, signed=True)
        pairs.append((b"\0\2\0\1g", b"\0\0" + head + bytes(18 * 10)))
    assert min(check(judge, pairs).values()) > 5
