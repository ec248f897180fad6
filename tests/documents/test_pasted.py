"""Bytes as people have them: pasted from logs, debuggers, hex dumps and packet captures."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import pprint
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assignors.documents.pasted.decoding import decoded
from assignors.documents.pasted.dumps import blocks, bytes_in_dump
from assignors.documents.pasted.forms import bytes_in
from assignors.documents.pasted.lines import Reading, values
from assignors.documents.values import DocumentError
from tests.cli.running import answer, answers
from tests.wire.test_frames import GIVEN, MADE, OTHER, TEXT, frame_bytes
from tests.wire.vectors import captured
from wire import (
    Mode,
    Subscription,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)
from wire.frames import DESCRIBE_RESPONSE, JOIN_REQUEST, JOIN_RESPONSE, SYNC_REQUEST, SYNC_RESPONSE
from wire.protocol.documents import subscription_document

PLAIN = answer("decode", "subscription", given=TEXT.hex())
# 0x20 and letters that are digits too: a text column that looks like bytes.
BLOB = TEXT + b"ab cd ef 00 11 " + bytes(range(40))


def pairs(blob: bytes, joint: str) -> str:
    return joint.join(f"{byte:02x}" for byte in blob)


def escaped(blob: bytes) -> str:
    return "".join(f"\\x{byte:02x}" for byte in blob)


def printable(blob: bytes, dot: str = ".") -> str:
    return "".join(chr(byte) if 32 <= byte < 127 else dot for byte in blob)


ONE_LINE: dict[str, Callable[[bytes], str]] = {
    "spaces": lambda blob: pairs(blob, " "),
    "colons": lambda blob: pairs(blob, ":").upper(),
    "dashes": lambda blob: pairs(blob, "-"),
    "0x before each": lambda blob: ", ".join(f"0x{byte:02x}" for byte in blob),
    "0x without leading zeros": lambda blob: "[" + ", ".join(map(hex, blob)) + "]",
    "a C array": lambda blob: "{ " + ", ".join(f"0x{byte:02X}" for byte in blob) + " };",
    "groups of two": lambda blob: blob.hex(" ", -2),
    "escapes": escaped,
    "Python's bytes": repr,
    "Python's bytearray": lambda blob: repr(blob).removeprefix("b"),
    "a line of a log": lambda blob: f"2026-11-21 09:41 INFO joined: metadata={blob!r}, rack=None",
    "Wireshark's escaped string": lambda blob: f'"{escaped(blob)}"',
    "C#'s new byte[]": lambda blob: (
        "new byte[] { " + ", ".join(f"0x{byte:02X}" for byte in blob) + " };"
    ),
    "Java's signed array": lambda blob: str([(byte ^ 128) - 128 for byte in blob]),
    "Java's source": lambda blob: (
        "new byte[]{" + ", ".join(f"(byte) {byte}" for byte in blob) + "}"
    ),
    "Go's %v": lambda blob: f"[{' '.join(map(str, blob))}]",
    "Rust's Vec<u8>": lambda blob: str([*blob]),
    "Erlang's binary": lambda blob: f"<<{','.join(map(str, blob))}>>",
    "Node's Buffer": lambda blob: f"<Buffer {pairs(blob, ' ')}>",
    "Node's Buffer as JSON": lambda blob: json.dumps({"type": "Buffer", "data": [*blob]}),
    "Node's Buffer, inspected": lambda blob: (
        f"{{ type: 'Buffer', data: [ {str([*blob])[1:-1]} ] }}"
    ),
    "JSON in a string": lambda blob: json.dumps(json.dumps({"type": "Buffer", "data": [*blob]})),
    "a name and a list": lambda blob: f"memberAssignment = {[*blob]},",
    "decimal numbers": lambda blob: ", ".join(map(str, blob)),
    "PostgreSQL's bytea": lambda blob: f"\\x{blob.hex()}",
    "bytea of psql's COPY": lambda blob: f"\\\\x{blob.hex()}",
    "SQL's literal": lambda blob: f"X'{blob.hex().upper()}'",
    "a prompt": lambda blob: f"> {blob.hex()}",
    "a name": lambda blob: f"metadata: {blob.hex().upper()}",
    "quotes and a comma": lambda blob: f'"{blob.hex()}",',
    "a name and base64": lambda blob: f'"value": "{base64.b64encode(blob).decode()}",',
    "base64": lambda blob: base64.b64encode(blob).decode(),
    "base64 for URLs": lambda blob: base64.urlsafe_b64encode(blob).decode().rstrip("="),
}


@pytest.mark.parametrize("form", ONE_LINE)
def test_a_line_of_any_form_is_read_and_the_form_is_said(form: str) -> None:
    document = answer("decode", "subscription", given=ONE_LINE[form](TEXT))
    (note,) = document.pop("notes")
    assert note["code"] == "input-form"
    assert note["text"].startswith("read as ")
    assert note["text"].endswith(f": {len(TEXT)} bytes")
    assert {**document, "notes": []} == PLAIN


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (rf"joined with {escaped(TEXT)}", "text before the bytes"),
        (rf"a={TEXT!r} b={TEXT!r}", "2 values b'...'"),
    ],
)
def test_a_line_of_a_log_is_not_read_as_bytes_itself(line: str, words: str) -> None:
    document = answer("decode", "subscription", given=line)
    assert document["value"] is None
    assert words in document["error"]


def wireshark(blob: bytes, dot: str = ".", *, text: bool = True) -> str:
    rows = range(0, len(blob), 16)
    return "\n".join(
        f"{start:04x}   {pairs(blob[start : start + 16], ' '):<47}"
        + (f"   {printable(blob[start : start + 16], dot)}" if text else "")
        for start in rows
    )


def tcpdump(blob: bytes) -> str:
    rows = (blob[start : start + 16] for start in range(0, len(blob), 16))
    return "12:30:01.123456 IP 10.0.0.1.50000 > 10.0.0.2.9092: Flags [P.], length 99\n" + "\n".join(
        f"\t0x{number * 16:04x}:  {row.hex(' ', -2):<39}  {printable(row)}"
        for number, row in enumerate(rows)
    )


def one_dump(text: str) -> bytes:
    (lines,) = blocks(text.encode().splitlines(), bytes)
    return b"\n".join(lines)


DUMPS: dict[str, Callable[[bytes], str]] = {
    "Wireshark": wireshark,
    "Wireshark, middle dots": lambda blob: wireshark(blob, "\N{MIDDLE DOT}"),
    "Wireshark, bytes alone": lambda blob: wireshark(blob, text=False),
    "tcpdump -X": tcpdump,
}
PROGRAMS = (
    ("xxd",),
    ("xxd", "-g1"),
    ("xxd", "-u", "-c", "8"),
    ("hexdump", "-C"),
    ("od", "-t", "x1"),
    ("od", "-A", "d", "-t", "x1"),
    ("od", "-A", "x", "-t", "x1z"),
)
SWAPPING = (("hexdump",), ("od", "-x"), ("xxd", "-e"))


def printed(program: tuple[str, ...], blob: bytes) -> str:
    """What a program of this machine prints; a machine without it shows nothing here."""
    if shutil.which(program[0]) is None:
        pytest.skip(f"no {program[0]} on this machine")
    done = subprocess.run(program, input=blob, capture_output=True, check=True)
    return done.stdout.decode()


@pytest.mark.parametrize("form", DUMPS)
@pytest.mark.parametrize("blob", [BLOB, b"ab cd ef", bytes(64) + BLOB, b"\x00" * 16])
def test_the_lines_of_a_dump_are_one_value(form: str, blob: bytes) -> None:
    text = one_dump(DUMPS[form](blob))
    assert bytes_in_dump(text).blob == blob


@pytest.mark.parametrize("program", PROGRAMS, ids=" ".join)
@pytest.mark.parametrize("blob", [BLOB, b"ab cd ef", bytes(64) + BLOB])
def test_what_programs_print_is_one_value(program: tuple[str, ...], blob: bytes) -> None:
    text = one_dump(printed(program, blob))
    assert bytes_in_dump(text).blob == blob


@pytest.mark.parametrize("program", SWAPPING, ids=" ".join)
def test_a_dump_of_swapped_words_is_refused(program: tuple[str, ...]) -> None:
    text = one_dump(printed(program, BLOB))
    with pytest.raises(DocumentError, match=r"swap|not theirs"):
        bytes_in_dump(text)


def test_swapped_words_without_offsets_are_refused_too() -> None:
    """`od -An -x` of an Assignment was read as one of version 256, with exit code 0."""
    document = answer("decode", "assignment", given=" 0100 0000 0000 ffff ffff")
    assert "swap the bytes" in document["error"]
    assert (
        answer("decode", "assignment", given=" 0001 0000 0000 ffff ffff")["value"]["version"] == 1
    )


def test_dumps_and_lines_stand_in_one_file() -> None:
    given = (
        f"{TEXT.hex()}\n{wireshark(TEXT)}\n\n{tcpdump(OTHER)}\n{TEXT.hex()}\n\n{wireshark(TEXT)}"
    )
    documents, code = answers("decode", "subscription", given=given)
    values = [document["value"] for document in documents]
    other = answer("decode", "subscription", given=OTHER.hex())["value"]
    empty = None  # an empty line elsewhere is zero bytes
    assert values == [PLAIN["value"], PLAIN["value"], other, PLAIN["value"], empty, PLAIN["value"]]
    assert code == 2
    assert "hex dump of" in documents[1]["notes"][0]["text"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("0000 00 03 00 00", "may be an offset"),
        ("000010 61 30 20 00", "may be an offset"),
        ("00 0", "whole bytes"),
        ("12 34 5", "whole bytes"),
        ("[0, 1, 256]", "256 is no byte"),
        ("[0, 1, -129]", "-129 is no byte"),
        ("[0, 1, -1, 200]", "200 is no byte"),
        (f"[0, 1, {'9' * 5000}]", "99999999999999999999 is no byte"),
        ("[0, 1, ff]", "no hexadecimal digit"),
        ("[0, 1.5]", "no hexadecimal digit"),
        ("[0, 1 ... 2, 3]", "no hexadecimal digit"),
        ("revoked [0, 1] of [2, 3]", "2 lists of numbers"),
        ("<Buffer 00 01> and <Buffer 00 02>", "2 Buffers"),
        ("00 03 zz", "'z' is no hexadecimal digit"),
        ("00000000: 0003 0000  xx..", "not theirs"),
        ("0000   00 03\n0020   00", "lines are missing"),
        ("AAMAAAA=A", "no hexadecimal digit"),
        ("AAMAAAB", "no hexadecimal digit"),
        ("Y2xpY2tz", "no hexadecimal digit"),
        (r"\x00\x0", "no hexadecimal digit"),
    ],
)
def test_what_may_mean_two_things_is_refused(given: str, words: str) -> None:
    document = answer("decode", "subscription", given=given)
    assert (document["value"], document["error_kind"]) == (None, "bad-hex")
    assert words in document["error"]


def test_numbers_in_brackets_are_decimal_unless_they_look_otherwise() -> None:
    for text, expected in (
        ("[10, 11]", "0a0b"),
        ("[0x00, 10, 0x0a]", "000a0a"),
        ("[00, 10]", "0010"),
        ("[0x00, 0x0010]", "000010"),
        ("{0x00, 1, (byte) 0xff, -1}", "0001ffff"),
        ("[7]", "07"),
        ("[(byte) 0, 3]", "0003"),
        ("[]", ""),
        ("Uint8Array(2) [ 0, 3 ]", "0003"),
    ):
        assert bytes_in(text.encode()).blob.hex() == expected


def test_digits_that_are_base64_too_are_digits_with_a_note() -> None:
    document = answer("decode", "subscription", given="AAAAAAAA")
    (note, *_) = document["notes"]
    assert "as base64 it would be 6 others" in note["text"]


def test_an_error_of_form_ends_with_the_forms_that_are_read() -> None:
    for text in ("clicks", "[0, 256]", "0000 00 03 00 00"):
        words = answer("decode", "subscription", given=text)["error"]
        for form in ("hexadecimal", "base64", "a list of numbers", "hex dumps with offsets"):
            assert form in words.partition(" (forms that are read: ")[2]


@pytest.mark.parametrize(
    ("given", "more"),
    [
        ("<Buffer 00 01 00 00 00 01 00 01 74 ff ff ff ff ... 12 more bytes>", "12 more bytes"),
        ("{ type: 'Buffer', data: [ 0, 1, 0, 0, 0, 1, 0, 1, 116, ... 9 more items ] }", "9 more"),
        ("[\n  0, 1, 0, 0, 0, 1,\n  0, 1, 116,\n  ... 9 more items\n]", "9 more items"),
        ("<<0,1,0,0,0,1,0,1,116,...>>", "it ends with '...'"),
    ],
)
def test_a_value_that_was_cut_when_it_was_printed_is_an_error_and_read_as_far(
    given: str, more: str
) -> None:
    (document,), code = answers("decode", "subscription", given=given)
    assert document["value"]["topics"] == ["t"]
    assert document["error_kind"] == "bad-hex"
    assert more in document["error"]
    assert code == 2
    member = {"id": "a", "subscription": given}
    line = json.dumps({"topics": {"t": 2}, "members": [member]})
    found = answer("assign", "--assignor", "sticky", given=line)
    assert found["error_at"]["path"] == "members[0].subscription"


def test_a_log_line_of_kafkajs_has_one_buffer() -> None:
    """A SyncGroup response in the debug log of kafkajs, as in threads on its lock-step groups."""
    data = {"type": "Buffer", "data": [*GIVEN]}
    line = {
        "level": "DEBUG",
        "message": "[Connection] Response SyncGroup(key: 14, version: 0)",
        "partitions": [0, 1],
        "data": {"errorCode": 0, "memberAssignment": data},
    }
    plain = answer("decode", "assignment", given=GIVEN.hex())["value"]
    assert answer("decode", "assignment", given=json.dumps(line))["value"] == plain
    line["other"] = data
    found = answer("decode", "assignment", given=json.dumps(line))
    assert "2 lists of numbers" in found["error"]


@pytest.mark.parametrize("size", [20_000, 40_000])
@pytest.mark.parametrize(
    "text", ["[", "[1 ", "0 ", "'", '"\\x00"', "<Buffer 00 ", "data:[1]Buffer", "a:", "(byte)", " "]
)
def test_forms_are_refused_in_linear_time(text: str, size: int) -> None:
    with pytest.raises(DocumentError):
        bytes_in((text * size + "z").encode())


LONG = encode_subscription(
    Subscription(
        topics=("invoices", "payments"),
        user_data=b"\x00\x00\x00\x07",
        owned={"invoices": (0, 1, 2, 3), "payments": (0, 1)},
        generation=7,
        rack_id="use1-az1",
    )
)


def escaped_lines(blob: bytes) -> str:
    """Wireshark's "copy as escaped string": 16 bytes a line."""
    rows = (blob[start : start + 16] for start in range(0, len(blob), 16))
    return " \\\n".join(f'"{escaped(row)}"' for row in rows)


