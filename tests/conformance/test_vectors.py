"""Files of vectors: what is read, and how a bad line is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assignors.conformance.vectors import read_vectors, vector_from_document
from assignors.documents.values import Document, DocumentError

WHOLE = b'{"id": "coopud-1", "in": {"algo": "codec-coopud", "gen": 7}, "out": {"ud": "00000007"}}\n'


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "packed"])
@pytest.mark.parametrize("header", [b"", b'{"header": "old"}\n', b'{"format": 1}\n', b"\n\n"])
def test_a_file_may_be_packed_and_have_a_header(tmp_path: Path, pack: type, header: bytes) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(pack(header + WHOLE + b"\n" + WHOLE.strip()))
    one, other = read_vectors(path)
    assert one == other
    assert (one.category, one.note, one.value) == ("coopud", "", None)
    assert one.request() == {"id": "coopud-1", "op": "encode", "algo": "codec-coopud", "gen": 7}


def test_a_file_without_lines_has_no_vectors(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(b"")
    assert list(read_vectors(path)) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"nonsense\n", "line 1"),
        (b'{"format": 2}\n', "format"),
        (b'{"format": 1}\n{"id": 5, "in": {}}\n', "line 2"),
        (b'{"id": "a"}\n', "line 1"),
        (b'{"id": "a", "in": {}}\n', "algo"),
        (b'{"id": "a", "in": {"algo": "sticky"}, "judge": "fair"}\n', "fair"),
        (b'{"id": "a", "in": {"algo": "new"}, "judge": "equal"}\n', "op"),
        (b'{"id": "a", "in": {"algo": "codec-sub", "hex": "0"}, "out": {}}\n', "line 1"),
        (b"[" * 100_000, "line 1"),
        (b"\xff\xfe\n", "line 1"),
        (gzip.compress(WHOLE, mtime=0)[:-9], "vectors.jsonl"),
        (b"\x1f\x8bnot a gzip file", "vectors.jsonl"),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_a_file_that_is_none_is_refused_with_its_place(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "vectors.jsonl"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as error:
        list(read_vectors(path))
    assert words in str(error.value)


def test_a_key_that_no_vector_has_is_a_typing_error() -> None:
    vector: Document = {"id": "x-1", "in": {"algo": "range"}, "out": {}, "jugde": "equal"}
    with pytest.raises(DocumentError, match="'jugde' is no key here; did you mean 'judge'"):
        vector_from_document(vector)
