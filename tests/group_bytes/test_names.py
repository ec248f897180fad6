"""Names in a buffer are recognised exactly, whatever stands beside them."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from assignors.group_bytes import names
from assignors.group_bytes.in_turn import NotPlainError
from assignors.group_bytes.lock_step import PAD, Entries, topics_of
from assignors.group_bytes.names import find, name_table

WORDS = st.one_of(
    st.binary(max_size=20),
    st.text("ab", max_size=40).map(str.encode),
    st.sampled_from([b"x" * names.NAME_BYTES_MAX, b"x" * (names.NAME_BYTES_MAX + 1)]),
)


@given(st.lists(WORDS, unique=True, max_size=12), st.lists(WORDS, max_size=12))
@example([b"a" * 9], [b"a" * 10, b"a" * 16])
@example([b"a" * 9, b"b"], [b"a" * 10])
def test_a_name_is_found_where_it_stands_and_nothing_else_is(
    known: list[bytes], others: list[bytes]
) -> None:
    asked = [*known, *others]
    buffer = b"".join(asked) + bytes(PAD)
    length = np.array([len(word) for word in asked], dtype=np.int64)
    start = np.cumsum(length) - length
    found = find(name_table(known), buffer, start, length)
    places = {
        word: place for place, word in enumerate(known) if 0 < len(word) <= names.NAME_BYTES_MAX
    }
    assert found.tolist() == [places.get(word, -1) for word in asked]


def test_names_that_differ_in_the_middle_alone_are_found_nearly_at_once() -> None:
    known = [b"production.orders-%05d.events.v1" % number for number in range(5000)]
    assert name_table(known).probe_count < 8


USUAL = names.PROBES_MAX, int(names.MULTIPLIERS[0])


@given(
    st.lists(st.text("ab", min_size=1, max_size=20), min_size=1, max_size=40),
    st.lists(st.binary(min_size=1, max_size=5), max_size=3),
    st.sampled_from((USUAL[0], 2, 0)),
    st.sampled_from((USUAL[1], 1, 0)),
)
def test_names_of_entries_are_learned_or_all_are_refused(
    texts: list[str], odd: list[bytes], probes_max: int, multiplier: int
) -> None:
    asked = [*map(str.encode, texts), *odd]
    first = names.MULTIPLIERS.copy()
    first[0] = multiplier  # of the first word; 0: short names collide
    buffer = b"".join(asked) + bytes(PAD)
    length = np.array([len(name) for name in asked], dtype=np.int64)
    one = np.ones(len(asked), dtype=np.int64)
    entries = Entries(one, np.cumsum(length) - length, length, one)
    known: dict[bytes, int] = {}
    with (
        patch.object(names, "PROBES_MAX", probes_max),
        patch.object(names, "MULTIPLIERS", first),
    ):
        try:
            number = topics_of(buffer, entries, known)
        except NotPlainError:
            assert not all(map(_is_text, asked)) or (probes_max, multiplier) != USUAL
            return
    assert all(map(_is_text, asked))
    assert sorted(known) == sorted(set(asked))
    assert number.tolist() == [known[name] for name in asked]


def _is_text(name: bytes) -> bool:
    return name.decode(errors="replace").encode() == name
