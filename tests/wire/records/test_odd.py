"""What is odd about a record is kept and labelled; what makes it unreadable is named by its place.

The bytes are written by hand: what writes them must not think as what reads them.
"""

from __future__ import annotations

import pytest

from wire import ErrorKind, NoteCode
from wire.layout import UNKNOWN_TAGS
from wire.records import (
    UNKNOWN,
    Record,
    decode_record,
    encode_value,
    formatter_json,
    members_of,
    record_json,
)

MEMBER_KEY = "000500016700016d"
MEMBER_VALUE = "000000000263026801000000000500"
"""A KIP-848 member up to its tag section."""
CURRENT_KEY = "000800016700016d"
CURRENT_VALUE = "000000000001000000010002" + "00" * 16 + "0200000007"
"""What a member has, up to the tag section of its one topic."""
METADATA_KEY = "0003000167"


def read(key: str, value: str | None) -> Record:
    return decode_record(bytes.fromhex(key), None if value is None else bytes.fromhex(value))


def codes(record: Record) -> list[NoteCode]:
    return [note.code for note in record.notes]


@pytest.mark.parametrize("number", ["0009", "0012", "0018", "00c8", "ffff", "8000", "7fff"])
def test_an_unknown_type_is_kept_as_bytes(number: str) -> None:
    record = read(number + "000167", "0000")
    assert record.error is not None
    assert (record.error.kind, record.error.offset) == (ErrorKind.UNKNOWN_TYPE, 0)
    assert record.type == int.from_bytes(bytes.fromhex(number), signed=True)
    assert (record.name, record.key, record.value) == (UNKNOWN, None, None)
    assert record.key_version is None
    assert record.key_bytes == bytes.fromhex(number + "000167")
    assert record.value_bytes == b"\0\0"
    assert not record.is_tombstone


@pytest.mark.parametrize("key", [None, b"", b"\0"])
def test_a_key_without_a_type_is_kept_as_bytes(key: bytes | None) -> None:
    record = decode_record(key, b"\0\0")
    assert record.error is not None
    assert (record.error.kind, record.error.offset) == (ErrorKind.TRUNCATED, 0)
    assert (record.type, record.name, record.key_bytes) == (None, UNKNOWN, key)
    assert formatter_json(record) is None
    assert record_json(record)["name"] == UNKNOWN
    assert members_of(record) == ()


@pytest.mark.parametrize("version", ["0001", "0063", "7fff", "ffff", "8000"])
def test_an_unknown_version_is_kept_as_bytes(version: str) -> None:
    record = read(METADATA_KEY, version + "00000007")
    assert record.error is not None
    assert (record.error.kind, record.error.offset) == (ErrorKind.UNKNOWN_VERSION, 0)
    assert record.value_version == int.from_bytes(bytes.fromhex(version), signed=True)
    assert record.key == {"groupId": "g"}
    assert record.value is None
    assert record.value_bytes == bytes.fromhex(version + "00000007")
    assert not record.is_tombstone


@pytest.mark.parametrize("value", ["", "00"])
def test_a_value_without_a_version_is_no_tombstone(value: str) -> None:
    record = read(METADATA_KEY, value)
    assert record.error is not None
    assert record.error.kind is ErrorKind.TRUNCATED
    assert (record.value_version, record.is_tombstone) == (None, False)


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_bytes_of_every_kind_are_read_alike(kind: type[bytearray]) -> None:
    key, value = bytes.fromhex(MEMBER_KEY), bytes.fromhex(MEMBER_VALUE + "01050161")
    record = decode_record(kind(key), kind(value))
    assert record == decode_record(key, value)
    assert record.value is not None
    assert type(record.value[UNKNOWN_TAGS][0][1]) is bytes


def test_bytes_after_the_end_are_noted_in_key_and_value() -> None:
    record = read(METADATA_KEY + "aabb", "00000000000700" + "cc")
    assert record.value == {"epoch": 7}
    assert [(note.code, note.offset, note.text) for note in record.notes] == [
        (NoteCode.TRAILING_BYTES, 5, "key: 2 bytes after the end"),
        (NoteCode.TRAILING_BYTES, 7, "value: 1 bytes after the end"),
    ]
    assert record.value_bytes is not None
    assert record.value_bytes[record.notes[1].offset :] == b"\xcc"


