"""The fast readers say what the tolerant codecs say, whatever the bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.foreign.blobs import assignment, random_bytes, subscription
from tests.wire.vectors import captured
from wire import Decoded, decode_assignment, decode_subscription, plain
from wire.plain import read_assignment, read_subscription, read_subscriptions

Decoder = Callable[[bytes], Decoded[Any]]

PAIRS: dict[str, tuple[Decoder, Decoder, Callable[[Random], bytes]]] = {
    "subscription": (read_subscription, decode_subscription, subscription),
    "assignment": (read_assignment, decode_assignment, assignment),
}
every_kind = pytest.mark.parametrize("kind", PAIRS)


def agree(kind: str, blob: bytes) -> None:
    fast, careful, _ = PAIRS[kind]
    ours, theirs = fast(blob), careful(blob)
    assert ours.value == theirs.value
    assert ours.notes == theirs.notes
    assert str(ours.error) == str(theirs.error)


def laid_out(kind: str, value: Any) -> list[Any]:
    """The order of topics, which equal dicts do not tell."""
    return list(value.owned if kind == "subscription" else value.partitions)


@every_kind
@given(dice=st.randoms(use_true_random=False))
def test_any_bytes_are_read_alike(kind: str, dice: Random) -> None:
    agree(kind, random_bytes(dice, PAIRS[kind][2]))


@given(dice=st.randoms(use_true_random=False))
def test_members_of_one_group_are_read_as_each_alone(dice: Random) -> None:
    blobs = [random_bytes(dice, subscription) for _ in range(4)]
    # A member that asks for the same topics, one whose bytes end behind them, one version younger.
    end = dice.choice((2, 6, 10, len(blobs[0])))
    blobs += [blobs[0], blobs[0][:end], b"\0\1" + blobs[0][2:], blobs[0][:end] + blobs[1][end:]]
    group = dice.choices(blobs, k=6)
    for blob, ours in zip(group, read_subscriptions(group), strict=True):
        theirs = decode_subscription(blob)
        assert (ours.value, ours.notes) == (theirs.value, theirs.notes)
        assert str(ours.error) == str(theirs.error)


@every_kind
@given(blob=st.binary(max_size=40))
@example(blob=b"")
@example(blob=b"\0")
@example(blob=b"\0\0\0\0\0\1\x80\0")
def test_noise_is_read_alike(kind: str, blob: bytes) -> None:
    agree(kind, blob)


@every_kind
def test_what_clients_wrote_is_read_alike_cut_at_every_byte_and_continued(kind: str) -> None:
    for case in captured(kind):
        blob = bytes.fromhex(case["hex"])
        for end in range(len(blob)) if len(blob) < 200 else (7, len(blob) // 2):
            agree(kind, blob[:end])
        agree(kind, blob)
        agree(kind, blob + b"\0")
        ours, theirs = PAIRS[kind][0](blob), PAIRS[kind][1](blob)
        if ours.value is not None:
            assert laid_out(kind, ours.value) == laid_out(kind, theirs.value)


def topics(*names: str) -> bytes:
    encoded = [name.encode() for name in names]
    return b"".join(struct.pack(">h", len(name)) + name for name in encoded)


def test_lengths_that_look_negative_are_never_stepped_over() -> None:
    # A length of 0x8001 read without its sign would end exactly where the bytes end.
    long = b"x" * 0x8001
    agree("subscription", b"\0\0\0\0\0\1\x80\1" + long + b"\xff\xff\xff\xff")
    groups = b"\0\0\0\1\x80\1" + long + b"\0\0\0\1\0\0\0\7"
    agree("assignment", b"\0\0" + groups + b"\xff\xff\xff\xff")
    none = b"\xff\xff\xff\xff"
    agree("subscription", b"\0\3" + b"\0\0\0\0" + none + b"\0\0\0\0" + none + b"\x80\1" + long)
    agree("subscription", b"\0\3" + b"\0\0\0\0" + none + groups + none + b"\xff\xff")


def test_a_version_is_two_bytes() -> None:
    for version in (b"\0\3", b"\1\3", b"\1\0", b"\0\4", b"\xff\3"):
        rest = bytes(4) + b"\xff\xff\xff\xff"
        agree("assignment", version + rest)
        agree("subscription", version + rest)
        agree("subscription", version + rest + bytes(4) + b"\xff" * 6)


def test_topics_that_are_cut_are_not_taken_for_the_next_members() -> None:
    whole = b"\0\0\0\0\0\1" + topics("orders") + b"\xff\xff\xff\xff"
    for end in range(len(whole)):
        cut, read = read_subscriptions([whole[:end], whole])
        assert cut.notes or cut.error
        assert read == decode_subscription(whole)
    # The rest of a name that looks like the field behind it.
    mean = b"\0\0\0\0\0\1\0\6ab\xff\xff\xff\xff"
    _, read = read_subscriptions([mean[:10], mean])
    assert read == decode_subscription(mean)


def test_counts_above_kafkas_limit_are_left_to_the_codecs() -> None:
    many = 1_000_001
    agree("subscription", b"\0\0" + struct.pack(">i", many) + bytes(2 * many) + b"\xff\xff\xff\xff")
    agree("assignment", b"\0\0" + struct.pack(">i", many) + bytes(6 * many) + b"\xff\xff\xff\xff")
    numbers = b"\0\0\0\1" + topics("t") + struct.pack(">i", many) + bytes(4 * many)
    agree("assignment", b"\0\0" + numbers + b"\xff\xff\xff\xff")


@every_kind
def test_most_of_what_clients_wrote_takes_the_short_way(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bytes] = []
    monkeypatch.setattr(plain, f"decode_{kind}", taken.append)
    cases = captured(kind)
    for case in cases:
        PAIRS[kind][0](bytes.fromhex(case["hex"]))
    assert len(taken) < len(cases) / 2
