"""The iteration order of Kafka's `TimelineHashMap`, in which a coordinator keeps its members.

It is no Java `HashMap`: a slot is the high bits of the hash times a constant (Fibonacci hashing),
the table doubles later, and the keys of one slot come out last in, first out. The order in which a
coordinator goes through its members follows from it, and with it some answers of its assignors.

Source: `org.apache.kafka.timeline.BaseHashTable` of Kafka 4.4.0, checked by running it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32

FACTOR = 0x9E3779B97F4A7C15
"""2**64 divided by the golden ratio."""
BITS = 64
CAPACITY_MIN = 2
FEW = 16
"""After more removals, and times at which keys were put in between, all keys are listed anew."""


class _Put(NamedTuple):
    """A key that was put."""

    key: str
    java_hash: int
    number: int
    """That of its slot."""


class _Removed(NamedTuple):
    """A key that was removed: the number of its slot, and its place in that."""

    number: int
    inside: int


@dataclass(frozen=True, slots=True)
class _Listed:
    """The keys of a map in its order, their hash codes, int32[N], and their slots, uint64[N]."""

    keys: list[str]
    hashes: Int32
    numbers: NDArray[np.uint64]

    def plus(self, puts: Sequence[_Put]) -> _Listed:
        """Return these and others that were put since: of a slot the last one put comes first.

        Cost: O(n), in arrays and slices, and O(k log k) for k others.
        """
        last_first = puts[::-1]
        in_order = sorted(last_first, key=attrgetter("number"))  # stable
        numbers = np.array([each.number for each in in_order], dtype=np.uint64)
        hashes = [each.java_hash for each in in_order]
        places = self.numbers.searchsorted(numbers)
        keys, start = [], 0
        for place, each in zip(places.tolist(), in_order, strict=True):
            keys += self.keys[start:place]
            keys.append(each.key)
            start = place
        return _Listed(
            keys + self.keys[start:],
            np.insert(self.hashes, places, hashes),
            np.insert(self.numbers, places, numbers),
        )

    def minus(self, removed: _Removed) -> _Listed:
        """Return these without one. Cost: O(n), with a small constant."""
        place = bisect_left(self.numbers, removed.number) + removed.inside
        return _Listed(
            self.keys[:place] + self.keys[place + 1 :],
            np.delete(self.hashes, place),
            np.delete(self.numbers, place),
        )


@dataclass(slots=True)
class TimelineOrder:
    """The keys of a `TimelineHashMap` to which keys are put and removed. It never shrinks."""

    length: int = CAPACITY_MIN
    slots: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    """The keys of each slot, the last one put first."""
    size: int = 0
    _listed: _Listed | None = field(default=None, compare=False, repr=False)
    """The keys when they were last asked for, if the table has not grown since."""
    _changes: list[list[_Put] | _Removed] = field(default_factory=list, compare=False, repr=False)
    """What has changed since then; what was put between two removals stands together."""

    def put(self, key: str, java_hash: int) -> None:
        """Put a key; one that is there keeps its place. Cost: O(1), amortised."""
        self.put_again()
        number = self._slot(java_hash)
        slot = self.slots.setdefault(number, [])
        if (key, java_hash) not in slot:
            slot.insert(0, (key, java_hash))
            self.size += 1
            self._note(_Put(key, java_hash, number))

    def put_all(self, keys: Sequence[str], java_hashes: Int32) -> None:
        """Put different keys that are not there, one after the other. Cost: O(n)."""
        while (self.size + len(keys)) * 0.75 > self.length:
            self._double()
        products = java_hashes.astype(np.int64).astype(np.uint64) * np.uint64(FACTOR)
        numbers = products >> np.uint64(BITS - (self.length.bit_length() - 1))
        slots, entries = self.slots, zip(keys, java_hashes.tolist(), strict=True)
        for number, entry in zip(numbers.tolist(), entries, strict=True):
            if number in slots:
                slots[number].insert(0, entry)
            else:
                slots[number] = [entry]
        self.size += len(keys)
        self._listed, self._changes = None, []

    def put_again(self) -> None:
        """Put a key that is there. Cost: O(1), amortised."""
        # The table grows before it is known whether the key is new.
        if (self.size + 1) * 0.75 > self.length:
            self._double()

    def remove(self, key: str, java_hash: int) -> None:
        """Remove a key that is there. Cost: O(1)."""
        number = self._slot(java_hash)
        slot = self.slots[number]
        inside = slot.index((key, java_hash))
        del slot[inside]
        if not slot:
            del self.slots[number]
        self.size -= 1
        self._note(_Removed(number, inside))

    def listed(self) -> tuple[list[str], Int32]:
        """Return the keys in the order of the map, and their hash codes, int32[N].

        Neither may be changed. Cost: O(n) with a small constant for keys that were put since, and
        for each of few that were removed; else O(n log n).
        """
        if self._listed is None:
            numbers = sorted(self.slots)
            slots = list(map(self.slots.__getitem__, numbers))
            entries = list(chain.from_iterable(slots))
            self._listed = _Listed(
                [key for key, _ in entries],
                np.array([java_hash for _, java_hash in entries], dtype=np.int32),
                np.repeat(np.array(numbers, dtype=np.uint64), list(map(len, slots))),
            )
        for change in self._changes:
            if isinstance(change, _Removed):
                self._listed = self._listed.minus(change)
            else:
                self._listed = self._listed.plus(change)
        self._changes = []
        return self._listed.keys, self._listed.hashes

    def _note(self, change: _Put | _Removed) -> None:
        changes = self._changes
        if self._listed is None:
            return
        if isinstance(change, _Removed):
            changes.append(change)
        elif changes and isinstance(changes[-1], list):
            changes[-1].append(change)
        else:
            changes.append([change])
        if len(changes) > FEW:
            self._listed, self._changes = None, []

    def __iter__(self) -> Iterator[str]:
        """Yield the keys in the order of the map. Cost: O(n log n).

        >>> from assignors.jvm.hash_order import string_hash
        >>> order = TimelineOrder()
        >>> for name in ("c0", "c1", "c2", "c3"):
        ...     order.put(name, string_hash(name))
        >>> list(order)
        ['c1', 'c3', 'c0', 'c2']
        """
        for number in sorted(self.slots):
            for key, _ in self.slots[number]:
                yield key

    def in_slots(self) -> Iterator[str]:
        """Yield the keys as a table puts back those of another one: of a slot the first one first.

        Cost: O(n log n).
        """
        for number in sorted(self.slots):
            for key, _ in reversed(self.slots[number]):
                yield key

    def _slot(self, java_hash: int) -> int:
        product = (java_hash * FACTOR) & ((1 << BITS) - 1)
        return product >> (BITS - (self.length.bit_length() - 1))

    def _double(self) -> None:
        before = list(self.slots.values())
        self.length *= 2
        self.slots, self._listed, self._changes = {}, None, []
        for entries in before:
            for key, java_hash in entries:
                self.slots.setdefault(self._slot(java_hash), []).append((key, java_hash))