def test_an_unreadable_key_leaves_the_value_unread() -> None:
    record = read("0003000467", "00000000000700")
    assert record.error is not None
    assert str(record.error) == "key: groupId: 4 bytes in 1 (byte 4)"
    assert (record.type, record.name) == (3, "CONSUMER_GROUP_METADATA")
    assert (record.key, record.value, record.value_version) == (None, None, None)


def test_an_error_names_the_way_to_its_field() -> None:
    # Two topics, of which the second one's second number is cut.
    value = "000003" + "00" * 16 + "020000000700" + "00" * 16 + "03000000070000"
    record = read("000700016700016d", value)
    assert record.error is not None
    assert str(record.error) == "value: topicPartitions[1] partitions: 8 bytes in 6 (byte 42)"


def test_unknown_tags_are_kept_and_written_back() -> None:
    value = "000000000007020501aa0900"
    record = read(METADATA_KEY, value)
    assert record.value == {"epoch": 7, UNKNOWN_TAGS: [(5, b"\xaa"), (9, b"")]}
    assert codes(record) == [NoteCode.UNKNOWN_TAG]
    assert record.notes[0].text == "value: tag 5 of 1 bytes is not known (2 times)"
    assert record.notes[0].offset == 7
    assert encode_value(record.name, 0, record.value).hex() == value.replace(" ", "")
    assert record_json(record)["value"] == {"epoch": 7}


def test_unknown_tags_stand_among_known_ones_in_ascending_order() -> None:
    value = {"epoch": 7, "metadataHash": 1, UNKNOWN_TAGS: [(9, b"z"), (5, b"y")]}
    written = encode_value("CONSUMER_GROUP_METADATA", 0, value)
    assert written.hex() == "000000000007030008000000000000000105017909017a"


def test_a_known_tag_that_comes_again_wins() -> None:
    value = "000000000007020008000000000000000100080000000000000002"
    record = read(METADATA_KEY, value)
    assert record.value == {"epoch": 7, "metadataHash": 2}
    assert codes(record) == [NoteCode.TAG_REPEATED]
    assert record.notes[0].offset == 17


def test_the_size_of_a_known_tag_is_noted_and_not_believed() -> None:
    record = read(METADATA_KEY, "0000000000070100030000000000000001")
    assert record.value == {"epoch": 7, "metadataHash": 1}
    assert codes(record) == [NoteCode.TAG_SIZE]


def test_a_tag_that_says_the_default_says_nothing() -> None:
    record = read(METADATA_KEY, "0000000000070100080000000000000000")
    assert record.value == {"epoch": 7}
    assert record.notes == ()


@pytest.mark.parametrize(
    ("tags", "metadata"),
    [
        ("00", "absent"),
        ("01000100", None),
        ("010005ffffffff0f00", None),  # Java takes every number below one for null
        ("01000701000000000100", "absent"),
        ("01000701000000090100", {"sessionTimeoutMs": 9, "supportedProtocols": []}),
    ],
)
def test_no_classic_metadata_is_an_explicit_null(tags: str, metadata: object) -> None:
    # Kafka's default for the missing tag is an empty struct, not null.
    record = read(MEMBER_KEY, MEMBER_VALUE + tags)
    assert record.error is None
    assert record.value is not None
    assert record.value.get("classicMemberMetadata", "absent") == metadata
    assert members_of(record) == ()


@pytest.mark.parametrize(
    ("tags", "epochs"),
    [("00", "absent"), ("01000100", None), ("01000101", "absent"), ("0100050200000003", [3])],
)
def test_assignment_epochs_may_be_null_and_are_empty_when_left_out(
    tags: str, epochs: object
) -> None:
    record = read(CURRENT_KEY, CURRENT_VALUE + tags + "0100")
    assert record.error is None
    assert record.value is not None
    (topic,) = record.value["assignedPartitions"]
    assert topic.get("assignmentEpochs", "absent") == epochs