def wrapped(text: str, width: int) -> str:
    return "\n".join(text[start : start + width] for start in range(0, len(text), width))


WRAPPED: dict[str, Callable[[bytes], str]] = {
    "Wireshark's escaped string": escaped_lines,
    "xxd -p": lambda blob: wrapped(blob.hex(), 60),
    "base64": lambda blob: wrapped(base64.b64encode(blob).decode(), 76),
    "od -An -t x1": lambda blob: wrapped(f" {pairs(blob, ' ')}", 48),
    "od -An -t u1": lambda blob: wrapped("".join(f"{byte:4}" for byte in blob), 64),
    "od -An -t d1": lambda blob: wrapped("".join(f"{(b ^ 128) - 128:5}" for b in blob), 80),
    "JSON over lines": lambda blob: json.dumps({"type": "Buffer", "data": [*blob]}, indent=2),
    "Erlang's shell": lambda blob: f"<<{textwrap.fill(str([*blob])[1:-1], 70)}>>",
    "Python's pprint": lambda blob: pprint.pformat(blob, width=30),
    "a terminal": lambda blob: wrapped(blob.hex(), 77),
}


@pytest.mark.parametrize("form", WRAPPED)
@pytest.mark.parametrize("blob", [TEXT, LONG])
def test_a_value_over_several_lines_is_one(form: str, blob: bytes) -> None:
    text = WRAPPED[form](blob)
    lines = text.count("\n") + 1
    given = f"{OTHER.hex()}\n{text}\n{OTHER.hex()}\n{text}\n\n{text}\n{text}"
    documents, _ = answers("decode", "subscription", given=given)
    plain, other = (answer("decode", "subscription", given=b.hex())["value"] for b in (blob, OTHER))
    empty = None
    values = [document["value"] for document in documents]
    assert values == [other, plain, other, plain, empty, plain, plain]
    if lines > 1:
        assert f"over {lines} lines" in documents[1]["notes"][0]["text"]
    assert documents[4]["error_at"]["line"] == 3 + 2 * lines


