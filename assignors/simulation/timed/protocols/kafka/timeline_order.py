"""The iteration order of Kafka's `TimelineHashMap`, in which a coordinator keeps its members.

It is no Java `HashMap`: a slot is the high bits of the hash times a constant (Fibonacci hashing),
the table doubles later, and the keys of one slot come out last in, first out. The order in which a
coordinator goes through its members follows from it, and with it some answers of its assignors.

Source: `org.apache.kafka.timeline.BaseHashTable` of Kafka 4.4.0, checked by running it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

FACTOR = 0x9E3779B97F4A7C15
"""2**64 divided by the golden ratio."""
BITS = 64
CAPACITY_MIN = 2


@dataclass(slots=True)
class TimelineOrder:
    """The keys of a `TimelineHashMap` to which keys are put and removed. It never shrinks."""

    length: int = CAPACITY_MIN
    slots: dict[int, list[tuple[str, int]]] = field(default_factory=dict)
    """The keys of each slot, the last one put first."""
    size: int = 0

    def put(self, key: str, java_hash: int) -> None:
        """Put a key; one that is there keeps its place. Cost: O(1), amortised."""
        self.put_again()
        number = self._slot(java_hash)
        slot = self.slots.setdefault(number, [])
        if (key, java_hash) not in slot:
            slot.insert(0, (key, java_hash))
            self.size += 1

    def put_again(self) -> None:
        """Put a key that is there. Cost: O(1), amortised."""
        # The table grows before it is known whether the key is new.
        if (self.size + 1) * 0.75 > self.length:
            self._double()

    def remove(self, key: str, java_hash: int) -> None:
        """Remove a key that is there. Cost: O(1)."""
        number = self._slot(java_hash)
        slot = self.slots[number]
        slot.remove((key, java_hash))
        if not slot:
            del self.slots[number]
        self.size -= 1

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
        self.slots = {}
        for entries in before:
            for key, java_hash in entries:
                self.slots.setdefault(self._slot(java_hash), []).append((key, java_hash))
