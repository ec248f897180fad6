"""The order of a map that grows: kept as it is listed, or found anew, it is the same."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assignors.jvm.hash_order import string_hash, string_hashes
from assignors.jvm.timeline_order import TimelineOrder
from tests.conftest import cases

KEYS = [*(f"c{number}" for number in range(20)), "Aa", "BB"]
"""The last two have one hash code."""
STEPS = st.lists(
    st.tuples(st.sampled_from(["put", "put", "remove", "listed"]), st.sampled_from(KEYS)),
    min_size=20,
    max_size=60,
)


@cases(60)
@given(st.lists(st.sampled_from(KEYS), unique=True), STEPS)
def test_keys_that_are_listed_are_those_in_the_order_of_the_map(
    first: list[str], steps: list[tuple[str, str]]
) -> None:
    kept, anew = TimelineOrder(), TimelineOrder()
    kept.put_all(first, string_hashes(first))
    for key in first:
        anew.put(key, string_hash(key))
    kept.put_again()
    anew.put_again()
    assert kept == anew
    for what, key in steps:
        if what == "listed":
            kept.listed()
        elif what == "put":
            kept.put(key, string_hash(key))
            anew.put(key, string_hash(key))
        elif key in list(anew):
            kept.remove(key, string_hash(key))
            anew.remove(key, string_hash(key))
        assert kept == anew
    keys, hashes = kept.listed()
    assert keys == list(anew)
    assert hashes.tolist() == list(map(string_hash, keys))