def test_a_line_that_reads_in_part_goes_on_where_all_of_it_reads_whole() -> None:
    """The first line ends just before the owned partitions, where librdkafka's bytes may end."""
    subscription = decode_subscription(LONG).require()
    blob = encode_subscription(replace(subscription, user_data=None))
    assert decode_subscription(blob[:30]).notes[0].code == "owned-missing"
    document = answer("decode", "subscription", given=wrapped(blob.hex(), 60))
    assert document["value"] == subscription_document(decode_subscription(blob).require())
    assert document["value"]["generation"] == 7


@pytest.mark.parametrize("keep", [1.0, 0.6])
def test_several_values_stay_several(keep: float) -> None:
    """Also those that a log cut, and those of clients that leave out the last fields."""
    blobs = [
        LONG,
        encode_subscription(Subscription(version=1, topics=("a", "b")))[:-4],
        encode_subscription(Subscription(version=1, topics=("c", "d")))[:-4],
        OTHER,
    ]
    lines = [blob[: int(len(blob) * keep)].hex() for blob in blobs] * 3
    documents, _ = answers("decode", "subscription", given="\n".join(lines))
    assert len(documents) == len(lines)


def test_a_line_that_begins_as_a_value_completes_no_other() -> None:
    """Two values that a log cut: the second is as long as the rack that the first lacks."""
    first = encode_subscription(Subscription(topics=("t",), rack_id="r" * 14))[:-14]
    assert decode_subscription(first + TEXT[:14]).notes == ()
    documents, _ = answers("decode", "subscription", given=f"{first.hex()}\n{TEXT[:14].hex()}")
    assert [document["value"]["topics"] for document in documents] == [["t"], ["orders"]]


