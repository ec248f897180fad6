"""The consumer-protocol bytes inside records: each member's Subscription and Assignment, decoded.

A classic group's record has each member's Subscription under the chosen protocol and its
Assignment; a KIP-848 member that joined by the classic protocol has a Subscription for every
protocol it supports. Both are read tolerantly: what a client wrote oddly is read as far as it
goes, and noted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from wire.decoded import Decoded
from wire.protocol.assignment import MemberAssignment, decode_assignment
from wire.protocol.subscription import Subscription, decode_subscription
from wire.protocol.user_data import (
    CooperativeUserData,
    StickyUserData,
    decode_cooperative_user_data,
    decode_sticky_user_data,
)
from wire.records.record import Record

GROUP_METADATA, CONSUMER_GROUP_MEMBER_METADATA = 2, 5

CONSUMER = "consumer"
"""The protocol type whose bytes are Subscription and Assignment; Connect has others."""

UserData = Decoded[StickyUserData] | Decoded[CooperativeUserData]

USER_DATA: Mapping[str, Callable[[bytes | None], UserData]] = {
    "sticky": decode_sticky_user_data,
    "cooperative-sticky": decode_cooperative_user_data,
    "weighted": decode_sticky_user_data,
    "cooperative-weighted": decode_cooperative_user_data,
}
"""Protocol name -> decoder of its UserData, for the protocols that have a known layout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMember:
    """A member under one protocol, its bytes decoded."""

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


def members_of(record: Record) -> tuple[RecordMember, ...]:
    """Return the members whose consumer-protocol bytes the record holds, in its order.

    Empty for every other record: a tombstone, one that could not be read, a group of another
    protocol type, a KIP-848 member without classic metadata. Never raises.
    Cost: linear in the bytes.

    >>> members_of(Record())
    ()
    """
    value = record.value
    if value is None or record.key is None:
        return ()
    if record.type == GROUP_METADATA and value["protocolType"] == CONSUMER:
        return tuple(
            RecordMember(
                member_id=member["memberId"],
                protocol=value["protocol"],
                subscription=decode_subscription(member["subscription"]),
                assignment=decode_assignment(member["assignment"]),
            )
            for member in value["members"]
        )
    classic = value.get("classicMemberMetadata")
    if record.type != CONSUMER_GROUP_MEMBER_METADATA or classic is None:
        return ()
    return tuple(
        RecordMember(
            member_id=record.key["memberId"],
            protocol=protocol["name"],
            subscription=decode_subscription(protocol["metadata"]),
        )
        for protocol in classic["supportedProtocols"]
    )
