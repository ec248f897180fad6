"""Claims in the UserData of many members, read in lock step: the eager sticky assignor's.

UserData has the bytes of owned partitions, a generation behind them (V1) or nothing (V0), and
perhaps a capacity at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from assignors.arrays import Int64, OwnedArrays
from assignors.group_bytes.in_turn import NotPlainError
from assignors.group_bytes.lock_step import INT32, cursor_of, owned_arrays, require, view_of
from assignors.model import NO_GENERATION
from wire.protocol.capacity import MARK
from wire.protocol.capacity import SIZE as CAPACITY_SIZE

CAPACITY_MARK = int.from_bytes(MARK, "big", signed=True)
GENERATION_SIZE = 4


def sticky_claims(
    data: Sequence[bytes | None], names: Iterable[str]
) -> tuple[OwnedArrays, Int64] | None:
    """Return partitions and generations in the UserData of M members; `None` if one is not plain.

    `names` are topics that are probably there. A few messages alone are not read in lock step, so
    they give `None` too. Never raises. Cost: O(bytes).

    >>> data = bytes.fromhex("00000001" "000174" "00000001" "00000007" "00000002")
    >>> owned, generation = sticky_claims([None, *[data] * 16], ["t"])
    >>> owned.of_row(1), generation[:3].tolist()
    ({'t': (7,)}, [-1, 2, 2])
    """
    there = np.array([bool(each) for each in data], dtype=np.bool_)
    count = np.zeros(len(data), dtype=np.int64)
    generation = np.full(len(data), NO_GENERATION)
    cursor = cursor_of([each for each in data if each])
    try:
        known = {name.encode(): number for number, name in enumerate(names)}
        entries = cursor.entries()
        count[there] = entries.entry_count
        owned = owned_arrays(cursor.buffer, entries._replace(entry_count=count), known)
        found = cursor.numbers(INT32, cursor.place < cursor.end)
        marked = view_of(cursor.buffer, INT32)[cursor.place] == CAPACITY_MARK
        left = cursor.end - cursor.place
        require((left == 0) | ((left == CAPACITY_SIZE) & marked))
    except (NotPlainError, UnicodeEncodeError):
        return None
    generation[there] = np.maximum(found, NO_GENERATION)
    return owned, generation
