"""What members said, opened out of records: notes, UserData."""

from __future__ import annotations

from typing import Any

import pytest

from assignors import UserData as Kind
from assignors.registry import ASSIGNORS
from assignors.replay.decode.classic_groups import USER_DATA as READ_TOGETHER
from assignors.replay.history.subscriptions import CLAIMS_STAND_IN
from wire import (
    CooperativeUserData,
    Decoded,
    NoteCode,
    StickyUserData,
    Subscription,
    encode_assignment,
    encode_sticky_user_data,
    encode_subscription,
)
from wire.records import (
    Record,
    decode_record,
    encode_key,
    encode_value,
    members_of,
)
from wire.records.members import USER_DATA

BLOB = encode_subscription(Subscription(topics=("t",), user_data=b"\0\0\0\7", generation=7))


def group(
    *members: tuple[str, bytes, bytes], protocol_type: str = "consumer", protocol: str | None = None
) -> Record:
    """A classic group's record with members as (id, subscription, assignment)."""
    value: dict[str, Any] = {
        "protocolType": protocol_type,
        "generation": 7,
        "protocol": protocol,
        "leader": None,
        "members": [
            {
                "memberId": member_id,
                "clientId": "c",
                "clientHost": "h",
                "sessionTimeout": 1,
                "subscription": subscription,
                "assignment": assignment,
            }
            for member_id, subscription, assignment in members
        ],
    }
    key = encode_key("GROUP_METADATA", {"group": "g"})
    return decode_record(key, encode_value("GROUP_METADATA", 3, value))


def test_a_members_bytes_are_opened_and_its_oddities_noted() -> None:
    cut, nothing = BLOB[:-6], b""
    record = group(("a", BLOB, encode_assignment({"t": (0, 1)})), ("b", cut, nothing))
    good, odd = members_of(record)
    assert good.member_id == "a"
    assert good.subscription.require().topics == ("t",)
    assert good.assignment is not None
    assert good.assignment.require().partitions == {"t": (0, 1)}
    assert [note.code for note in odd.subscription.notes] == [NoteCode.GENERATION_MISSING]
    assert odd.assignment is not None
    assert (odd.assignment.value, odd.assignment.error is None) == (None, False)
    assert [note.code for note in odd.assignment.notes] == [NoteCode.EMPTY_BLOB]


def test_bytes_of_other_protocol_types_stay_closed() -> None:
    assert members_of(group(("a", BLOB, b""), protocol_type="connect")) == ()
    assert members_of(group(("a", BLOB, b""), protocol_type="")) == ()


def user_data(protocol: str | None, blob: bytes | None) -> Any:
    subscription = encode_subscription(Subscription(user_data=blob))
    (member,) = members_of(group(("a", subscription, b""), protocol=protocol))
    return None if member.user_data is None else member.user_data.value


@pytest.mark.parametrize("protocol", ["range", "my-own", None])
def test_user_data_of_an_unknown_layout_stays_closed(protocol: str | None) -> None:
    assert user_data(protocol, b"\0\0\0\7") is None


def test_user_data_is_opened_by_the_protocol_it_was_sent_under() -> None:
    sticky = encode_sticky_user_data({"t": (1,)}, 3)
    assert user_data("sticky", sticky) == StickyUserData(owned={"t": (1,)}, generation=3)
    assert user_data("cooperative-sticky", b"\0\0\0\7") == CooperativeUserData(generation=7)
    assert user_data("cooperative-sticky", None) == CooperativeUserData()
    sticky = encode_sticky_user_data({"t": (1,)}, 3, capacity=4)
    assert user_data("weighted", sticky) == StickyUserData(
        owned={"t": (1,)}, generation=3, capacity=4
    )


def test_the_names_under_which_claims_are_in_user_data_are_those_of_the_registry() -> None:
    kinds = {one.name: one.user_data for one in ASSIGNORS.values() if one.family != "server"}
    for name, kind in kinds.items():
        assert CLAIMS_STAND_IN.get(name, Kind.NONE) is kind
        assert (name in USER_DATA) == (name in READ_TOGETHER) == (kind is not Kind.NONE)


def test_without_a_subscription_there_is_no_user_data() -> None:
    (member,) = members_of(group(("a", b"", b""), protocol="sticky"))
    assert member.subscription.value is None
    assert member.user_data is None


def test_a_kip_848_member_has_a_subscription_for_every_protocol_it_supports() -> None:
    value: dict[str, Any] = {
        **dict.fromkeys(("instanceId", "rackId", "subscribedTopicRegex", "serverAssignor")),
        "clientId": "c",
        "clientHost": "h",
        "subscribedTopicNames": ["t"],
        "rebalanceTimeoutMs": 1,
        "classicMemberMetadata": {
            "sessionTimeoutMs": 1,
            "supportedProtocols": [
                {"name": "cooperative-sticky", "metadata": BLOB},
                {"name": "range", "metadata": b"\0"},
            ],
        },
    }
    key = encode_key("CONSUMER_GROUP_MEMBER_METADATA", {"groupId": "g", "memberId": "m"})
    blob = encode_value("CONSUMER_GROUP_MEMBER_METADATA", 0, value)
    cooperative, ranged = members_of(decode_record(key, blob))
    assert cooperative.member_id == ranged.member_id == "m"
    assert (cooperative.protocol, ranged.protocol) == ("cooperative-sticky", "range")
    assert cooperative.user_data == Decoded(CooperativeUserData(generation=7))
    assert ranged.subscription.error is not None
    assert cooperative.assignment is None
    assert members_of(decode_record(key, None)) == ()
    native = encode_value(
        "CONSUMER_GROUP_MEMBER_METADATA", 0, {**value, "classicMemberMetadata": None}
    )
    assert members_of(decode_record(key, native)) == ()
