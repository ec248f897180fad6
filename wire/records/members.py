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
from typing import Any

from wire.assignment import MemberAssignment, decode_assignment
from wire.decoded import Decoded
from wire.records.record import Record
from wire.subscription import Subscription, decode_subscription
from wire.user_data import (
    CooperativeUserData,
    StickyUserData,
    decode_cooperative_user_data,
    decode_sticky_user_data,
)

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
    assignment: Decoded[MemberAssignment] | None
    """None where the record has no assignments: KIP-848 keeps them in records of their own."""
    user_data: UserData | None
    """None where the protocol has no layout that we know, or there is no Subscription."""


class MemberCache:
    """Decoded Subscriptions and Assignments by their bytes; the oldest used goes first.

    What it returns is shared: treat it as frozen. It holds at most `blobs_max` of each, none of
    more than `CACHED_BYTES_MAX` bytes.
    """

    __slots__ = ("assignment", "subscription")

    def __init__(self, blobs_max: int = 4096) -> None:
        """Start empty."""
        self.subscription = _cached(decode_subscription, blobs_max)
        self.assignment = _cached(decode_assignment, blobs_max)


def members_of(record: Record, cache: MemberCache | None = None) -> tuple[RecordMember, ...]:
    """Return the members whose consumer-protocol bytes the record holds, in its order.

    Cost: linear in the bytes.

    >>> members_of(Record())
    ()
    """
    value = record.value
    if value is None:
        return ()
    if record.type == 2 and value["protocolType"] == CONSUMER:
        return _classic(value, cache)
    classic = value.get("classicMemberMetadata") if record.type == 5 else None
    return () if classic is None else _supported(record, classic, cache)


def _classic(value: Mapping[str, Any], cache: MemberCache | None) -> tuple[RecordMember, ...]:
    protocol = value["protocol"]
    subscription_of = decode_subscription if cache is None else cache.subscription
    assignment_of = decode_assignment if cache is None else cache.assignment
    members = []
    for member in value["members"]:
        subscription = subscription_of(member["subscription"])
        members.append(
            RecordMember(
                member_id=member["memberId"],
                protocol=protocol,
                subscription=subscription,
                assignment=assignment_of(member["assignment"]),
                user_data=_user_data(protocol, subscription),
            )
        )
    return tuple(members)


def _supported(
    record: Record, classic: Mapping[str, Any], cache: MemberCache | None
) -> tuple[RecordMember, ...]:
    assert record.key is not None
    subscription_of = decode_subscription if cache is None else cache.subscription
    members = []
    for supported in classic["supportedProtocols"]:
        subscription = subscription_of(supported["metadata"])
        members.append(
            RecordMember(
                member_id=record.key["memberId"],
                protocol=supported["name"],
                subscription=subscription,
                assignment=None,
                user_data=_user_data(supported["name"], subscription),
            )
        )
    return tuple(members)


def _user_data(protocol: str | None, subscription: Decoded[Subscription]) -> UserData | None:
    decode = USER_DATA.get(protocol or "")
    if decode is None or subscription.value is None:
        return None
    return decode(subscription.value.user_data)


def _cached(decode: Callable[[bytes], Any], blobs_max: int) -> Callable[[bytes], Any]:
    remembered = lru_cache(maxsize=blobs_max)(decode)
    return lambda blob: remembered(blob) if len(blob) <= CACHED_BYTES_MAX else decode(blob)
