"""JSON lines read in splits: the same rows as in one piece, in order, wherever it is cut."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.sources import FileSplit, Raw, SourceError, read_json_lines, splits
from assignors.replay.sources.arrow import POSITION, read_split, rows

lines = st.sampled_from(
    [
        b'{"key": "a2V5", "value": null}',
        b'{"key": null, "value": "dg==", "offset": 7}',
        b'{"key": null, "value": "",  "topic": "\xc3\xbc"}',
        b"",
        b"   ",
        b"\r",
        b"no record",
        b"[",
    ]
)


def read(part: FileSplit, *, line_max: int = 99, batch_rows: int = 3) -> list[Raw]:
    """The rows of a split."""
    return list(rows(read_split(part, line_max=line_max, batch_rows=batch_rows)))


@given(st.lists(lines, max_size=12), st.booleans(), st.integers(1, 90), st.integers(20, 99))
def test_wherever_a_file_is_cut_the_rows_and_their_places_are_those_of_the_whole(
    tmp_path_factory: pytest.TempPathFactory,
    written: list[bytes],
    is_ended: bool,  # noqa: FBT001 - drawn
    size: int,
    line_max: int,
) -> None:
    path = tmp_path_factory.mktemp("dump") / "dump.jsonl"
    path.write_bytes(b"\n".join(written) + b"\n" * is_ended)
    whole = list(read_json_lines(path, line_max=line_max))
    parts = splits(path, size=size)
    assert [raw for part in parts for raw in read(part, line_max=line_max)] == whole
    positions = [
        place
        for part in parts
        for batch in read_split(part, line_max=line_max)
        for place in batch.column(POSITION.name).to_pylist()
    ]
    assert positions == sorted(set(positions))
    assert len(positions) == len(whole)


def test_a_file_is_cut_into_parts_of_one_size_and_a_packed_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"0123456789")
    cuts = [(part.start, part.end) for part in splits(path, size=4)]
    assert cuts == [(0, 4), (4, 8), (8, None)]
    path.write_bytes(b"")
    assert splits(path) == [FileSplit(file=path)]
    packed = tmp_path / "dump.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"key": null, "value": null}\n' * 9))
    (only,) = splits(packed, size=4)
    assert len(read(only)) == 9
    with pytest.raises(SourceError, match="nowhere"):
        splits(tmp_path / "nowhere.jsonl")


def test_a_line_that_is_too_long_is_one_error_and_the_next_is_there(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    good = b'{"key": null, "value": null}\n'
    path.write_bytes(good + b"x" * 1000 + b"\n" + good + b"x" * 1000)
    first, long, next_, last = read_json_lines(path, line_max=64)
    assert first == next_ == Raw()
    assert long == Raw(error="dump.jsonl: line 2: 64 bytes and no end of it")
    assert last == Raw(error="dump.jsonl: line 4: 64 bytes and no end of it")


def test_positions_stand_behind_the_columns_of_every_source(tmp_path: Path) -> None:
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b'{"key": null, "value": null}\n' * 3)
    (batch,) = read_split(splits(path)[0])
    assert batch.schema.names[-1] == POSITION.name
    assert batch.schema.field(POSITION.name).type == pa.int64()
    assert batch.column(POSITION.name).to_pylist() == [0, 1, 2]
