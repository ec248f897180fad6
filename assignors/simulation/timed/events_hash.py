"""A hash of the events of a run: two runs with the same hash went the same way.

The same scenario and seed give the same hash in every process, whatever its hash seed, platform and
number of processes: a test of the determinism of the simulator, and of a changed one that must not
change its runs. It covers the time, target, kind and number of every event, and how many partitions
of which topics each member consumes after each change.
"""

from __future__ import annotations

import sys
from array import array
from hashlib import blake2b
from typing import Any
from zlib import crc32

from assignors.simulation.timed.network import Silent, TimedOut
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Arrived,
    Committed,
    Failed,
    Fired,
)
from wire import TopicPartitions

NUMBERED: frozenset[type] = frozenset({Committed, Failed, TimedOut, Silent})
"""Events that begin with a number."""
HELD = 8192
"""Numbers that are hashed together."""

_codes: dict[object, int] = {}
"""Type, or key of a timer -> a number that is the same in every process."""


class EventsHash:
    """The events of a run so far."""

    __slots__ = ("_hash", "_held")

    def __init__(self) -> None:
        """Begin with no event."""
        self._hash = blake2b(digest_size=8)
        self._held = array("q")

    def note(self, at_us: int, target: int, what: Any) -> None:  # noqa: ANN401 - any event
        """Take note of an event. Cost: O(1)."""
        kind = type(what)
        held, known = self._held, _codes.get
        if kind is Fired:
            held.extend((at_us, target, known(what[0]) or _code(what[0])))
        elif kind is Arrived or kind is Answered:  # then a request or a response follows
            message = type(what[1])
            held.extend((at_us, target, what[0], known(message) or _code(message)))
        else:
            number = what[0] if kind in NUMBERED else 0
            held.extend((at_us, target, number, known(kind) or _code(kind)))
        if len(held) > HELD:
            self._flush()

    def consumes(self, at_us: int, member: int, owned: TopicPartitions) -> None:
        """Take note of what a member consumes from now on. Cost: O(its partitions)."""
        for topic in sorted(owned):
            numbers = owned[topic]
            self._held.extend((at_us, member, _code(topic), len(numbers), sum(numbers)))

    def text(self) -> str:
        """Return the hash as 16 hexadecimal digits."""
        self._flush()
        return self._hash.hexdigest()

    def _flush(self) -> None:
        if sys.byteorder == "big":
            self._held.byteswap()
        self._hash.update(self._held)
        self._held = array("q")


def _code(what: Any) -> int:  # noqa: ANN401 - a type, a key or a name
    code = _codes.get(what)
    if code is None:
        text = what.__name__ if isinstance(what, type) else repr(what)
        code = _codes[what] = crc32(text.encode())
    return code
