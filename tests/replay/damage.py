"""A dump in which every tenth record is damaged, as no broker would write it and a disk might.

Bytes flip, go missing or come from nowhere, in keys and in values; values vanish, clocks go mad,
records stand twice or not at all. The same seed damages the same records.
"""

from __future__ import annotations

import gzip
import json
import random
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

from tests.replay.histories import DATA

CLOCKS = (0, -5, 2**40, 2**53, -(2**53), 2**62, None)


def damaged(seed: int) -> bytes:
    """The captured topic as lines of JSON, damaged."""
    dice = random.Random(seed)
    with gzip.open(DATA / "real.jsonl.gz") as lines:
        records = [json.loads(line) for line in lines]
    groups = sorted({_group(record["key"]) for record in records})
    kept = set(dice.sample(groups, k=12))
    chosen = (record for record in records if _group(record["key"]) in kept)
    return "\n".join(json.dumps(one) for record in chosen for one in _damage(record, dice)).encode()


def _group(key: str) -> bytes:
    data = b64decode(key)
    return data[4 : 4 + int.from_bytes(data[2:4])]


def _damage(record: dict[str, Any], dice: random.Random) -> Iterator[dict[str, Any]]:
    chance = dice.random()
    if chance < 0.06:
        value = b64decode(record["value"] or "AAA=")
        yield {**record, "value": b64encode(mutated(value, dice)).decode()}
    elif chance < 0.1:
        yield {**record, "key": b64encode(mutated(b64decode(record["key"]), dice)).decode()}
    elif chance < 0.11:
        yield {**record, "value": None}
    elif chance < 0.115:
        yield {**record, "key": None}
    elif chance < 0.125:
        yield {**record, "timestamp": dice.choice(CLOCKS)}
    elif chance < 0.13:
        yield from (record, record)
    elif chance >= 0.14:
        yield record


def mutated(data: bytes, dice: random.Random) -> bytes:
    """Some bytes with one to four things wrong with them."""
    found = bytearray(data)
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        if not found:
            break
        at = dice.randrange(len(found))
        match dice.randrange(5):
            case 0:
                found[at] = dice.choice([0, 1, 0x7F, 0x80, 0xFF, dice.randrange(256)])
            case 1:
                del found[at:]
            case 2:
                del found[at : at + dice.randrange(1, 5)]
            case 3:
                found[at:at] = dice.randbytes(dice.randrange(1, 4))
            case _:
                found[at : at + 2] = dice.randbytes(2)
    return bytes(found)
