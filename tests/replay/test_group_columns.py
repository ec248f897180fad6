"""Members' bytes and classic groups in columns, against the codecs that read one at a time."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from assignors.arrow.codecs import decoded_assignments, decoded_subscriptions
from assignors.replay.decode.buffers import bytes_of
from assignors.replay.decode.consumer_columns import assignment_columns, subscription_columns
from assignors.replay.decode.group_columns import STEPS_CHEAP, group_columns
from tests.replay.decoded_rows import GROUP_KEY, Pair, decoded, expected
from tests.replay.offsets_topics import group_value
from wire import Subscription, encode_assignment, encode_subscription
from wire.records import encode_value

CAPTURED = Path(__file__).parents[1] / "vectors" / "clients-captured.jsonl.gz"


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
    twice = bytes.fromhex("0001 00000002 000174 000174 ffffffff 00000000")
    plain = [*captured(), encode_subscription(long), encode_assignment({"é": (1,), "t": (0, 2)})]
    blobs: list[bytes | None] = []
    for blob in [*dice.sample(plain, 300), twice]:
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


def group_of(dice: random.Random, blobs: Sequence[bytes], version: int) -> dict[str, Any]:
    """A classic group of any kind, its members' bytes from real clients."""
    members = [
        {
            "memberId": f"m{number}",
            "groupInstanceId": dice.choice([None, "", "i"]) if version >= 3 else None,
            "clientId": dice.choice(["", "c", "ü"]),
            "clientHost": "/h",
            "rebalanceTimeout": 1 if version else -1,
            "sessionTimeout": 2,
            "subscription": dice.choice(blobs),
            "assignment": dice.choice([b"", *blobs]),
        }
        for number in range(dice.randrange(6))
    ]
    return {
        "protocolType": dice.choice(["consumer", "consumer", "connect", ""]),
        "generation": dice.randrange(100),
        "protocol": dice.choice(["sticky", "cooperative-sticky", "range", None]),
        "leader": dice.choice([None, "", "m0"]),
        "currentStateTimestamp": 5 if version >= 2 else -1,
        "members": members,
    }


def test_members_of_every_kind_are_opened_as_records_have_them() -> None:
    dice = random.Random(5)
    blobs = captured()
    pairs: list[Pair] = []
    for version in [*range(5)] * 30:
        value = group_of(dice, blobs, version)
        pairs.append((GROUP_KEY, encode_value("GROUP_METADATA", version, value)))
    assert decoded(pairs) == [expected(key, value) for key, value in pairs]


@pytest.mark.parametrize("seed", range(12))
def test_groups_damaged_anywhere_are_what_their_records_say(seed: int) -> None:
    dice = random.Random(seed)
    blobs = sorted(set(captured()), key=len)[:60]
    pairs: list[Pair] = []
    for number in range(120):
        value = encode_value("GROUP_METADATA", 3, group_of(dice, blobs, 3))
        broken = bytearray(value)
        if number % 3:
            at = dice.randrange(len(broken)) if number % 2 else dice.randrange(min(40, len(value)))
            broken[at] = dice.choice([0, 1, 2, 127, 128, 255, dice.randrange(256)])
        keep = dice.randrange(len(broken) + 1) if dice.random() < 0.1 else len(broken)
        key = GROUP_KEY + b"tail" if dice.random() < 0.05 else GROUP_KEY
        pairs.append((key, bytes(broken[:keep]) + dice.choice([b"", b"", b"", b"\0"])))
    pairs.append((None, b""))
    assert decoded(pairs) == [expected(key, value) for key, value in pairs]


def test_plain_groups_are_all_read_in_columns() -> None:
    """Else the laws above would say nothing about the columns."""
    values = [group_value(number, member_count=number % 4 + 20) for number in range(40)]
    keys = bytes_of(pa.array([GROUP_KEY] * 40))
    read = group_columns(keys, bytes_of(pa.array(values)), keys.is_valid)
    assert read.rows.tolist() == list(range(40))
    few = group_columns(keys.rows(np.arange(3)), bytes_of(pa.array(values[:3])), np.ones(3, bool))
    assert not len(few.rows)


def test_a_few_groups_far_longer_than_the_others_are_read_one_by_one() -> None:
    counts = [3] * 20 + [STEPS_CHEAP + 1, 300, STEPS_CHEAP]
    values = [group_value(1, member_count=count, topic_count=1) for count in counts]
    keys = bytes_of(pa.array([GROUP_KEY] * len(counts)))
    read = group_columns(keys, bytes_of(pa.array(values)), keys.is_valid)
    assert read.rows.tolist() == [*range(20), 22]
    pairs: list[Pair] = [(GROUP_KEY, value) for value in values]
    assert decoded(pairs) == [expected(key, value) for key, value in pairs]
    keys = bytes_of(pa.array([GROUP_KEY] * 40))
    long = [group_value(1, member_count=count, topic_count=1) for count in range(100, 140)]
    read = group_columns(keys, bytes_of(pa.array(long)), keys.is_valid)
    assert read.rows.tolist() == list(range(25))
