"""Inputs for codecs: what is written, what is read, and what is broken on purpose.

Random ones come from dice, so a seed gives the same ones on every machine. The broken ones are
systematic: one whole Subscription and one whole Assignment, cut at every byte, and with every
number in them replaced by those that readers get wrong.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random
from typing import Any

from wire import Subscription, encode_assignment, encode_subscription

Input = dict[str, Any]

NAMES = ("a", "b", "zz", "t-1", "orders", "é", "ﬀ.x", "𝄞", "\ue000z")
"""Names whose order differs between UTF-16 and code points, and between hash and both."""

COUNTS = (-(2**31), -2, -1, 3, 20, 1_000, 1_000_001, 2**31 - 1)
LENGTHS = (-(2**15), -2, -1, 5, 200, 2**15 - 1)
VERSIONS = (-(2**15), -2, -1, 0, 1, 2, 3, 4, 99, 2**15 - 1)
GENERATIONS = (0, 7, -7, 2**31 - 1, -(2**31))
BROKEN_TEXT = (
    *(b"a\xff", b"\xfe\xff", b"\x80", b"\x80\x80\x80", b"a\xbfb"),  # never a first byte
    *(b"\xc3", b"\xc3(", b"\xe2\x82", b"\xe2\x82z", b"\xe2(\xa1", b"\xf0\x9d\x84"),  # cut short
    *(b"\xf0\x9d\x84z", b"\xf0\x9d(\x9e", b"\xf0(\x8c\xbc", b"\xc3\xc3\xa9"),
    *(b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\xaf", b"\xe0\x9f\xbf", b"\xf0\x80\x80\xaf"),  # too long
    *(b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\xb4\xed\xb4\x9e"),  # surrogates
    *(b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80", b"\xf8\x88\x80\x80\x80"),  # above U+10FFFF
)


def pairs(dice: Random) -> list[list[Any]]:
    """Some partitions, topics interleaved, now and then one twice."""
    return [[dice.choice(NAMES), dice.randrange(10)] for _ in range(dice.choice((0, 1, 3, 8, 14)))]


def user_data(dice: Random) -> str | None:
    """UserData that no reader looks into."""
    return dice.choice((None, "", "00ff", "0102", dice.randbytes(dice.randrange(12)).hex()))


def generation(dice: Random) -> int:
    """A generation, the odd ones included."""
    return dice.choice((-1, 0, 1, 5, 9, 2**31 - 1, dice.randrange(2**31)))


def written(dice: Random, algorithm: str) -> Input:
    """Fields to be written."""
    if algorithm == "codec-coopud":
        return {"algo": algorithm, "gen": dice.choice((None, generation(dice)))}
    if algorithm == "codec-stickyud":
        return {"algo": algorithm, "owned": pairs(dice), "gen": generation(dice)}
    fields: Input = {"algo": algorithm, "owned": pairs(dice), "ud": user_data(dice)}
    if algorithm == "codec-mksub":
        fields["topics"] = [dice.choice(NAMES) for _ in range(dice.randrange(5))]
        fields["gen"] = dice.choice((None, generation(dice)))
        fields["rack"] = dice.choice((None, None, "r1", "é"))
    return fields


def member(dice: Random) -> Input:
    """A member's data, as the leader of a sticky assignor gets it."""
    algorithm = dice.choice(("codec-mdsticky", "codec-mdcoop"))
    layout = sticky_layout(dice)
    odd = (None, "", "00000005", "ffffffff", "0005", layout[: dice.randrange(len(layout))].hex())
    claimed = [list(pair) for pair in dict.fromkeys(map(tuple, pairs(dice)))]
    return {
        "algo": algorithm,
        "ud": dice.choice((*odd, layout.hex(), layout.hex(), (layout + b"\0\0").hex())),
        "owned": claimed,
        "gen": dice.choice((-1, -1, 0, 5)),
    }


