"""Entries of a topic and its partition numbers, read in lock step over many messages.

Owned partitions of a Subscription and partitions of an Assignment have the same bytes: a count,
then a name and numbers for each topic. First the first entry of
everybody is read, then the second of everybody. A message that is not plain there is marked;
every read stays within its own bytes, so hostile counts cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat

import numpy as np

from assignors.arrays import Bool, Int32, Int64, OwnedArrays
from assignors.group_bytes.entries.lock_step import entries_in_lock_step
from assignors.group_bytes.entries.one_layout import entries_of_one_layout, repeated_names
from assignors.group_bytes.entries.places import (
    COUNT_LIMIT,
    Entries,
    EntryRecords,
    entry_bounds,
    int16_view,
    int32_view,
)
from assignors.group_bytes.names import (
    NAME_BYTES_MAX,
    NameTable,
    find,
    find_in_records,
    name_table,
)

MESSAGES_MIN = 24
"""Fewer messages are read one by one: numpy's calls would cost more than they save."""
TOGETHER_MIN = 16
"""So many messages at least are read in one step; the rest of the longest ones is read alone."""
ENTRY_SIZE_MIN = 10
"""Bytes of an empty name, a count and one number."""
PAD = NAME_BYTES_MAX + 16
"""Zeros behind the bytes: so much is read where a name stands, or a number."""
FEW = 2_048
"""Names of up to so many entries, none of which is known, are looked up one by one: of 500 in 0.06
ms rather than 0.13."""
UNKNOWN_AT_ONCE = 256
"""So many unknown names are looked at before the others are compared with them."""
TABLE_FACTOR = 16
"""Repeats are looked for in a table of up to so many cells for each number there is."""
LEARNING_MAX = 4
"""Times that this is done; messages with names that are unknown after it are read alone."""


def are_read_together(message_count: int) -> bool:
    """Return whether so many messages (members, blobs of a column) are worth reading together."""
    return message_count >= MESSAGES_MIN


