"""Members read together are the members read one by one, whatever their bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st

from assignors.arrays import partition_arrays
from assignors.group_bytes import lock_step, subscriptions
from assignors.group_bytes.in_turn import (
    SharedNames,
    plain_member,
    plain_sticky_user_data,
    topic_headers,
)
from assignors.group_bytes.members import ReadMembers
from assignors.group_bytes.subscriptions import member_from_bytes, members_in_turn, read_members
from assignors.model import Member, member_ids_of
from tests.conftest import cases
from tests.group_bytes.blobs import CAPTURED, groups_of_bytes, mutated, plain
from wire import (
    Subscription,
    decode_sticky_user_data,
    decode_subscription,
    encode_sticky_user_data,
    encode_subscription,
)


@contextmanager
def always_together(alike_min: int = 4) -> Iterator[None]:
    """Read groups of any size together, to the end.

    Topic lists are compared before they are read where, on the average, so many begin alike.
    """
    with (
        patch.object(subscriptions, "MEMBERS_MIN", 1),
        patch.object(lock_step, "STEP_MIN", 0),
        patch.object(subscriptions, "MEMBERS_A_LIST", alike_min),
    ):
        yield


def one_by_one(blobs: Mapping[str, bytes]) -> tuple[Member, ...]:
    return tuple(member_from_bytes(member_id, blob) for member_id, blob in blobs.items())


def subscription(**changed: object) -> bytes:
    return encode_subscription(Subscription(**{"topics": ("a", "b"), **changed}))  # type: ignore[arg-type]


def is_whole(blob: bytes) -> bool:
    """Whether the reader in `wire` reads it as version 1 or newer, all of it."""
    read = decode_subscription(blob).value
    return read is not None and read.version >= 1 and encode_subscription(read) == blob


PLAIN = subscription(owned={"a": (0, 1), "b": (2,)}, generation=4)


GROUPS = groups_of_bytes() | st.lists(plain().filter(is_whole), min_size=1, max_size=5).map(
    lambda blobs: {f"m{number * 3 % 5}": blob for number, blob in enumerate(blobs)}
)
"""With odd bytes, or of plain members alone, who do not come in the order of their ids."""


@given(GROUPS, st.sampled_from((0, 4, 10_000)))
@example({"m0": PLAIN, "m1": PLAIN[:-1]}, 4)
@example({"m0": PLAIN, "m1": PLAIN + b"\0"}, 4)
@example({"m0": PLAIN, "m1": PLAIN[:8]}, 4)
def test_members_read_together_are_the_members_read_one_by_one(
    blobs: dict[str, bytes], alike_min: int
) -> None:
    with always_together(alike_min):
        found = read_members(blobs)
    event(type(found).__name__)
    expected = one_by_one(blobs)
    assert found == expected
    assert member_ids_of(found) == tuple(blobs)
    assert (found[1:], repr(found)) == (expected[1:], repr(expected))
    for member, alone in zip(found, expected, strict=True):
        assert list(member.owned.items()) == list(alone.owned.items())
        assert len(member.owned) == len(alone.owned)


EMPTY = [
    subscription(user_data=b""),
    subscription(owned={"a": (0,)}, rack_id=""),
    subscription(user_data=b"", rack_id=""),
]
"""Noted by the reader in `wire`, and what librdkafka, kafka-python and others write."""
NOTHING_OWNED = PLAIN.replace(b"\0\0\0\2" + bytes(7) + b"\1", b"\0\0\0\0")
ODD = [
    subscription(topics=("a", "x" * 300), owned={"x" * 300: (0,)}),
    PLAIN[:6] + b"\0\1\xff" + PLAIN[9:],
    PLAIN[:12] + b"\0\0\0\1" + PLAIN[16:],
    PLAIN[:-6] + b"\xff\xff\xff\xfb" + PLAIN[-2:],  # generation -5
    PLAIN.replace(b"\0\0\0\2\0\0\0\4", b"\xff\xff\xff\xfe\0\0\0\4"),  # partition -2
    PLAIN.replace(b"\0\1a\0\0\0\2", b"\0\1a\0\x0f\x42\x40"),  # a million numbers
    b"",
    b"\0",
    b"\0\3\x7f\xff\xff\xff",
]
LONG = subscription(owned={"a": tuple(range(40))}, user_data=b"\0\0\0\7", rack_id="r1")


@cases(120)
@given(groups_of_bytes())
@example({"m0": PLAIN, "m1": LONG, "m2": LONG[:-1], "m3": LONG[:-7]})
@example({"m0": PLAIN, "m1": PLAIN + b"\0", "m2": PLAIN[:8], "m3": PLAIN[:16]})
@example({"m0": subscription(topics=("a", "a")), "m1": PLAIN, "m2": subscription(topics=())})
@example({"m0": PLAIN, "m1": PLAIN.replace(b"\0\1b\0", b"\0\1a\0")})
def test_members_read_in_turn_are_the_members_read_one_by_one(blobs: dict[str, bytes]) -> None:
    found, expected = members_in_turn(blobs, {"m1": "static"}), one_by_one(blobs)
    assert found == tuple(
        replace(member, instance_id="static") if member.member_id == "m1" else member
        for member in expected
    )
    for member, alone in zip(found, expected, strict=True):
        assert list(member.owned.items()) == list(alone.owned.items())
    again = {name: decode_subscription(blob) for name, blob in blobs.items()}
    assert members_in_turn(again, {}) == expected


@given(st.lists(st.sampled_from((PLAIN, LONG)).flatmap(lambda whole: mutated(st.just(whole)))))
def test_one_byte_that_is_odd_is_read_alike_in_turn(blobs: list[bytes]) -> None:
    named = {f"m{number}": blob for number, blob in enumerate((PLAIN, *blobs))}
    assert members_in_turn(named, {}) == one_by_one(named)


@pytest.mark.parametrize("odd", [*ODD, *EMPTY, NOTHING_OWNED])
def test_an_odd_member_is_read_in_turn_as_alone(odd: bytes) -> None:
    blobs = {"m0": PLAIN, "m1": odd, "m2": PLAIN}
    assert members_in_turn(blobs, {}) == one_by_one(blobs)


def test_a_topic_list_that_is_cut_is_not_taken_for_that_of_the_next_member() -> None:
    shared = SharedNames()
    for end in range(12):
        assert plain_member("m", PLAIN[:end], shared, None) is None
        assert not shared.section


LAYOUT = encode_sticky_user_data({"a": (0, 1), "b": tuple(range(40))}, 4)


@given(mutated(st.just(LAYOUT)) | mutated(st.just(encode_sticky_user_data({}, -1))))
@example(LAYOUT)
@example(LAYOUT[:-4])
@example(LAYOUT + b"\0")
@example(LAYOUT.replace(b"\0\1b", b"\0\1a"))
def test_sticky_user_data_that_is_plain_is_what_the_other_reader_reads(data: bytes) -> None:
    plain = plain_sticky_user_data(data, topic_headers(["a", "b"]))
    read = decode_sticky_user_data(data)
    assert plain is None or (not read.notes and plain == (read.value.owned, read.value.generation))  # type: ignore[union-attr]
    assert plain is not None or data != LAYOUT


@pytest.mark.parametrize("blob", [PLAIN, LONG, subscription(version=1), subscription(version=2)])
def test_plain_bytes_are_read_in_turn_without_the_other_reader(blob: bytes) -> None:
    assert plain_member("m", blob, SharedNames(), None) == member_from_bytes("m", blob)


def test_every_captured_subscription_in_one_group() -> None:
    blobs = {f"m{number}": blob for number, blob in enumerate(CAPTURED)}
    found = read_members(blobs, {"m3": "static"})
    assert [member.instance_id for member in found[:5]] == [None, None, None, "static", None]
    assert [member.owned for member in found] == [member.owned for member in one_by_one(blobs)]


def test_every_captured_subscription_that_is_plain_is_read_together() -> None:
    blobs = {f"m{number}": blob for number, blob in enumerate(CAPTURED) if is_whole(blob)}
    assert len(blobs) > len(CAPTURED) / 3
    with always_together():
        found = read_members(blobs)
    assert isinstance(found, ReadMembers)
    assert found == one_by_one(blobs)


@pytest.mark.parametrize("empty", EMPTY)
def test_members_with_empty_fields_are_read_together_and_noted(empty: bytes) -> None:
    found = read_members({f"m{number:02}": empty for number in range(60)})
    assert isinstance(found, ReadMembers)
    assert found == one_by_one(dict.fromkeys(found.member_ids, empty))
    assert all(member.notes for member in found)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_member_among_others_is_read_as_alone_and_so_are_they(odd: bytes) -> None:
    blobs = {f"m{number:02}": PLAIN for number in range(60)} | {"m20": odd}
    found = read_members(blobs)
    assert not isinstance(found, ReadMembers)
    assert found == one_by_one(blobs)


ALIKE = st.builds(
    lambda topics, sizes, version: subscription(
        topics=tuple(f"orders-{topic:04}" for topic in range(7)),
        owned={f"orders-{topic:04}": tuple(range(sizes)) for topic in topics},
        version=version,
        generation=4,
    ),
    st.lists(st.integers(0, 7), unique=True, max_size=5),
    st.sampled_from((1, 1, 1, 2)),
    st.sampled_from((3, 3, 2, 1)),
)
"""Claims of numbered topics, of one or two partitions each: those of most large groups."""


@cases(150)
@given(st.lists(ALIKE, max_size=5), st.lists(mutated(ALIKE), max_size=2))
def test_claims_of_numbered_topics_are_those_read_one_by_one(
    blobs: list[bytes], others: list[bytes]
) -> None:
    named = {f"m{number}": blob for number, blob in enumerate((*blobs, *others))}
    with always_together():
        found = read_members(named)
    expected = one_by_one(named)
    assert found == expected
    for member, alone in zip(found, expected, strict=True):
        assert list(member.owned.items()) == list(alone.owned.items())


SAME = subscription(owned={"a": (1,), "b": (1,)}, user_data=b"\0\0\0\7", generation=4)


@pytest.mark.parametrize(
    ("field", "instead"),
    [
        (b"\0\0\0\4\0\0\0\7", b"\0\0\0\3\0\0\0\7"),  # length of UserData
        (b"\0\0\0\4\0\0\0\7", b"\xff\xff\xff\xff\0\0\0\0"),  # none, and no topics
        (b"\0\0\0\2\0\1a\0\0", b"\0\0\0\1\0\1a\0\0"),  # number of topics
        (b"\0\0\0\2\0\1a\0\0", b"\0\0\0\2\0\2a\0\0"),  # length of a name
        (b"a\0\0\0\1\0\0\0\1", b"a\0\0\0\2\0\0\0\1"),  # numbers of a topic
        (b"a\0\0\0\1\0\0\0\1", b"a\0\0\0\1\xff\0\0\1"),  # a number
        (b"\1a\0\0\0\1", b"\1b\0\0\0\1"),  # a topic twice
        (b"\1a\0\0\0\1", b"\1x\0\0\0\1"),  # a topic of nobody
        (b"\0\0\0\4\xff\xff", b"\xff\xff\xff\xf0\xff\xff"),  # generation
        (b"\0\0\0\4\xff\xff", b"\0\0\0\4\0\0"),  # length of the rack
    ],
)
@pytest.mark.parametrize("place", [0, 20])
def test_one_odd_field_among_equal_layouts_is_noticed(
    field: bytes, instead: bytes, place: int
) -> None:
    assert SAME.count(field) == 1
    blobs = {f"m{number:02}": SAME for number in range(60)}
    blobs[f"m{place:02}"] = SAME.replace(field, instead)
    found = read_members(blobs)
    assert found == one_by_one(blobs)


def test_entries_beyond_the_bytes_are_not_read() -> None:
    """All say that they have 300 entries as long as their first one, and end after it."""
    long = subscription(owned={"x" * 3000: (0,)}, generation=4)
    hostile = long.replace(b"\0\0\0\1\x0b\xb8", b"\0\0\1\x2c\x0b\xb8")
    assert hostile != long
    blobs = {f"m{number:02}": hostile for number in range(60)}
    assert read_members(blobs) == one_by_one(blobs)


@given(GROUPS)
def test_partitions_read_together_are_the_same_arrays_in_the_same_order(
    blobs: dict[str, bytes],
) -> None:
    with always_together():
        found = read_members(blobs)
    if not isinstance(found, ReadMembers):
        return
    for names in (["orders", "b", "a"], list(found.arrays.owned.names)):
        index = {name: number for number, name in enumerate(names)}
        given = found.arrays.owned.by_topic(index)
        expected = partition_arrays([member.owned for member in found.in_id_order()], index)
        assert given.is_complete == expected.is_complete
        for name in ("member_of", "topic_of", "number"):
            assert getattr(given, name).tolist() == getattr(expected, name).tolist()


def test_a_topic_owned_twice_is_noted_and_merged() -> None:
    twice = PLAIN.replace(b"\0\1b\0\0\0\1\0\0\0\2", b"\0\1a\0\0\0\1\0\0\0\2")
    assert twice != PLAIN
    blobs = {f"m{number:02}": PLAIN for number in range(60)} | {"m20": twice}
    found = read_members(blobs)[20]
    assert found.owned == {"a": (0, 1, 2)}
    assert [note.code.value for note in found.notes] == ["topic-repeated"]


def test_a_group_in_which_one_member_has_nearly_all_is_read_in_turn() -> None:
    """Steps that read one message each would take longer."""
    names = tuple(f"t{number}" for number in range(500))
    long = subscription(topics=names, owned=dict.fromkeys(names, (0,)))
    blobs = {f"m{number:02}": PLAIN for number in range(60)} | {"m20": long}
    found = read_members(blobs)
    assert not isinstance(found, ReadMembers)
    assert found == one_by_one(blobs)


@pytest.mark.parametrize("name", ["orders-{:02}", "{:02}", "{0:02}{1}"])
def test_many_lists_that_differ_are_read_together(name: str) -> None:
    names = [name.format(number, "x" * number) for number in range(60)]
    blobs = {
        f"m{number:03}": subscription(
            topics=tuple(names[number % 30 : number % 30 + number % 7]),
            owned={names[number % 40]: (number,)},
            version=1 + number % 3,
        )
        for number in range(200)
    }
    found = read_members(blobs)
    assert isinstance(found, ReadMembers)
    assert found == one_by_one(blobs)


def test_odd_lists_are_read_as_alone_beside_others() -> None:
    names = [f"a-name-of-more-than-thirty-two-bytes-{number}" for number in range(9)]
    lists = [("a", "a"), ("a", ""), ("x" * 300,), ("x" * 300, "a"), (names[0], *names[1:2])]
    odd = [subscription(topics=tuple(listed)) for listed in lists]
    cut = [PLAIN[:size] for size in range(16)]
    unreadable = [PLAIN.replace(b"\0\1a\0\1b", b"\0\1a\0\1\xff"), PLAIN.replace(b"\0\1b", b"\0\2b")]
    longer = [subscription(topics=(names[0], name)) for name in names[1:]]
    huge = [PLAIN[:2] + count + PLAIN[6:] for count in (b"\0\x0f\x42\x41", b"\xff\xff\xff\xff")]
    every = [*odd, *cut, *unreadable, *longer, *huge, PLAIN]
    blobs = {f"m{number}": blob for number, blob in enumerate(every)}
    for alike_min in (0, 4, 10_000):
        with always_together(alike_min):
            assert read_members(blobs) == one_by_one(blobs)
            for name, blob in blobs.items():
                one = {name: blob, "plain": PLAIN}
                assert read_members(one) == one_by_one(one)