@pytest.mark.parametrize(
    ("presence", "endpoint"),
    [
        ("ff", None),
        ("80", None),
        *((present, {"host": "h", "port": 65535}) for present in ("00", "01", "7f")),
    ],
)
def test_a_struct_in_line_is_null_below_zero(presence: str, endpoint: object) -> None:
    value = "000000000263026800000005000000010270" + presence
    value += "0268ffff00" if endpoint else ""
    record = read("001300016700016d", value + "0100")
    assert record.error is None
    assert record.value is not None
    assert record.value["userEndpoint"] == endpoint


def test_text_that_is_no_utf_8_is_read_as_java_reads_it() -> None:
    record = read("00030003eda080", None)
    assert record.key == {"groupId": "\ufffd"}
    assert codes(record) == [NoteCode.INVALID_UTF8]


@pytest.mark.parametrize(
    ("tags", "kind"),
    [
        ("914e", ErrorKind.BAD_LENGTH),  # 10,001 tags
        ("ffffffff0f", ErrorKind.BAD_LENGTH),  # -1 tags
        ("01050a00", ErrorKind.TRUNCATED),
        ("0105ffffffff0f", ErrorKind.TRUNCATED),  # a size of -1
        ("808080808000", ErrorKind.BAD_LENGTH),  # a varint of six bytes
        ("80808080", ErrorKind.TRUNCATED),
        ("01", ErrorKind.TRUNCATED),
    ],
)
def test_tag_sections_that_cannot_be_are_refused(tags: str, kind: ErrorKind) -> None:
    record = read(METADATA_KEY, "000000000007" + tags)
    assert record.error is not None
    assert record.error.kind is kind


def test_ten_thousand_tags_are_read() -> None:
    many = read(METADATA_KEY, "000000000007904e" + "0500" * 10_000)
    assert many.value is not None
    assert len(many.value[UNKNOWN_TAGS]) == 10_000


@pytest.mark.parametrize("length", ["ffffffff0f", "00", "8080808008"])
def test_lengths_below_zero_are_null_as_java_counts(length: str) -> None:
    # 8080808008 is the least int32; one less is the greatest, which no string has.
    record = read(MEMBER_KEY, "0000" + length + MEMBER_VALUE[6:] + "00")
    assert (record.error is None) == (length != "8080808008")
    if record.value is not None:
        assert record.value["instanceId"] is None


def test_a_compact_string_is_no_longer_than_others() -> None:
    long = "808002" + "78" * 32_767
    assert read(MEMBER_KEY, "0000" + long + MEMBER_VALUE[6:] + "00").error is None
    longer = read(MEMBER_KEY, "0000" + "818002" + "78" * 32_768 + MEMBER_VALUE[6:] + "00")
    assert longer.error is not None
    assert str(longer.error) == "value: instanceId: a string of 32768 bytes (byte 2)"


def test_an_array_holds_no_more_elements_than_bytes_are_left() -> None:
    # A regular expression's topics: a count of one more than there is, then two numbers.
    key = "0010000167000172"
    right = read(key, "0000" + "11" + "01" * 16 + "00" * 17)
    assert right.error is None
    wrong = read(key, "0000" + "23" + "01" * 16 + "00" * 17)
    assert wrong.error is not None
    assert wrong.error.kind is ErrorKind.BAD_LENGTH
    assert str(wrong.error) == "value: topics: 34 elements in 33 bytes (byte 2)"


def test_an_array_holds_a_million_elements_and_no_more() -> None:
    key, ends = bytes.fromhex("0010000167000172"), bytes(17)
    million = decode_record(key, bytes.fromhex("0000c1843d") + b"\1" * 1_000_000 + ends)
    assert million.value is not None
    assert len(million.value["topics"]) == 1_000_000
    more = decode_record(key, bytes.fromhex("0000c2843d") + b"\1" * 1_000_001 + ends)
    assert more.error is not None
    assert more.error.kind is ErrorKind.BAD_LENGTH


def test_a_null_where_there_may_be_none_is_refused_by_name() -> None:
    record = read("0003ffff", None)
    assert record.error is not None
    assert str(record.error) == "key: groupId: null (byte 2)"
    members = read("0002000167", "0003000000000000ffffffff" + "00" * 8 + "ffffffff")
    assert members.error is not None
    assert str(members.error) == "value: members: null (byte 20)"