def test_lines_that_belong_to_nothing_are_values_of_their_own() -> None:
    given = [
        "[",
        "clicks",
        OTHER.hex(),
        LONG.hex()[:60],
        OTHER.hex(),
        "null",
        "[0,",
        OTHER.hex(),
    ]
    given.insert(0, "<Buffer 00 ... \udcff>")
    lines = "\n".join(given).encode(errors="surrogateescape")
    documents, code = answers("decode", "subscription", given=lines)
    other = answer("decode", "subscription", given=OTHER.hex())["value"]
    assert [document["value"] == other for document in documents] == [
        line == OTHER.hex() for line in given
    ]
    assert code == 2


def test_values_of_many_lines_and_many_lines_in_vain_take_linear_time() -> None:
    blob = encode_subscription(Subscription(topics=tuple(f"t{n:04}" for n in range(9000))))
    noise = ["0000000000", "00ffffffff", "ff" * 30, "[", "\\"]
    for each in noise:
        given = "\n".join([each] * 2000)
        assert answers("decode", "subscription", given=given)[0]
    document = answer("decode", "subscription", given=wrapped(blob.hex(), 60))
    assert len(document["value"]["topics"]) == 9000


PIECES = [
    *(write(TEXT) for write in ONE_LINE.values()),
    *(line for write in WRAPPED.values() for line in write(TEXT).splitlines()),
    *(
        "",
        "*",
        "[",
        "]",
        "\\",
        "clicks",
        "0000: 00 03  ..",
        "<<0,1,...>>",
        "<Buffer 00 ... 3 more>",
    ),
]


