"""Transactions in segment files: what `read_committed` shows, markers lost included."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.sources import Isolation
from tests.replay.segments import (
    PAIRS,
    TRANSACTIONAL,
    Batch,
    marker,
    pairs_of,
    read,
    written,
)

steps = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from(["write", "abort", "commit", "plain"])),
    max_size=25,
)


@given(steps, st.integers(1, 4))
def test_read_committed_gives_what_was_committed_up_to_the_oldest_open_transaction(
    tmp_path_factory: pytest.TempPathFactory,
    history: list[tuple[int, str]],
    file_count: int,
) -> None:
    """The oracle plays the history backwards and forwards, with sets."""
    batches = []
    fate: dict[int, str | None] = {}
    open_offsets: dict[int, list[int]] = {}
    for offset, (producer, step) in enumerate(history):
        if step == "plain":
            fate[offset] = None
            batches.append(Batch(base_offset=offset, pairs=[(b"%d" % offset, None)]))
        elif step == "write":
            open_offsets.setdefault(producer, []).append(offset)
            batches.append(
                Batch(
                    base_offset=offset,
                    pairs=[(b"%d" % offset, None)],
                    attributes=TRANSACTIONAL,
                    producer_id=producer,
                )
            )
        else:
            ended = "aborted" if step == "abort" else "committed"
            fate.update(dict.fromkeys(open_offsets.pop(producer, []), ended))
            batches.append(marker(offset, producer, commits=step == "commit"))
    stop = min((offsets[0] for offsets in open_offsets.values()), default=len(history))
    fate.update({offset: "open" for offsets in open_offsets.values() for offset in offsets})
    place = tmp_path_factory.mktemp("log") / "t-0"
    place.mkdir()
    for number in range(file_count):
        share = batches[number * len(batches) // file_count :][
            : (number + 1) * len(batches) // file_count - number * len(batches) // file_count
        ]
        (place / f"{number:020d}.log").write_bytes(b"".join(batch.data() for batch in share))
    found, errors = read(place)
    assert not errors
    seen = [offset for offset in sorted(fate) if offset < stop]
    assert [raw.offset for raw in found] == [o for o in seen if fate[o] != "aborted"]
    every, _ = read(place, Isolation.READ_UNCOMMITTED)
    assert [(raw.offset, raw.transaction) for raw in every] == sorted(fate.items())


def test_a_lost_marker_hides_its_transaction_and_nothing_else(tmp_path: Path) -> None:
    write = Batch(pairs=PAIRS[0], attributes=TRANSACTIONAL, producer_id=5)
    broken = bytearray(marker(2, 5, commits=True).data())
    broken[-1] ^= 1
    rest = Batch(base_offset=3, pairs=PAIRS[1])
    place = written(tmp_path, [write, bytes(broken), rest])
    found, errors = read(place)
    assert pairs_of(found) == PAIRS[1]
    assert ["no marker" in error or "CRC" in error for error in errors] == [True, True]
    every, _ = read(place, Isolation.READ_UNCOMMITTED)
    assert [raw.transaction for raw in every] == ["lost", "lost", None, None]


@pytest.mark.parametrize(
    "key", [b"\0\0", None, struct.pack(">hh", 0, 4)], ids=["cut", "null", "another kind"]
)
def test_a_marker_of_no_known_kind_ends_nothing(tmp_path: Path, key: bytes | None) -> None:
    write = Batch(pairs=PAIRS[0], attributes=TRANSACTIONAL, producer_id=5)
    odd = Batch(base_offset=2, pairs=[(key, b"")], attributes=TRANSACTIONAL | 0x20, producer_id=5)
    every, _ = read(written(tmp_path, [write, odd]), Isolation.READ_UNCOMMITTED)
    assert [raw.transaction for raw in every] == ["lost", "lost"]


@pytest.mark.parametrize("odd", [{"pairs": []}, {"payload": b"x", "attributes": 0x31}])
def test_a_marker_without_a_record_ends_nothing(tmp_path: Path, odd: dict[str, Any]) -> None:
    write = Batch(pairs=PAIRS[0], attributes=TRANSACTIONAL, producer_id=5)
    empty = Batch(**{"base_offset": 2, "attributes": 0x30, "producer_id": 5, **odd})
    every, _ = read(written(tmp_path, [write, empty]), Isolation.READ_UNCOMMITTED)
    assert [raw.transaction for raw in every] == ["lost", "lost"]


def test_damage_before_a_transaction_that_is_open_says_nothing_of_it(tmp_path: Path) -> None:
    """The producer's marker was read since: it is the next one that everybody waits for."""
    broken = bytearray(Batch(base_offset=2, pairs=PAIRS[1]).data())
    broken[-1] ^= 1
    batches: list[Batch | bytes] = [
        Batch(pairs=PAIRS[0], attributes=TRANSACTIONAL, producer_id=5),
        bytes(broken),
        marker(4, 5, commits=True),
        Batch(base_offset=5, pairs=PAIRS[2], attributes=TRANSACTIONAL, producer_id=5),
        Batch(base_offset=7, pairs=PAIRS[3]),
    ]
    place = written(tmp_path, batches)
    assert pairs_of(read(place)[0]) == PAIRS[0]
    every, _ = read(place, Isolation.READ_UNCOMMITTED)
    fates = ["committed", "committed", "open", "open", None, None]
    assert [raw.transaction for raw in every] == fates
