"""Classic groups as a column: each member's bytes opened, what is odd noted and kept."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from assignors.arrow.codecs import decoded_assignments, decoded_subscriptions
from assignors.replay.decode.classic_groups import CLASSIC_GROUP, classic_groups
from tests.replay.decoded_rows import GROUP_KEY, decoded
from tests.replay.offsets_topics import group_value
from wire import Subscription, encode_assignment, encode_sticky_user_data, encode_subscription
from wire.records import encode_value

CLAIM = encode_subscription(
    Subscription(
        topics=("t", "u"),
        user_data=encode_sticky_user_data({"t": (0,)}, 6),
        owned={"t": (0, 3)},
        generation=6,
        rack_id="r",
    )
)
PLAN = encode_assignment({"t": (0,), "u": (1, 2)}, version=1)
CUT = bytes.fromhex("0001 00000001 000174 ffffffff")


def member(member_id: str, subscription: bytes, assignment: bytes, **more: Any) -> dict[str, Any]:
    return {
        "memberId": member_id,
        "clientId": "c",
        "clientHost": "/h",
        "sessionTimeout": 2,
        "subscription": subscription,
        "assignment": assignment,
        **more,
    }


def struct_of(version: int, *members: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The struct of a group, from the bytes of its record."""
    value = {"protocolType": "consumer", "generation": 7, "protocol": "sticky", "leader": "a"}
    blob = encode_value("GROUP_METADATA", version, {**value, "members": list(members), **more})
    (row,) = decoded([(GROUP_KEY, blob)])
    found: dict[str, Any] = row["classic_group"]
    return found


def test_a_member_has_its_bytes_opened_and_raw_only_where_they_are_odd() -> None:
    good = member("a", CLAIM, PLAN, groupInstanceId="i", rebalanceTimeout=1)
    odd = member("b", CUT, b"", rebalanceTimeout=1)
    found = struct_of(3, good, odd, currentStateTimestamp=5)
    a, b = found.pop("members")
    assert found == {
        "protocol_type": "consumer",
        "generation": 7,
        "protocol": "sticky",
        "leader": "a",
        "state_timestamp_ms": 5,
    }
    assert a == {
        "member_id": "a",
        "instance_id": "i",
        "client_id": "c",
        "client_host": "/h",
        "rebalance_timeout_ms": 1,
        "session_timeout_ms": 2,
        "subscription": {
            "version": 3,
            "topics": ["t", "u"],
            "user_data": encode_sticky_user_data({"t": (0,)}, 6),
            "owned": [{"topic": "t", "partitions": [0, 3]}],
            "generation": 6,
            "rack_id": "r",
            "notes": [],
            "error": None,
            "error_kind": None,
        },
        "assignment": {
            "version": 1,
            "partitions": [
                {"topic": "t", "partitions": [0]},
                {"topic": "u", "partitions": [1, 2]},
            ],
            "user_data": None,
            "notes": [],
            "error": None,
            "error_kind": None,
        },
        "user_data": {
            "owned": [{"topic": "t", "partitions": [0]}],
            "generation": 6,
            "notes": [],
            "error": None,
            "error_kind": None,
        },
        "raw_subscription": None,
        "raw_assignment": None,
    }
    assert (b["subscription"]["topics"], b["subscription"]["owned"]) == (["t"], [])
    assert [note["code"] for note in b["subscription"]["notes"]] == ["owned-missing"]
    assert b["raw_subscription"] == CUT
    assert b["assignment"]["partitions"] is None
    assert b["assignment"]["error"] == "version: 2 bytes in 0 (byte 0)"
    assert b["raw_assignment"] == b""
    assert b["user_data"] is None


@pytest.mark.parametrize("protocol", ["cooperative-sticky", "range", None])
def test_user_data_is_read_by_the_layout_of_the_groups_protocol(protocol: str | None) -> None:
    said = encode_subscription(Subscription(topics=("t",), user_data=b"\0\0\0\7"))
    (only,) = struct_of(2, member("a", said, PLAN), protocol=protocol)["members"]
    expected: dict[str, Any] = {
        "owned": None,
        "generation": 7,
        "notes": [],
        "error": None,
        "error_kind": None,
    }
    assert only["user_data"] == (expected if protocol == "cooperative-sticky" else None)
    assert only["subscription"]["user_data"] == b"\0\0\0\7"


def test_bytes_of_other_protocol_types_stay_closed() -> None:
    group = struct_of(2, member("a", b"\1\2", b"\3"), protocolType="connect")
    (only,) = group["members"]
    assert (only["subscription"], only["assignment"], only["user_data"]) == (None, None, None)
    assert (only["raw_subscription"], only["raw_assignment"]) == (b"\1\2", b"\3")


def test_what_a_version_does_not_have_is_null() -> None:
    group = struct_of(0, member("a", CLAIM, PLAN), leader=None, protocol=None)
    assert (group["state_timestamp_ms"], group["leader"], group["protocol"]) == (None, None, None)
    (only,) = group["members"]
    assert (only["instance_id"], only["rebalance_timeout_ms"]) == (None, None)
    assert struct_of(3)["members"] == []


def test_members_that_write_the_same_have_the_same_structs() -> None:
    values = [group_value(generation, claims_differ=False) for generation in range(3)]
    first, *others = (row["classic_group"] for row in decoded([(GROUP_KEY, v) for v in values]))
    assert len(first["members"]) == 50
    assert len({str(one["subscription"]) for one in first["members"]}) == 50
    for group in others:
        assert [one["subscription"] for one in group["members"]] == [
            one["subscription"] for one in first["members"]
        ]


def test_no_group_is_no_struct() -> None:
    assert classic_groups([]).type == CLASSIC_GROUP
    assert len(classic_groups([])) == 0


def test_columns_of_blobs_are_whole_and_null_where_there_is_none() -> None:
    blobs = [CLAIM, None, b"", b"\0", CUT, PLAN]
    for decode in (decoded_subscriptions, decoded_assignments):
        column = decode(pa.array(blobs, pa.binary()))
        column.validate(full=True)
        assert column.is_null().to_pylist() == [blob is None for blob in blobs]
        assert [one and one["error"] is not None for one in column.to_pylist()][:4] == [
            False,
            None,
            True,
            True,
        ]
