"""The capacity of a member, at the end of UserData.

Only assignors of ours write it, and only under names that no other client has: `weighted` and
`cooperative-weighted`. It is eight bytes behind what the sticky assignors write: four that mark it,
then the capacity. The mark is negative, as a number and as the length of a name, so no sticky
layout takes it for a part of its own. A reader looks at the last eight bytes alone, whatever
stands before them.

Nothing else is written here. All Subscriptions of a group are stored in one record, which may have
1 MB (KAFKA-3810), and a member that joins twice without a reason for another round must write the
same bytes: figures that change belong in neither.
"""

from __future__ import annotations

from wire.writing import int32_bytes

MARK = bytes.fromhex("ffff5701")
SIZE = len(MARK) + 4
LARGEST = (1 << 31) - 1


def capacity_bytes(capacity: int) -> bytes:
    """Return the last bytes of UserData. Raises `ValueError` for a capacity below 1 or too large.

    >>> capacity_bytes(4).hex()
    'ffff570100000004'
    """
    if not 1 <= capacity <= LARGEST:
        raise ValueError(f"capacity: {capacity} is not from 1 to 2**31 - 1")
    return MARK + int32_bytes(capacity, "capacity")


def split_capacity(data: bytes) -> tuple[bytes, int | None]:
    r"""Return UserData without a capacity, and the capacity; `None` where there is none.

    Never raises: what is below 1 is returned as it is. Cost: O(1) where there is none.

    >>> split_capacity(bytes.fromhex("00000007" "ffff570100000004"))
    (b'\x00\x00\x00\x07', 4)
    """
    if data[-SIZE:-4] != MARK:
        return data, None
    return data[:-SIZE], int.from_bytes(data[-4:], "big", signed=True)