@given(st.lists(st.sampled_from(PIECES) | st.text("0 1fx\\'\"[]{}()<>.,:\u2026"), max_size=6))
@example(["0000: 00 03  ..", "clicks"])
def test_every_line_is_in_one_value_whatever_is_pasted(pasted: list[str]) -> None:
    lines = [text.encode() for text in pasted]
    found = [*values(lines, bytes, Reading("subscription", decode_subscription))]
    assert [line for each in found for line in each if line.strip()] == [
        *filter(bytes.strip, lines)
    ]
    for each in found:
        with contextlib.suppress(DocumentError):
            decoded("subscription", b"\x1e".join(each), Mode.TOLERANT)


def test_few_lines_are_read_ahead_of_one_that_does_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assignors.documents.pasted.lines.SIZE_MAX", 2**16)
    for endless in ("[", "0003" * 10):
        read = values(
            itertools.repeat(endless), str.encode, Reading("subscription", decode_subscription)
        )
        assert list(itertools.islice(read, 3)) == [[endless]] * 3


def test_bytes_that_are_whole_as_the_other_kind_are_said_to_be() -> None:
    """segmentio/kafka-go#1149: an Assignment that was taken for a Subscription."""
    three = encode_assignment({"w-0": (0, 1, 2), "w-1": (0, 1, 2)}, version=1).hex()
    document = answer("decode", "subscription", given=three)
    assert (document["value"], document["error_kind"]) == (None, "wrong-type")
    assert "read whole as an Assignment" in document["error"]
    assert "try decode assignment" in document["error"]
    found = answer("decode", "assignment", given=TEXT.hex())
    assert "read whole as a Subscription" in found["error"]
    line = json.dumps({"topics": {"t": 2}, "members": [{"id": "a", "subscription": three}]})
    found = answer("assign", "--assignor", "sticky", given=line)
    assert "read whole as an Assignment" in found["error"]
    assert found["error_at"]["path"] == "members[0].subscription"
    document = answer("decode", "subscription", given=wrapped(three, 60))
    assert "read whole as an Assignment" in document["error"]
    # Its partitions 0 and 1 are UserData of two bytes, owned partitions and a generation.
    document = answer("decode", "subscription", given=GIVEN.hex())
    assert document["value"]["topics"] == ["orders"]
    assert [note["code"] for note in document["notes"]] == ["input-kind"]


