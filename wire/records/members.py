"""What members said and got, out of the records that hold it as opaque bytes.

A classic group's record has each member's Subscription under the chosen protocol and its
Assignment; a KIP-848 member that joined by the classic protocol has a Subscription for every
protocol it supports. They are opened by the tolerant codecs: what clients wrote oddly is read as
far as it goes, and noted. Groups repeat themselves from one generation to the next, so a caller
that reads many records may pass a cache; it is the caller's, and bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from wire.decoded import Decoded
from wire.plain import read_assignment, read_subscription, read_subscriptions
from wire.protocol.assignment import MemberAssignment
from wire.protocol.subscription import Subscription
from wire.protocol.user_data import (
    CooperativeUserData,
    StickyUserData,
    decode_cooperative_user_data,
    decode_sticky_user_data,
)
from wire.records.record import Record

T = TypeVar("T")

GROUP_METADATA, CONSUMER_GROUP_MEMBER_METADATA = 2, 5

CONSUMER = "consumer"
"""The protocol type whose bytes are Subscription and Assignment; Connect has others."""

UserData = Decoded[StickyUserData] | Decoded[CooperativeUserData]

USER_DATA: Mapping[str, Callable[[bytes | None], UserData]] = {
    "sticky": decode_sticky_user_data,
    "cooperative-sticky": decode_cooperative_user_data,
}
"""The protocols whose UserData has a known layout."""

CACHED_BYTES_MAX = 16_384
"""Longer blobs are decoded each time, which bounds what a cache can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMember:
    """A member under one protocol, its bytes opened."""

    member_id: str
    protocol: str | None
    subscription: Decoded[Subscription]
    assignment: Decoded[MemberAssignment] | None = None
    """None where the record has no assignments: KIP-848 keeps them in records of their own."""

    @property
    def user_data(self) -> UserData | None:
        """Return the Subscription's UserData, decoded anew at each call.

        None where the protocol has no layout that we know, or there is no Subscription.
        """
        decode = USER_DATA.get(self.protocol or "")
        subscription = self.subscription.value
        return None if decode is None or subscription is None else decode(subscription.user_data)


class MemberCache:
    """Decoded Subscriptions and Assignments by their bytes; the one not used longest goes first.

    What it returns is shared: treat it as frozen. It holds at most `blobs_max` of each, none of
    more than `CACHED_BYTES_MAX` bytes.
    """

    __slots__ = ("assignment", "subscription")

    def __init__(self, blobs_max: int = 4096) -> None:
        """Start empty."""
        self.subscription = _cached(read_subscription, blobs_max)
        self.assignment = _cached(read_assignment, blobs_max)


def members_of(record: Record, cache: MemberCache | None = None) -> tuple[RecordMember, ...]:
    """Return the members whose consumer-protocol bytes the record holds, in its order.

    Cost: linear in the bytes.

    >>> members_of(Record())
    ()
    """
    value = record.value
    if value is None or record.key is None:
        return ()
    if record.type == GROUP_METADATA and value["protocolType"] == CONSUMER:
        protocol = value["protocol"]
        assignment_of = read_assignment if cache is None else cache.assignment
        members = value["members"]
        said = _subscriptions([member["subscription"] for member in members], cache)
        opened = [
            RecordMember(
                member_id=member["memberId"],
                protocol=protocol,
                subscription=subscription,
                assignment=assignment_of(member["assignment"]),
            )
            for member, subscription in zip(members, said, strict=True)
        ]
        return tuple(opened)
    classic = value.get("classicMemberMetadata")
    if record.type != CONSUMER_GROUP_MEMBER_METADATA or classic is None:
        return ()
    supported = classic["supportedProtocols"]
    said = _subscriptions([protocol["metadata"] for protocol in supported], cache)
    return tuple(
        RecordMember(
            member_id=record.key["memberId"], protocol=protocol["name"], subscription=subscription
        )
        for protocol, subscription in zip(supported, said, strict=True)
    )


def _subscriptions(blobs: list[bytes], cache: MemberCache | None) -> list[Decoded[Subscription]]:
    return read_subscriptions(blobs) if cache is None else [*map(cache.subscription, blobs)]


def _cached(decode: Callable[[bytes], T], blobs_max: int) -> Callable[[bytes], T]:
    remembered = lru_cache(maxsize=blobs_max)(decode)
    return lambda blob: remembered(blob) if len(blob) <= CACHED_BYTES_MAX else decode(blob)
