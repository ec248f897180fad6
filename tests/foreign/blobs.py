"""Random bytes of the consumer protocol: right, cut, changed, spliced, and plain noise.

Bytes are written here and not by `wire`: a decoder is not judged by what its own encoder thinks
of. Sizes stay under a kilobyte: Kafka's decoder takes a minute for thousands of groups of one
topic.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from struct import pack
from typing import Any

from tests.foreign.names import COLLIDING, ODD

Request = dict[str, Any]

TOPICS = (*ODD, *COLLIDING, "t", "orders", "t-1")
INTS = (0, 1, 2, 3, 5, 255, 256, 65_535, 1_000_000, 1_000_001, -1, -2, -(2**31), 2**31 - 1)
VERSIONS = (*range(4), *range(4), 3, 3, 4, 5, 255, 32_767, -1, -(2**15))
BROKEN_UTF8 = (
    *(b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0", b"\xc0\x80", b"\xe0\x80\x80", b"\xf5"),
    *(b"\xf4\x90\x80\x80", b"\xf0\x9d\x84", b"\x80", b"\xff\xfe", b"\xe2\x82"),
)

CODECS = (
    *("codec-sub", "codec-sub", "codec-sub", "codec-asg", "codec-asg", "codec-mdsticky"),
    *("codec-mdcoop", "codec-mksub", "codec-mkasg", "codec-stickyud", "codec-coopud"),
)
"""Subscriptions are the richest: they come most often."""


def random_request(dice: Random) -> Request:
    """A request to decode or to encode something."""
    algorithm = dice.choice(CODECS)
    return {"algo": algorithm, **MAKERS[algorithm](dice)}


def random_bytes(dice: Random, write: Callable[[Random], bytes]) -> bytes:
    """What `write` writes, or what a bad day makes of it."""
    blob = write(dice)
    luck = dice.random()
    if luck < 0.35:
        return blob
    if luck < 0.50:
        return blob[: dice.randint(0, len(blob))]
    if luck < 0.75:
        return _changed(dice, blob)
    if luck < 0.85:
        other = write(dice)
        return blob[: dice.randint(0, len(blob))] + other[dice.randint(0, len(other)) :]
    if luck < 0.93:
        return blob + dice.randbytes(dice.randint(1, 9))
    return dice.randbytes(dice.choice((0, 1, 2, 3, 4, 8, 20, 60)))


def _changed(dice: Random, blob: bytes) -> bytes:
    """The bytes with one to three of them, or a whole number, overwritten."""
    changed = bytearray(blob)
    for _ in range(dice.randint(1, 3)):
        position = dice.randrange(len(changed)) if changed else 0
        patch = pack(">i", dice.choice(INTS)) if dice.random() < 0.4 else dice.randbytes(1)
        changed[position : position + len(patch)] = patch
    return bytes(changed)


def subscription(dice: Random) -> bytes:
    """A Subscription, its strings and counts right."""
    version = dice.choice(VERSIONS)
    topics = [name(dice) for _ in range(dice.choice((0, 1, 1, 2, 3, 6)))]
    blob = pack(">h", version) + pack(">i", len(topics)) + b"".join(map(text, topics))
    blob += sized(user_data(dice))
    if version == 0 and dice.random() < 0.8:
        return blob
    blob += partitions(dice)
    if version == 1 and dice.random() < 0.8:
        return blob
    blob += pack(">i", dice.choice(INTS))
    if version == 2 and dice.random() < 0.8:
        return blob
    rack = dice.choice((None, b"", b"r1", name(dice)))
    return blob + (pack(">h", dice.choice((-1, -9))) if rack is None else text(rack))


def assignment(dice: Random) -> bytes:
    """An Assignment."""
    return pack(">h", dice.choice(VERSIONS)) + partitions(dice) + sized(user_data(dice))


def partitions(dice: Random) -> bytes:
    """Topics with partition numbers; at times a topic twice, or without numbers."""
    known = [name(dice) for _ in range(dice.choice((0, 1, 1, 2, 3, 5)))]
    if known and dice.random() < 0.15:
        known += dice.choices(known, k=dice.randint(1, 3))
    blob = pack(">i", len(known))
    for topic in known:
        numbers = [_number(dice) for _ in range(dice.choice((0, 1, 1, 2, 3, 8)))]
        blob += text(topic) + pack(f">i{len(numbers)}i", len(numbers), *numbers)
    return blob


def name(dice: Random) -> bytes:
    """A topic's name as bytes, not always UTF-8."""
    spelled = dice.choice(TOPICS).encode()
    if dice.random() < 0.05:
        spelled = spelled[:20] + dice.choice(BROKEN_UTF8) + dice.choice((b"", b"x", b"\x80"))
    return spelled


def user_data(dice: Random) -> bytes | None:
    """Any bytes: the protocol does not look into them."""
    return dice.choice((None, None, b"", dice.randbytes(4), dice.randbytes(12)))


def text(spelled: bytes) -> bytes:
    """A string with its length in front."""
    return pack(">h", len(spelled)) + spelled


def sized(blob: bytes | None) -> bytes:
    """Bytes with their length in front, or one of the lengths that mean null."""
    return pack(">i", -1) if blob is None else pack(">i", len(blob)) + blob


def sticky(dice: Random) -> bytes:
    """UserData of the eager sticky assignor, with or without generation."""
    return partitions(dice) + (pack(">i", dice.choice(INTS)) if dice.random() < 0.8 else b"")


def _number(dice: Random) -> int:
    return dice.choice(INTS) if dice.random() < 0.1 else dice.randint(0, 9)


def _pairs(dice: Random) -> list[list[Any]]:
    """Pairs, those of a topic together half of the time."""
    topics = dice.choices(TOPICS, k=dice.randint(1, 5))
    count = dice.choice((0, 1, 3, 8, 20))
    pairs = [[dice.choice(topics), _number(dice)] for _ in range(count)]
    return sorted(pairs, key=lambda pair: topics.index(pair[0])) if dice.random() < 0.5 else pairs


def _digits(blob: bytes | None) -> str | None:
    return None if blob is None else blob.hex()


def _member_data(dice: Random, write: Callable[[Random], bytes]) -> Request:
    blob = None if dice.random() < 0.05 else random_bytes(dice, write)
    return {"ud": _digits(blob), "owned": _pairs(dice), "gen": dice.choice((-1, -1, 0, 7, -5))}


MAKERS: dict[str, Callable[[Random], Request]] = {
    "codec-sub": lambda dice: {"hex": random_bytes(dice, subscription).hex()},
    "codec-asg": lambda dice: {"hex": random_bytes(dice, assignment).hex()},
    "codec-mdsticky": lambda dice: _member_data(dice, sticky),
    "codec-mdcoop": lambda dice: _member_data(dice, lambda dice: pack(">i", dice.choice(INTS))),
    "codec-mksub": lambda dice: {
        "topics": dice.choices(TOPICS, k=dice.choice((0, 1, 2, 5))),
        "owned": _pairs(dice),
        "gen": dice.choice((None, *INTS)),
        "rack": dice.choice((None, "", *TOPICS)),
        "ud": _digits(user_data(dice)),
    },
    "codec-mkasg": lambda dice: {"owned": _pairs(dice), "ud": _digits(user_data(dice))},
    "codec-stickyud": lambda dice: {"owned": _pairs(dice), "gen": dice.choice(INTS)},
    "codec-coopud": lambda dice: {"gen": dice.choice((None, *INTS))},
}
"""What stands beside `algo`."""