def read_entries(
    buffer: bytes,
    place: Int64,
    end: Int64,
    is_plain: Bool,
    *,
    is_there: Bool | None = None,
) -> Entries | EntryRecords:
    """Read entries that begin with their count at `place`; move `place` behind them.

    `place` and `end` are int64[R], a message each. `is_plain`, bool[R], becomes false for messages
    with odd entries, and for the few with more entries than nearly all others. Where `is_there`,
    bool[R], is false, there are none. Cost: O(E), and some calls of numpy for each entry of the
    longest message.
    """
    there = is_plain if is_there is None else is_plain & is_there
    is_plain &= ~there | (place + 4 <= end)
    there = there & is_plain
    entry_count = np.where(there, int32_view(buffer)[np.where(there, place, 0)], 0)
    entry_count = entry_count.astype(np.int64)
    place[there] += 4
    # A null array is not plain.
    is_plain &= (entry_count >= 0) & (entry_count <= COUNT_LIMIT)
    is_plain &= entry_count * ENTRY_SIZE_MIN <= np.maximum(end - place, 0)
    sizes = np.sort(entry_count[is_plain])[::-1]
    together_min = max(1, min(TOGETHER_MIN, len(sizes) // 4))
    longest = int(sizes[together_min - 1]) if len(sizes) else 0
    is_plain &= entry_count <= longest
    read = np.where(is_plain, entry_count, 0)
    alike = entries_of_one_layout(buffer, place, end, read)
    return alike or entries_in_lock_step(buffer, place, end, is_plain, read)


def recognised_names(entries: Entries | EntryRecords, numbers: dict[bytes, int]) -> Int64:
    """Return the number of each entry's name, int64[E], -1 where it was not recognised.

    `numbers` has the names known so far, numbered from 0. Others are learned and added to it, as
    long as a few of them account for all that are unknown. Cost: O(E x words of a name).
    """
    count = len(entries.name_length)
    if not count:
        return np.zeros(0, dtype=np.int64)
    if not numbers and count <= FEW:
        return _few_names(entries, numbers)
    return _names_by_table(entries, numbers)


def _names_by_table(entries: Entries | EntryRecords, numbers: dict[bytes, int]) -> Int64:
    """Return the same, with the names known so far as a table, and tables of those learned."""
    number = np.full(len(entries.name_length), -1, dtype=np.int64)
    if numbers:
        number = _found(entries, name_table(list(numbers)), None)
    for _ in range(LEARNING_MAX):
        if int(number.min()) >= 0:
            break
        left = np.flatnonzero(number < 0)
        names = _new_names(entries, left, numbers)
        if not names:
            break
        base = len(numbers)
        numbers |= {name: base + place for place, name in enumerate(names)}
        is_all = len(left) == len(number)
        found = _found(entries, name_table(names), None if is_all else left)
        if base:
            found[found >= 0] += base
        if is_all:
            number = found
        else:
            number[left] = found
    return number


def _found(entries: Entries | EntryRecords, table: NameTable, some: Int64 | None) -> Int64:
    """Return which name of a table each entry has, or some entries have, -1 for none of them."""
    if entries.records is not None:
        # Behind a name stand its count and a number at least, or it has eight bytes and more.
        records = entries.records if some is None else entries.records[some]
        return find_in_records(table, records, 2, int(entries.name_length[0]))
    start, length = entries.name_start, entries.name_length
    if some is not None:
        start, length = start[some], length[some]
    return find(table, entries.buffer, start, length)


def _few_names(entries: Entries | EntryRecords, numbers: dict[bytes, int]) -> Int64:
    """Return the number of each entry's name, as above, where none is known. Cost: O(E)."""
    buffer, records = entries.buffer, entries.records
    names: list[bytes]
    if records is None:
        start = entries.name_start
        ends = (start + entries.name_length).tolist()
        names = list(map(buffer.__getitem__, map(slice, start.tolist(), ends)))
    else:
        length = int(entries.name_length[0])
        stride = (records.shape[1],)
        names = np.ndarray((len(records),), f"V{length}", records, 2, stride).tolist()
    found = sorted(name for name in dict.fromkeys(names) if name and is_text(name))
    numbers |= {name: number for number, name in enumerate(found)}
    return np.fromiter(map(numbers.get, names, repeat(-1)), np.int64, len(names))


def owned_arrays(
    entries: Entries | EntryRecords, numbers: dict[bytes, int], is_plain: Bool
) -> OwnedArrays:
    """Return the entries as arrays, row by row; names that `numbers` lacks are added to it.

    Rows with a name that was not recognised, with one twice or with a negative number stop being
    plain. Cost: that of `recognised_names`, O(numbers).
    """
    if isinstance(entries, EntryRecords) and entries.repeated:
        repeated, number = repeated_names(entries, numbers), entries.numbers()
        if repeated is not None and int(number.min()) >= 0:
            each, count = entries.number_count, len(entries.records)
            topic = np.empty((count // len(repeated), len(repeated)), dtype=np.int64)
            topic[:] = repeated
            names = tuple(name.decode() for name in numbers)
            return OwnedArrays(
                names=names,
                name_set=frozenset(names),
                entry_ptr=entry_bounds(entries.read),
                topic=topic.ravel(),
                number_ptr=np.arange(0, each * count + 1, each),
                number=number,
            )
    topic = recognised_names(entries, numbers)
    return _entry_arrays(entries, topic, is_plain, [name.decode() for name in numbers])


def _entry_arrays(
    entries: Entries | EntryRecords, topic: Int64, is_plain: Bool, names: Sequence[str]
) -> OwnedArrays:
    """Return the entries as arrays, row by row.

    `topic`, int64[E], has the position of each entry's name in `names`. Rows with a name that was
    not recognised (-1), with one twice or with a negative number stop being plain.
    Cost: O(E + numbers).
    """
    row = entries.row
    if len(topic) and int(topic.min()) < 0:
        is_plain[row[topic < 0]] = False
    is_plain[repeated_rows(row, topic, len(names))] = False
    number_ptr, number = _numbers(entries)
    if len(number) and int(number.min()) < 0:
        owner_of = np.repeat(row, np.diff(number_ptr))
        is_plain[owner_of[number < 0]] = False
    return OwnedArrays(
        names=tuple(names),
        name_set=frozenset(names),
        entry_ptr=entry_bounds(entries.read),
        topic=topic,
        number_ptr=number_ptr,
        number=number,
    )


def _numbers(entries: Entries | EntryRecords) -> tuple[Int64, Int32]:
    """Return where the numbers of each entry begin, int64[E + 1], and all numbers."""
    if isinstance(entries, EntryRecords):
        each = entries.number_count
        return np.arange(0, each * len(entries.records) + 1, each), entries.numbers()
    if entries.number is not None:
        return np.arange(len(entries.number) + 1), entries.number
    first = entries.name_start + entries.name_length
    first += 4
    int32, count = int32_view(entries.buffer), entries.count
    if int(count.max(initial=1)) == 1:
        return np.arange(len(first) + 1), int32[first].astype(np.int32)
    ptr = entry_bounds(count)
    place = np.arange(0, 4 * int(ptr[-1]), 4)
    place += np.repeat(first - 4 * ptr[:-1], count)
    return ptr, int32[place].astype(np.int32)


def repeated_rows(row: Int64, number: Int64, number_count: int) -> Int64:
    """Return the rows that have a number twice. Rows ascend. Cost: O(N), and a sort if needed."""
    key = row * (number_count + 1)
    key += number
    if bool((key[1:] > key[:-1]).all()):
        return np.zeros(0, dtype=np.int64)
    key_count = (int(row[-1]) + 1) * (number_count + 1)
    if key_count <= TABLE_FACTOR * len(key) and int(number.min()) >= 0:
        occurs = np.zeros(key_count, dtype=np.bool_)
        occurs[key] = True
        if np.count_nonzero(occurs) == len(key):
            return np.zeros(0, dtype=np.int64)
    key.sort()
    # A number of -1 belongs to the row, not to the one before it.
    again: Int64 = (key[1:][key[1:] == key[:-1]] + 1) // (number_count + 1)
    return again


def _new_names(
    entries: Entries | EntryRecords, left: Int64, numbers: dict[bytes, int]
) -> list[bytes]:
    """Return some names of these entries, which are not among `numbers`, in the order found."""
    some = left[:: max(1, len(left) // min(UNKNOWN_AT_ONCE, 32 + len(left) // 32))]
    starts, lengths = entries.name_start[some], entries.name_length[some]
    names = dict.fromkeys(
        entries.buffer[start : start + length]
        for start, length in zip(starts.tolist(), lengths.tolist(), strict=True)
    )
    # Sorted as most lists are: then numbers ascend in these.
    return sorted(name for name in names if name not in numbers and is_text(name))


def is_text(name: bytes) -> bool:
    """Return whether these bytes are a name that a broker accepts as text: UTF-8."""
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


__all__ = [
    "COUNT_LIMIT",
    "PAD",
    "Entries",
    "EntryRecords",
    "are_read_together",
    "entry_bounds",
    "int16_view",
    "int32_view",
    "is_text",
    "owned_arrays",
    "read_entries",
    "recognised_names",
    "repeated_rows",
]