def sticky_layout(dice: Random) -> bytes:
    """Sticky UserData, with a generation or without."""
    body = encode_assignment(grouped(pairs(dice)), version=0)[2:-4]
    return body + (struct.pack(">i", generation(dice)) if dice.random() < 0.7 else b"")


def received(dice: Random) -> Input:
    """Random bytes: whole, cut short, or with a byte or two changed."""
    is_subscription = dice.random() < 0.6
    version = dice.randrange(4)
    if is_subscription:
        fields = written(dice, "codec-mksub")
        blob = encode_subscription(
            Subscription(
                version=version,
                topics=tuple(fields["topics"]),
                user_data=None if fields["ud"] is None else bytes.fromhex(fields["ud"]),
                owned=grouped(fields["owned"]),
                generation=-1 if fields["gen"] is None else fields["gen"],
                rack_id=fields["rack"],
            )
        )
    else:
        blob = encode_assignment(grouped(pairs(dice)), version=version, user_data=b"\1\2")
    luck = dice.random()
    if luck < 0.3:
        blob = blob[: dice.randrange(len(blob))]
    elif luck < 0.6:
        broken = bytearray(blob)
        for _ in range(dice.randrange(1, 3)):
            broken[dice.randrange(len(broken))] = dice.choice((0, 1, 0x7F, 0x80, 0xFF))
        blob = bytes(broken)
    elif luck < 0.7:
        blob += dice.randbytes(3)
    return {"algo": "codec-sub" if is_subscription else "codec-asg", "hex": blob.hex()}


def grouped(listed: list[list[Any]]) -> dict[str, tuple[int, ...]]:
    """Partitions by topic."""
    found: dict[str, tuple[int, ...]] = {}
    for topic, number in listed:
        found[topic] = (*found.get(topic, ()), number)
    return found


SUBSCRIPTION = encode_subscription(
    Subscription(
        topics=("a", "bc"), user_data=b"\1\2", owned={"a": (0, 1)}, generation=7, rack_id="r"
    )
)
ASSIGNMENT = encode_assignment({"a": (0, 1), "bc": (2,)}, user_data=b"\1\2")

SUBSCRIPTION_COUNTS = {"topics": 2, "user data": 13, "owned": 19, "partitions": 26}
SUBSCRIPTION_LENGTHS = {"topic": 6, "owned topic": 23, "rack": 42}
ASSIGNMENT_COUNTS = {"topics": 2, "partitions": 9, "user data": 33}
ASSIGNMENT_LENGTHS = {"topic": 6}
SUBSCRIPTION_GENERATION = 38


def edges() -> Iterator[tuple[Input, str]]:
    """Every systematic way to break a message, with a note that says which."""
    messages = (
        ("codec-sub", SUBSCRIPTION, SUBSCRIPTION_COUNTS, SUBSCRIPTION_LENGTHS),
        ("codec-asg", ASSIGNMENT, ASSIGNMENT_COUNTS, ASSIGNMENT_LENGTHS),
    )
    for algorithm, blob, counts, lengths in messages:
        for name, changed in _broken(blob, counts, lengths):
            yield {"algo": algorithm, "hex": changed.hex()}, name
    for algorithm, name, blob in _odd():
        yield {"algo": algorithm, "hex": blob.hex()}, name
    for number in GENERATIONS:
        changed = _replaced(SUBSCRIPTION, SUBSCRIPTION_GENERATION, ">i", number)
        yield {"algo": "codec-sub", "hex": changed.hex()}, f"generation {number}"
    for version in range(4):
        whole = encode_subscription(
            Subscription(version=version, topics=("a",), owned={"a": (0,)}, generation=7)
        )
        yield {"algo": "codec-sub", "hex": whole.hex()}, f"version {version}, whole"
        stamped = _replaced(whole[:9], 0, ">h", version) + b"\xff\xff\xff\xff"
        yield {"algo": "codec-sub", "hex": stamped.hex()}, f"version {version}, fields of 0"


