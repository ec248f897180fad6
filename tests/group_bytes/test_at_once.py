"""Known names of one length, found in whole messages at once."""

from __future__ import annotations

from unittest.mock import patch

from hypothesis import example, given
from hypothesis import strategies as st

from assignors.group_bytes import subscriptions, topic_lists
from assignors.group_bytes.entries import KnownNames
from assignors.group_bytes.subscriptions import read_members
from tests.conftest import cases
from tests.group_bytes.blobs import mutated, sticky_user_data
from tests.group_bytes.test_subscriptions import always_together, one_by_one, subscription
from wire import Subscription, encode_subscription

NAMES = {1: ("a", "b", "c"), 2: ("aa", "é"), 8: ("orders-1", "orders-2", "payments")}
NUMBERS = st.sampled_from((0, 1, 2, 8, 0x61000001, 0x61616161, 0x00026161))
"""Some look like a length and a name where they stand behind a count or each other."""


@st.composite
def groups(draw: st.DrawFn) -> tuple[tuple[str, ...], list[bytes]]:
    """Topics, and Subscriptions with these topics alone, as nearly all are, and some odd ones."""
    names = NAMES[draw(st.sampled_from(sorted(NAMES)))]
    name = st.sampled_from(names)
    numbers = st.lists(NUMBERS, unique=True, min_size=1, max_size=3).map(tuple)
    whole = st.builds(
        Subscription,
        topics=st.lists(name, unique=True, max_size=4).map(tuple),
        owned=st.dictionaries(name, numbers, max_size=3),
        user_data=st.just(None) | st.just(b"\0\0\0\7") | sticky_user_data(),
        generation=st.sampled_from((1, 8, -1)),
        rack_id=st.just(draw(st.sampled_from((None, None, "r1")))),
    ).map(encode_subscription)
    other = subscription(topics=("x" * len(names[0].encode()), names[0]))
    odd = st.one_of(whole, mutated(whole), st.sampled_from((other, b"", other[:6])))
    blobs = [*draw(st.lists(whole, min_size=1, max_size=4)), draw(odd)]
    return names, draw(st.permutations(blobs))


def known(names: tuple[str, ...]) -> KnownNames:
    return KnownNames({name.encode(): number for number, name in enumerate(names)})


OWNS = subscription(owned={"a": (1,), "b": (0, 3)}, generation=3)
FEWER_NUMBERS = OWNS.replace(b"b\0\0\0\2", b"b\0\0\0\1")
MORE_TOPICS = OWNS.replace(b"\0\0\0\2\0\1a\0\0", b"\0\0\0\3\0\1a\0\0")
EMPTY = OWNS.replace(b"b\0\0\0\2\0\0\0\0\0\0\0\3", b"b" + bytes(4))
NULL = subscription(topics=("b",)).replace(bytes(4), b"\xff" * 4)
TWICE = subscription(topics=("a", "b")).replace(b"\0\1b", b"\0\1a")
OWNED_TWICE = subscription(owned={"a": (0,), "b": (1,)}).replace(b"\0\1b\0\0\0\1", b"\0\1a\0\0\0\1")


@cases(300)
@given(groups(), st.sampled_from((3, 3, 3, 1)))
@example((NAMES[1], [TWICE, subscription()]), 3)
@example((NAMES[1], [OWNED_TWICE, subscription(topics=("a",))]), 3)
@example((NAMES[1], [subscription(topics=()), subscription(owned={"b": (1, 0x61000000)})]), 3)
@example((NAMES[1], [FEWER_NUMBERS, subscription(topics=("a",))]), 3)
@example((NAMES[1], [MORE_TOPICS, NULL]), 3)
@example((NAMES[1], [EMPTY, subscription(topics=())]), 3)
@example((NAMES[8], [subscription(topics=()), subscription(topics=(), generation=8)]), 3)
def test_members_whose_topics_are_known_are_the_members_read_one_by_one(
    drawn: tuple[tuple[str, ...], list[bytes]], known_count: int
) -> None:
    names, blobs = drawn
    named = {f"m{number}": blob for number, blob in enumerate(blobs)}
    given_names = known(names[:known_count])
    before = dict(given_names.numbers)
    with always_together(), patch.object(topic_lists, "MOSTLY", 0):
        found = read_members(named, names=given_names)
    expected = one_by_one(named)
    assert found == expected
    assert given_names.numbers == before
    for member, alone in zip(found, expected, strict=True):
        assert list(member.owned.items()) == list(alone.owned.items())


@cases(100)
@given(st.data(), st.sampled_from(sorted(NAMES)), st.sampled_from((None, b"\0\0\0\7", b"1")))
def test_plain_members_are_found_at_once(
    data: st.DataObject, length: int, user_data: bytes | None
) -> None:
    names = NAMES[length]
    lists = st.lists(st.sampled_from(names), unique=True, max_size=4).map(tuple)
    owned = st.dictionaries(st.sampled_from(names), st.just((0, 3, 2)), max_size=3)
    drawn = data.draw(st.lists(st.tuples(lists, owned), min_size=2, max_size=6))
    blobs = [
        subscription(topics=topics, owned=share, user_data=user_data, generation=3)
        for topics, share in drawn
    ]
    named = {f"m{number}": blob for number, blob in enumerate(blobs)}
    with (
        always_together(),
        patch.object(topic_lists, "MOSTLY", 0),
        patch.object(subscriptions, "equal_lists", return_value=None),
        patch.object(subscriptions, "different_lists", side_effect=AssertionError),
    ):
        found = read_members(named, names=known(names))
    assert found == one_by_one(named)