@pytest.mark.parametrize("kind", ["subscription", "assignment"])
def test_what_clients_wrote_is_of_its_kind(kind: str) -> None:
    for case in captured(kind):
        document = decoded(kind, case["hex"].encode(), Mode.TOLERANT)
        assert document["error"] is None or len(case["hex"]) < 4, case


def test_the_exit_code_says_that_most_of_a_value_was_not_read() -> None:
    # Text that somebody put into hexadecimal twice, a value and something behind it.
    for blob, expected in (
        (TEXT.hex().encode(), 1),
        (TEXT + bytes(len(TEXT) + 1), 1),
        (TEXT + bytes(3), 0),
        (LONG[:-3], 0),
    ):
        (document,), code = answers("decode", "subscription", given=blob.hex())
        codes = [note["code"] for note in document["notes"]]
        assert ("mostly-unread" in codes, code) == (expected == 1, expected)
    assert answers("decode", "sticky-userdata", given="00000007")[1] == 1


def test_a_described_group_has_both_kinds_of_bytes() -> None:
    """segmentio/kafka-go#1149: a DescribeGroups response, out of a capture."""
    data = frame_bytes(DESCRIBE_RESPONSE.name, 5).hex()
    said = answer("decode", "subscription", given=data)
    given = answer("decode", "assignment", given=data)
    assert [part["owner"] for part in said["frame"]["parts"]] == ["m-1", "m-2"]
    assert said["frame"]["parts"][0]["value"] == PLAIN["value"]
    assert said["notes"][0]["text"].startswith("this is a DescribeGroups response v5 of group shop")
    plain = answer("decode", "assignment", given=GIVEN.hex())["value"]
    assert given["frame"]["parts"][0]["value"] == plain


