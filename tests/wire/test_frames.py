"""Whole messages of groups, as kafka-python writes them from Kafka's own schemas."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.wire.vectors import captured
from wire import Subscription, encode_assignment, encode_subscription
from wire.frames import (
    DESCRIBE_RESPONSE,
    JOIN_REQUEST,
    JOIN_RESPONSE,
    SYNC_REQUEST,
    SYNC_RESPONSE,
    GroupFrame,
    group_frames,
)

messages = pytest.importorskip("kafka.protocol.consumer")
admin = pytest.importorskip("kafka.protocol.admin.groups")

TEXT = encode_subscription(Subscription(topics=("orders",), owned={"orders": (0, 1)}, generation=4))
OTHER = encode_subscription(Subscription(topics=("orders", "users"), rack_id="r"))
GIVEN = encode_assignment({"orders": (0, 1)})
LENGTH = 4


def joining(version: int) -> Any:
    kind = messages.JoinGroupRequest
    protocols = [
        kind.JoinGroupRequestProtocol(name="range", metadata=TEXT),
        kind.JoinGroupRequestProtocol(name="sticky", metadata=OTHER),
    ]
    return kind(
        version=version,
        group_id="shop",
        session_timeout_ms=45_000,
        rebalance_timeout_ms=300_000,
        member_id="m-1",
        group_instance_id="i" if version > 4 else None,
        protocol_type="consumer",
        protocols=protocols,
        reason="why" if version > 7 else None,
    )


def joined(version: int, *, members: bool = True) -> Any:
    kind = messages.JoinGroupResponse
    listed = [
        kind.JoinGroupResponseMember(member_id="m-1", group_instance_id=None, metadata=TEXT),
        kind.JoinGroupResponseMember(member_id="m-2", group_instance_id=None, metadata=OTHER),
    ]
    return kind(
        version=version,
        throttle_time_ms=0,
        error_code=0,
        generation_id=7,
        protocol_type="consumer" if version > 6 else None,
        protocol_name="range",
        leader="m-1",
        skip_assignment=False,
        member_id="m-1",
        members=listed if members else [],
    )


def syncing(version: int) -> Any:
    kind = messages.SyncGroupRequest
    return kind(
        version=version,
        group_id="shop",
        generation_id=7,
        member_id="m-1",
        group_instance_id=None,
        protocol_type="consumer" if version > 4 else None,
        protocol_name="range" if version > 4 else None,
        assignments=[kind.SyncGroupRequestAssignment(member_id="m-2", assignment=GIVEN)],
    )


def synced(version: int) -> Any:
    return messages.SyncGroupResponse(
        version=version,
        throttle_time_ms=0,
        error_code=0,
        protocol_type="consumer" if version > 4 else None,
        protocol_name="range" if version > 4 else None,
        assignment=GIVEN,
    )


def described(version: int) -> Any:
    kind = admin.DescribeGroupsResponse
    member = kind.DescribedGroup.DescribedGroupMember
    listed = [
        member(
            member_id=member_id,
            group_instance_id=None,
            client_id="c",
            client_host="/10.0.0.1",
            member_metadata=metadata,
            member_assignment=assignment,
        )
        for member_id, metadata, assignment in (("m-1", TEXT, GIVEN), ("m-2", OTHER, b""))
    ]
    group = kind.DescribedGroup(
        error_code=0,
        error_message=None,
        group_id="shop",
        group_state="Stable",
        protocol_type="consumer",
        protocol_data="range",
        members=listed,
        authorized_operations={3, 8},
    )
    return kind(version=version, throttle_time_ms=0, groups=[group])


MADE = {
    JOIN_REQUEST.name: (JOIN_REQUEST, joining, [("range", TEXT), ("sticky", OTHER)]),
    JOIN_RESPONSE.name: (JOIN_RESPONSE, joined, [("m-1", TEXT), ("m-2", OTHER)]),
    SYNC_REQUEST.name: (SYNC_REQUEST, syncing, [("m-2", GIVEN)]),
    SYNC_RESPONSE.name: (SYNC_RESPONSE, synced, [("", GIVEN)]),
    DESCRIBE_RESPONSE.name: (
        DESCRIBE_RESPONSE,
        described,
        [("m-1", TEXT), ("m-1", GIVEN), ("m-2", OTHER), ("m-2", b"")],
    ),
}
ALL = [(name, version) for name, (layout, _, _) in MADE.items() for version in layout.versions]


def frame_bytes(name: str, version: int) -> bytes:
    """A message with its header and length, as it is on the wire."""
    message = MADE[name][1](version)
    message.with_header(correlation_id=5, **({"client_id": "c"} if "request" in name else {}))
    return bytes(message.encode(header=True, framed=True))


def only(data: bytes) -> GroupFrame:
    (frame,) = group_frames(data)
    return frame


@pytest.mark.parametrize("has_length", [True, False])
@pytest.mark.parametrize(("name", "version"), ALL)
def test_a_message_of_any_version_is_recognised(
    name: str, version: int, *, has_length: bool
) -> None:
    data = frame_bytes(name, version)[0 if has_length else LENGTH :]
    frame = only(data)
    assert frame.message == name
    assert version in frame.versions
    found = [(part.owner, data[part.start : part.end]) for part in frame.parts]
    assert found == MADE[name][2]
    assert frame.fields["correlation_id"] == 5
    if "request" in name:
        assert (frame.versions, frame.fields["member_id"]) == ((version,), "m-1")
        assert (frame.fields["group_id"], frame.fields["client_id"]) == ("shop", "c")


def test_versions_with_the_same_bytes_are_one_frame() -> None:
    assert only(frame_bytes(JOIN_RESPONSE.name, 3)).versions == (2, 3, 4)
    assert only(frame_bytes(JOIN_RESPONSE.name, 7)).versions == (7, 8)
    assert only(frame_bytes(SYNC_RESPONSE.name, 1)).versions == (1, 2, 3)


@pytest.mark.parametrize("has_ethernet", [True, False])
@pytest.mark.parametrize("is_ipv6", [True, False])
def test_the_headers_of_a_packet_are_skipped(*, is_ipv6: bool, has_ethernet: bool) -> None:
    payload = frame_bytes(JOIN_REQUEST.name, 9)
    tcp = struct.pack(">HHIIBBHHH", 50_000, 9092, 1, 1, 8 << 4, 0x18, 500, 0, 0) + bytes(12)
    if is_ipv6:
        network = struct.pack(">IHBB", 6 << 28, len(tcp) + len(payload), 6, 64) + bytes(32)
    else:
        size = 20 + len(tcp) + len(payload)
        network = struct.pack(">BBHHHBBH", 0x45, 0, size, 1, 0, 64, 6, 0) + bytes(8)
    link = bytes(12) + (b"\x86\xdd" if is_ipv6 else b"\x08\x00") if has_ethernet else b""
    frame = only(link + network + tcp + payload)
    assert frame.start == len(link + network + tcp) + LENGTH
    assert frame.message == JOIN_REQUEST.name


def test_a_message_without_anything_in_it_needs_its_length() -> None:
    message = joined(5, members=False)
    message.with_header(correlation_id=0)
    data = bytes(message.encode(header=True, framed=True))
    assert only(data).parts == ()
    assert group_frames(data[LENGTH:]) == []


def test_an_empty_assignment_needs_no_length_where_the_protocol_is_named() -> None:
    message = synced(5)
    message.assignment = b""
    message.with_header(correlation_id=6)
    frame = only(bytes(message.encode(header=True)))
    (part,) = frame.parts
    assert (frame.message, frame.versions) == (SYNC_RESPONSE.name, (5,))
    assert part.start == part.end


def test_of_several_described_groups_the_first_is_named() -> None:
    message = described(5)
    first = described(5).groups[0]
    first.group_id = "cart"
    message.groups = [first, *message.groups]
    message.with_header(correlation_id=6)
    frame = only(bytes(message.encode(header=True, framed=True)))
    assert frame.fields["group_id"] == "cart"
    assert len(frame.parts) == 8


@given(st.sampled_from(ALL), st.data())
def test_a_message_that_is_cut_or_longer_is_none(
    case: tuple[str, int], drawn: st.DataObject
) -> None:
    data = frame_bytes(*case)
    end = drawn.draw(st.integers(0, len(data) - 1))
    assert group_frames(data[:end]) == []
    assert group_frames(data + bytes(drawn.draw(st.integers(1, 9)))) == []


@pytest.mark.parametrize("kind", ["subscription", "assignment", "userdata"])
def test_what_clients_wrote_is_no_frame(kind: str) -> None:
    assert not [case["hex"] for case in captured(kind) if group_frames(bytes.fromhex(case["hex"]))]


@given(st.binary(max_size=80))
def test_random_bytes_are_no_frame(data: bytes) -> None:
    assert group_frames(data) == []


def test_a_frame_of_another_protocol_is_said_all_the_same() -> None:
    kind = messages.JoinGroupRequest
    request = kind(
        version=5,
        group_id="connect",
        session_timeout_ms=1,
        rebalance_timeout_ms=1,
        member_id="w",
        group_instance_id=None,
        protocol_type="connect",
        protocols=[kind.JoinGroupRequestProtocol(name="sessioned", metadata=b"\x00\x02ab")],
    )
    request.with_header(correlation_id=5, client_id="c")
    frame = only(bytes(request.encode(header=True, framed=True)))
    assert frame.fields["protocol_type"] == "connect"
