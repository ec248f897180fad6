"""Names in a buffer are recognised exactly, whatever stands beside them."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from assignors.group_bytes import names
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
