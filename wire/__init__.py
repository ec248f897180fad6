"""Reads and writes the bytes of Kafka's consumer protocol; `wire.records` those of its records.

Encoders write exactly what Kafka 4.4 writes. Decoders accept what real clients are known to write
and return a `Decoded`: a value, notes on what was odd, or an error. They never raise.
"""

from wire.cursor import TopicPartitions
from wire.decoded import Decoded, Mode, Note, NoteCode
from wire.errors import ErrorKind, WireError
from wire.protocol.assignment import MemberAssignment, decode_assignment, encode_assignment
from wire.protocol.subscription import Subscription, decode_subscription, encode_subscription
from wire.protocol.user_data import (
    CooperativeUserData,
    StickyUserData,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    encode_cooperative_user_data,
    encode_sticky_user_data,
)

__all__ = [
    "CooperativeUserData",
    "Decoded",
    "ErrorKind",
    "MemberAssignment",
    "Mode",
    "Note",
    "NoteCode",
    "StickyUserData",
    "Subscription",
    "TopicPartitions",
    "WireError",
    "decode_assignment",
    "decode_cooperative_user_data",
    "decode_sticky_user_data",
    "decode_subscription",
    "encode_assignment",
    "encode_cooperative_user_data",
    "encode_sticky_user_data",
    "encode_subscription",
]
