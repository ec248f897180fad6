"""What a coordinator, the world around it and the log say to each other.

The log of an offsets partition has entries: a key and a value, `None` for a tombstone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from enum import StrEnum
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """A record: what it is about, and what it says; `None` deletes."""

    key: Hashable
    value: Any


State = dict[Hashable, Any]
"""What a log says: the last value of each key."""


def apply(state: State, entry: Entry) -> None:
    """Replay one entry. Cost: O(1)."""
    if entry.value is None:
        state.pop(entry.key, None)
    else:
        state[entry.key] = entry.value


def fold(entries: Iterable[Entry]) -> State:
    """Return what these entries say. Cost: O(entries)."""
    state: State = {}
    for entry in entries:
        apply(state, entry)
    return state


make = tuple.__new__
"""Makes an event or effect of its type and all of its fields, in order: in a third of the time that
a call takes, for those that there are for each request."""


class Failure(StrEnum):
    """Why a request is answered with an error."""

    APPEND = "append failed"
    NOT_COORDINATOR = "not coordinator"


class Request(NamedTuple):
    """A request of a client."""

    number: int
    """No two have the same."""
    group: int
    what: Any
    """For the handler."""
    is_checked: bool = False
    """Whether it needs a check first."""
    is_commit: bool = True
    """Whether it leaves the group as it is; others have the group to themselves."""
    is_transactional: bool = False
    """Whether its records are a batch of their own, which waits for no other request."""
    goes_first: bool = False
    """Whether it goes before those of its key that wait, but for others of this sort."""


class Handled(NamedTuple):
    """What a request leads to."""

    entries: tuple[Entry, ...]
    response: Any


Handler = Callable[[State, Request], Handled]
"""The state of a partition and a request -> its records and its response; changes nothing."""


# Events


class Asked(NamedTuple):
    """A request has come in."""

    request: Request


class Worked(NamedTuple):
    """A worker has spent the time that the request of this number needs."""

    number: int


class Checked(NamedTuple):
    """A check is over."""

    number: int


class Appended(NamedTuple):
    """An append is in the local log, or has failed (`end` is `None`)."""

    token: int
    end: int | None
    """The offset behind its last entry."""


class Replicated(NamedTuple):
    """The high watermark of a partition has risen."""

    partition: int
    high_watermark: int


class Lingered(NamedTuple):
    """A batch has waited for others long enough."""

    partition: int
    batch: int


class Lost(NamedTuple):
    """Another broker leads a partition from now on."""

    partition: int


class Loaded(NamedTuple):
    """This one leads it, and has read its log: everything in there is replicated."""

    partition: int
    entries: tuple[Entry, ...]
    end: int
    """The offset of its next entry: more than there are entries where a cleaner took some."""


Event = Asked | Worked | Checked | Appended | Replicated | Lingered | Lost | Loaded


# Effects


class Work(NamedTuple):
    """Let a worker spend the time that a request needs; `Worked` follows."""

    number: int
    is_handed_off: bool
    """Whether another thread takes it over."""


class Check(NamedTuple):
    """Check a request; `Checked` follows."""

    number: int


class Append(NamedTuple):
    """Append to the log of a partition; `Appended` follows, and `Replicated` later."""

    token: int
    partition: int
    entries: tuple[Entry, ...]


class Linger(NamedTuple):
    """Start the time for which a batch waits; `Lingered` follows."""

    partition: int
    batch: int


class Answer(NamedTuple):
    """Answer a request."""

    number: int
    response: Any
    failure: Failure | None = None


Effect = Work | Check | Append | Linger | Answer