def test_a_member_of_a_group_may_have_its_bytes_in_any_form() -> None:
    def assigned(subscription: object) -> object:
        member = {"id": "a", "subscription": subscription}
        line = json.dumps({"topics": {"orders": 2}, "members": [member]})
        return answer("assign", "--assignor", "sticky", given=line)

    plain = assigned(TEXT.hex())
    assert isinstance(plain, dict)
    forms: list[object] = [ONE_LINE[form](TEXT) for form in ("spaces", "base64", "Python's bytes")]
    forms += [
        {"type": "Buffer", "data": [*TEXT]},
        [*TEXT],
        wireshark(TEXT),
        WRAPPED["xxd -p"](TEXT),
    ]
    for form in forms:
        other = assigned(form)
        assert isinstance(other, dict)
        assert other["assignment"] == plain["assignment"]
        assert [note["code"] for note in other["notes"]] == ["input-form"]


def test_a_whole_message_is_no_subscription_of_a_member() -> None:
    member = {"id": "a", "subscription": frame_bytes(JOIN_REQUEST.name, 9).hex()}
    line = json.dumps({"topics": {"orders": 2}, "members": [member]})
    found = answer("assign", "--assignor", "sticky", given=line)
    assert (found["error_kind"], found["error_at"]["path"]) == (
        "wrong-type",
        "members[0].subscription",
    )
    assert found["error"].startswith("this is a JoinGroup request v9 of member m-1")


def test_key_and_value_of_a_record_may_have_colons() -> None:
    key, value = "0001000473686f7000066f726465727300000004", "0003000000000000002affffffff0000"
    plain = answer("decode", "offsets-record", given=f"{key} {value}00000001a1fb79299b")
    given = f"{pairs(bytes.fromhex(key), ':')} {value}00000001a1fb79299b"
    other = answer("decode", "offsets-record", given=given)
    assert other["key"] == plain["key"]
    assert [note["code"] for note in other["notes"]][:1] == ["input-form"]
    assert other["notes"][1:] == plain["notes"]
    spaced = answer("decode", "offsets-record", given=f"{pairs(bytes.fromhex(key), ' ')} {value}")
    assert "a record is its key, a space and its value" in spaced["error"]


TOPICS = st.lists(st.text(max_size=6), max_size=3)
SUBSCRIPTIONS = st.builds(
    Subscription,
    topics=TOPICS.map(tuple),
    owned=st.dictionaries(st.text(max_size=4), st.lists(st.integers(0, 9), unique=True).map(tuple)),
    user_data=st.none() | st.binary(max_size=12),
    generation=st.integers(-1, 2**31 - 1),
    rack_id=st.none() | st.text(min_size=1, max_size=4),
)


