"""Any text whatever: never a traceback, one document out for each line in, good lines answered."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.cli.inputs.json_text import parse_json
from assignors.documents.terminal import is_around, recognised_text
from assignors.documents.values import DocumentError
from tests.cli.running import GROUP, answers
from tests.conftest import cases

KEYS = {
    "assign": [
        *("schema", "assignor", "protocol"),
        *("assignment", "withheld", "notes", "stats", "error", "error_kind"),
    ],
    "check": ["schema", "violations", "gaps", "error", "error_kind"],
    "explain": [
        "schema",
        "topic",
        "partition",
        "verdict",
        "clause",
        "text",
        "favoured",
        "target",
        "given",
        "last_generation",
        "claims",
        "topic_spread",
        "topic_spread_minimum",
        "error",
        "error_kind",
    ],
}
OPTIONS = {
    "assign": ["--assignor", "cooperative-sticky"],
    "check": [],
    "explain": ["--partition", "t:0"],
}
GOOD = json.dumps({**GROUP, "assignment": {"a": {"t": [0, 1, 2, 3]}, "b": {}}}).encode()

texts = st.binary(max_size=30) | st.text(max_size=30).map(str.encode)
# What begins a document over several lines has a test of its own.
# What is recognised as a whole file is one error, and lines of a terminal are none.
lone = texts.map(lambda line: line.replace(b"\n", b"")).filter(
    lambda line: (
        not (
            line.strip()[:1] in {b"{", b"["}
            or recognised_text(line)
            or is_around(line.decode("utf-8", "replace"))
        )
    )
)
odd_lines = lone | st.sampled_from(
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"\xff{}",
        b'{"topics": NaN}',
        b'{"topics": {}, "members": [], "generation": 1e999}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b"1" * 5_000,
        b'{"topics": {"t": 1, "t": 2}, "members": []}',
        b'{"topics": {"\\ud800": 1}, "members": []}',
        b'{"topics": {"t": 2147483647}, "members": []}',
    ]
)


@pytest.mark.parametrize("name", list(KEYS))
@cases(50)
@given(st.lists(odd_lines | st.just(GOOD), max_size=6))
def test_any_lines_give_as_many_documents_and_good_ones_are_answered(
    name: str, lines: list[bytes]
) -> None:
    given_bytes = b"".join(line + b"\n" for line in lines)
    documents, code = answers(name, *OPTIONS[name], given=given_bytes)
    for document in documents:
        if name == "explain":  # what `GOOD` has for `check` is noted
            document.pop("notes", None)
        assert [key for key in document if key != "error_at"] == KEYS[name]
    for line, document in zip(lines, documents, strict=True):
        if line == GOOD:
            assert document["error"] is None
    unreadable = [document for document in documents if document["error"] is not None]
    for document in unreadable:
        assert set(document["error_at"]) - {"path", "offset"} == {"line"}
        assert len(document["error_at"]) == 2
        assert lines[document["error_at"]["line"] - 1] != GOOD
    assert (code == 2) == bool(unreadable)


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=9))
def test_what_json_can_say_is_read_as_the_standard_library_does(value: object) -> None:
    assert parse_json(json.dumps(value).encode()) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")) is not ...


@pytest.mark.parametrize(
    ("line", "kind", "place"),
    [
        (b'{"t": [1, 2', "bad-json", 11),
        ('{"é": x}'.encode(), "bad-json", 7),
        (b'{"t": \xff}', "bad-utf8", 6),
        (b'{"t": NaN}', "bad-json", 6),
        (b'{"t": -Infinity}', "bad-json", 6),
        (b"[" * 100_000, "bad-json", 0),
        (b'{"a": 1, "a": 2}', "repeated", "a"),
        (b'{"m": [1, {"x y": {"a": 1, "b": 2, "a": 3}}]}', "repeated", 'm[1]["x y"].a'),
        (b'{"a": {"b": 1, "b": 2}, "a": 3}', "repeated", "$"),
    ],
)
def test_what_is_no_json_is_named_by_its_byte_or_path(
    line: bytes, kind: str, place: int | str
) -> None:
    with pytest.raises(DocumentError) as caught:
        parse_json(line)
    document = caught.value.document()
    assert document["error_kind"] == kind
    assert document["error_at"] == {"offset" if isinstance(place, int) else "path": place}
