"""The records of `__consumer_offsets`: every type of Kafka 4.4, read and written.

A record type is a table in a file of this package and a row in `wire.records.types`.
"""

from wire.records.members import RecordMember, members_of
from wire.records.record import (
    UNKNOWN,
    Record,
    decode_record,
    encode_key,
    encode_value,
    formatter_json,
    record_json,
)
from wire.records.types import RECORD_TYPES, RecordType

__all__ = [
    "RECORD_TYPES",
    "UNKNOWN",
    "Record",
    "RecordMember",
    "RecordType",
    "decode_record",
    "encode_key",
    "encode_value",
    "formatter_json",
    "members_of",
    "record_json",
]
