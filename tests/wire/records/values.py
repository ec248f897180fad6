"""Any value that a table allows, and the bytes that something may have done to it.

The dice are a `Random`: a seeded one where millions are wanted, Hypothesis' own where a failure
is to be made small.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from random import Random
from typing import Any

from wire.layout import (
    BYTES,
    INTEGERS,
    STRING,
    UINT16,
    UNKNOWN_TAGS,
    UUID,
    ArrayOf,
    Field,
    Kind,
    Struct,
    in_line,
    tagged,
)
from wire.records import RECORD_TYPES, RecordType

VERSIONS: list[tuple[RecordType, int]] = [
    (found, version) for found in RECORD_TYPES for version in found.value.versions
]
"""Every type with each of its versions."""

WIDTHS = {Kind.INT8: 8, Kind.INT16: 16, Kind.UINT16: 16, Kind.INT32: 32, Kind.INT64: 64}

STRINGS = ("", "g", "orders", "名前", "𝄞x", "\ue000", "a" * 127, "b" * 128, "\0", "é" * 300)


def random_key(dice: Random, found: RecordType) -> dict[str, Any]:
    """Any key of a type."""
    return random_struct(dice, found.key.fields, 0, is_flexible=False, with_unknown=False)


def random_value(
    dice: Random, found: RecordType, version: int, *, with_unknown: bool = True
) -> dict[str, Any]:
    """Any value of a type and version, half of the time with tags that nobody knows."""
    is_flexible = found.value.is_flexible(version)
    return random_struct(
        dice,
        found.value.fields,
        version,
        is_flexible=is_flexible,
        with_unknown=with_unknown and is_flexible and dice.random() < 0.5,
    )


def random_struct(
    dice: Random,
    fields: tuple[Field, ...],
    version: int,
    *,
    is_flexible: bool,
    with_unknown: bool,
) -> dict[str, Any]:
    """Any value of a struct, tagged fields that have their default left out as in Kafka's JSON."""

    def part(kind: Kind | Struct | ArrayOf, *, nullable: bool = False) -> Any:
        if nullable and dice.random() < 0.3:
            return None
        if isinstance(kind, ArrayOf):
            return [part(kind.element) for _ in range(dice.choice((0, 1, 2, 3)))]
        if isinstance(kind, Struct):
            return random_struct(
                dice, kind.fields, version, is_flexible=is_flexible, with_unknown=with_unknown
            )
        return random_primitive(dice, kind)

    value = {
        field.name: part(field.type, nullable=field.nullable) for field in in_line(fields, version)
    }
    known = tagged(fields, version)
    for field in known.values():
        found = part(field.type, nullable=field.nullable)
        if dice.random() < 0.7 and found != field.default:
            value[field.name] = found
    if with_unknown and dice.random() < 0.5:
        tags = sorted(dice.sample(range(100, 40_000), dice.choice((1, 2))))
        value[UNKNOWN_TAGS] = [(tag, dice.randbytes(dice.choice((0, 1, 200)))) for tag in tags]
    return value


def random_primitive(dice: Random, kind: Kind) -> int | str | bytes:
    """Any value of a kind, the ends of its range more often than their share."""
    if kind in INTEGERS:
        low = 0 if kind is UINT16 else -(2 ** (WIDTHS[kind] - 1))
        high = low + 2 ** WIDTHS[kind] - 1
        return dice.choice((low, high, 0, 1, max(low, -1), dice.randint(low, high)))
    if kind is STRING:
        return dice.choice(STRINGS)
    if kind is BYTES:
        return dice.randbytes(dice.choice((0, 1, 5, 127, 128, 300)))
    assert kind is UUID
    return urlsafe_b64encode(dice.choice((bytes(16), dice.randbytes(16))))[:22].decode()


def spoiled(dice: Random, data: bytes) -> bytes:
    """The bytes cut, continued, or with some of them changed; at times as they were."""
    luck = dice.random()
    if luck < 0.2 or not data:
        return data
    if luck < 0.4:
        return data[: dice.randrange(len(data))]
    if luck < 0.5:
        return data + dice.randbytes(dice.choice((1, 2, 9)))
    changed = bytearray(data)
    for _ in range(dice.choice((1, 1, 2, 3))):
        place = dice.randrange(len(changed))
        patch = dice.choice(
            (b"\xff\xff\xff\xff", b"\0", b"\x80", b"\1", b"\x7f", dice.randbytes(1))
        )
        changed[place : place + len(patch)] = patch
    return bytes(changed)