@given(SUBSCRIPTIONS, st.integers(0, 3))
@example(Subscription(topics=("ta", "tb", "tc", "td")), 0)
def test_every_lawful_subscription_in_plain_hex_is_itself(
    subscription: Subscription, version: int
) -> None:
    blob = encode_subscription(replace(subscription, version=version))
    document = decoded("subscription", blob.hex().encode(), Mode.TOLERANT)
    assert "frame" not in document
    assert document["error"] is None
    read = decode_subscription(blob).require()
    assert document["value"] == subscription_document(read)


PLAIN_FORMS = {*[*ONE_LINE][: [*ONE_LINE].index("escapes")]}
"""Forms without the characters of the bytes themselves."""


@given(st.binary(min_size=1, max_size=60))
@example(bytes(3))
def test_no_form_changes_bytes_in_silence(blob: bytes) -> None:
    assert bytes_in(blob.hex().encode()) == (blob, "")
    for form, write in ONE_LINE.items():
        # What is told from hexadecimal by the first byte of every message.
        if form not in PLAIN_FORMS and not (blob[0] == 0 and blob[1:2] < b"\x10"):
            continue
        text = write(blob)
        if "base64" in form and set(text.split('"')[-2 if '"' in text else 0]) == {"A"}:
            continue  # zeros alone: hexadecimal too, and no message
        try:
            found = bytes_in(text.encode("latin-1"))
        except DocumentError:
            continue
        assert found.blob == blob or found.form == "", form


@pytest.mark.parametrize("version", [0, 5, 9])
def test_a_join_request_is_said_and_its_subscriptions_are_decoded(version: int) -> None:
    data = frame_bytes(JOIN_REQUEST.name, version)
    document = answer("decode", "subscription", given=data.hex())
    (note,) = document["notes"]
    start = data.index(TEXT)
    assert note["code"] == "input-frame"
    assert note["text"].startswith(f"this is a JoinGroup request v{version} of member m-1 of group")
    assert f"bytes {start}..{start + len(TEXT) - 1} (range)" in note["text"]
    frame = document["frame"]
    assert [part["owner"] for part in frame["parts"]] == ["range", "sticky"]
    assert frame["parts"][0]["value"] == PLAIN["value"]
    assert (document["value"], document["error"]) == (None, None)


def test_the_only_part_of_a_frame_is_the_value_in_any_form() -> None:
    plain = answer("decode", "assignment", given=GIVEN.hex())["value"]
    for name in (SYNC_REQUEST.name, SYNC_RESPONSE.name):
        data = frame_bytes(name, 5)
        for text in (data.hex(), data[4:].hex(), pairs(data, " "), wireshark(data)):
            document = answer("decode", "assignment", given=text)
            assert (document["value"], document["error"]) == (plain, None)
            assert document["notes"][-1]["text"].startswith(f"this is a {name} v5")


@pytest.mark.parametrize("name", sorted(MADE.keys() - {DESCRIBE_RESPONSE.name}))
def test_a_frame_without_what_is_asked_for_is_said(name: str) -> None:
    data = frame_bytes(name, 4).hex()
    holds = "subscription" if "Join" in name else "assignment"
    other = "assignment" if holds == "subscription" else "subscription"
    found = answer("decode", other, given=data)
    assert found["error_kind"] == "wrong-type"
    assert f"this is a {name} v" in found["error"]
    assert f"try decode {holds}" in found["error"]
    found = answer("decode", "sticky-userdata", given=data)
    assert f"this is a {name} v" in found["error"]


def test_odd_bytes_within_a_frame_have_their_place_in_the_whole() -> None:
    data = frame_bytes(JOIN_RESPONSE.name, 9)
    at = data.index(OTHER)
    document = answer(
        "decode", "subscription", given=(data[:at] + b"\x00\x07" + data[at + 2 :]).hex()
    )
    notes = document["frame"]["parts"][1]["notes"] if "frame" in document else document["notes"]
    assert notes[0]["code"] == "version-above-3"
