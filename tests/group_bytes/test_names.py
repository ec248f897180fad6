"""Names in a buffer are recognised exactly, whatever stands beside them."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from assignors.group_bytes import names
from assignors.group_bytes.entries import KnownNames, recognised_names
from assignors.group_bytes.entries.places import Entries
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
    buffer = b"".join(asked) + bytes(names.NAME_BYTES_MAX)
    length = np.array([len(word) for word in asked], dtype=np.int64)
    start = np.cumsum(length) - length
    found = find(name_table(known), buffer, start, length)
    places = {
        word: place for place, word in enumerate(known) if 0 < len(word) <= names.NAME_BYTES_MAX
    }
    assert found.tolist() == [places.get(word, -1) for word in asked]


def test_names_that_differ_in_the_middle_alone_cost_no_more_tables() -> None:
    known = [b"production.orders-%05d.events.v1" % number for number in range(5000)]
    assert len(name_table(known).levels) < 6


@given(
    st.integers(1, 20).flatmap(
        lambda size: st.tuples(
            st.lists(st.text("ab", min_size=size, max_size=size), min_size=1, max_size=40),
            st.lists(st.binary(min_size=size, max_size=size), max_size=3),
        )
    ),
    st.sampled_from((names.LEVELS_MAX, 1, 0)),
    st.sampled_from((int(names.MULTIPLIER), 1, 0)),
)
def test_names_of_one_length_get_the_numbers_of_their_order(
    listed: tuple[list[str], list[bytes]], levels_max: int, multiplier: int
) -> None:
    asked = [*map(str.encode, listed[0]), *listed[1]]
    first = names.MULTIPLIERS.copy()
    first[0] = multiplier  # of the first word; 1: names collide in the first table, 0: in all
    buffer = b"".join(asked) + bytes(names.NAME_BYTES_MAX)
    length = np.array([len(name) for name in asked], dtype=np.int64)
    entries = Entries(
        buffer=buffer,
        read=np.array([len(asked)]),
        row=np.zeros(len(asked), dtype=np.int64),
        name_start=np.cumsum(length) - length,
        name_length=length,
        count=np.ones(len(asked), dtype=np.int64),
    )
    known = KnownNames({})
    with patch.object(names, "LEVELS_MAX", levels_max), patch.object(names, "MULTIPLIERS", first):
        number = recognised_names(entries, known)
        again = recognised_names(entries, known)
    text = sorted({name for name in asked if _is_text(name)})
    assert list(known.numbers) == text
    assert number.tolist() == [known.numbers.get(name, -1) for name in asked]
    assert levels_max < names.LEVELS_MAX or again.tolist() == number.tolist()


def _is_text(name: bytes) -> bool:
    return name.decode(errors="replace").encode() == name
