"""UserData of the sticky assignors as hexadecimal digits: right, old, cut, and nonsense."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from struct import pack
from typing import Any

OddPair = Sequence[Any]


def sticky_user_data(dice: Random, owned: Sequence[OddPair], generation: int) -> str | None:
    """What a member says under `sticky`: mostly as Java writes it, at times as others do."""
    written = sticky_layout(owned)
    stamped = written + pack(">i", generation)
    usual = stamped if owned or dice.random() < 0.3 else None
    ways: tuple[tuple[int, bytes | None], ...] = (
        (75, usual),
        (7, written),  # version 0: no generation
        (4, written + pack(">i", dice.choice((-1, -7, 2**31 - 1)))),
        (4, stamped + b"\x00\x00\x07"),
        (3, stamped[: dice.randint(0, len(stamped))]),
        (2, b"\x00\x01" + stamped),  # kafka-python's int16 in front
        (1, None),
        (1, b""),
        (3, dice.randbytes(dice.randint(1, 12))),
    )
    (blob,) = dice.choices([blob for _, blob in ways], [weight for weight, _ in ways])
    return None if blob is None else blob.hex()


def cooperative_user_data(dice: Random, generation: int) -> str | None:
    """What a member says under `cooperative-sticky`: four bytes, unless it says something else."""
    stamped = pack(">i", generation)
    luck = dice.random()
    if luck < 0.8:
        return stamped.hex()
    if luck < 0.9:
        return None
    if luck < 0.95:
        return stamped[: dice.randint(0, 3)].hex()
    return (stamped + dice.randbytes(3)).hex()


def sticky_layout(owned: Sequence[OddPair]) -> bytes:
    """Topics with their partitions, in the order given; pairs of a topic stand together."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in owned:
        by_topic.setdefault(topic, []).append(number)
    blob = pack(">i", len(by_topic))
    for topic, numbers in by_topic.items():
        name = topic.encode()
        blob += pack(">h", len(name)) + name
        blob += pack(f">i{len(numbers)}i", len(numbers), *numbers)
    return blob