def broken_text() -> Iterator[tuple[Input, str]]:
    """Names that are no UTF-8, everywhere a message has a name."""
    for name in BROKEN_TEXT:
        head = struct.pack(">hih", 0, 1, len(name)) + name
        yield {"algo": "codec-sub", "hex": (head + b"\xff" * 4).hex()}, f"topic 0x{name.hex()}"
    name = BROKEN_TEXT[0]
    for place, offset in SUBSCRIPTION_LENGTHS.items():
        yield {"algo": "codec-sub", "hex": _named(SUBSCRIPTION, offset, name)}, f"{place}: no UTF-8"
    for place, offset in ASSIGNMENT_LENGTHS.items():
        yield {"algo": "codec-asg", "hex": _named(ASSIGNMENT, offset, name)}, f"{place}: no UTF-8"


def _odd() -> Iterator[tuple[str, str, bytes]]:
    """Whole messages that nobody ought to write."""
    subscriptions = {
        "no topics": Subscription(topics=()),
        "an empty topic name": Subscription(topics=("",), owned={"": (0,)}),
        "a topic twice": Subscription(topics=("a", "b", "a")),
        "an empty rack": Subscription(topics=("a",), rack_id=""),
        "a rack of other letters": Subscription(topics=("a",), rack_id="é𝄞"),
        "negative and unheard-of partitions": Subscription(
            topics=("a",), owned={"a": (-1, 2**31 - 1)}
        ),
        "a partition twice": Subscription(topics=("a",), owned={"a": (1, 1)}),
        "a topic that is not asked for": Subscription(topics=("a",), owned={"z": (0,)}),
    }
    for note, subscription in subscriptions.items():
        yield "codec-sub", note, encode_subscription(subscription)
    body = encode_assignment({"a": (0,)})[6:-4]
    other = encode_assignment({"b": (1,)})[6:-4]
    thrice = struct.pack(">i", 3) + body + other + body
    nothing = b"\0\0\0\2" + body[:3] + b"\0\0\0\0" + other
    for note, groups in (("a topic's group twice", thrice), ("an empty group", nothing)):
        head = SUBSCRIPTION[:19]
        yield "codec-sub", note, head + groups + SUBSCRIPTION[SUBSCRIPTION_GENERATION:]
        yield "codec-asg", note, ASSIGNMENT[:2] + groups + b"\xff" * 4
    yield "codec-asg", "a negative partition", encode_assignment({"a": (-1, 0)}, keep_order=True)
    yield "codec-asg", "nothing", encode_assignment({})
    version_0 = encode_subscription(Subscription(version=0, topics=("a",)))
    yield "codec-sub", "version 0, bytes after the end", version_0 + b"\0\1\2"


def _broken(
    blob: bytes, counts: dict[str, int], lengths: dict[str, int]
) -> Iterator[tuple[str, bytes]]:
    for size in range(len(blob)):
        yield f"cut at {size} of {len(blob)}", blob[:size]
    yield "three bytes after the end", blob + b"\0\1\2"
    for version in VERSIONS:
        yield f"version {version}", _replaced(blob, 0, ">h", version)
    for name, offset in counts.items():
        for number in COUNTS:
            yield f"{name}: count {number}", _replaced(blob, offset, ">i", number)
    for name, offset in lengths.items():
        for number in LENGTHS:
            yield f"{name}: length {number}", _replaced(blob, offset, ">h", number)


def _replaced(blob: bytes, offset: int, layout: str, number: int) -> bytes:
    changed = bytearray(blob)
    struct.pack_into(layout, changed, offset, number)
    return bytes(changed)


def _named(blob: bytes, offset: int, name: bytes) -> str:
    """The message with another name at the length that stands at `offset`."""
    (length,) = struct.unpack_from(">h", blob, offset)
    return (blob[:offset] + struct.pack(">h", len(name)) + name + blob[offset + 2 + length :]).hex()
