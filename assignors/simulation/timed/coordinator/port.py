"""What a coordinator and the world around it say to each other, and to the log above all."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

from assignors.simulation.timed.coordinator.log import Entry, State


class Failure(StrEnum):
    """Why a request is answered with an error."""

    CHECK = "check failed"
    APPEND = "append failed"
    TIMED_OUT = "timed out"
    REFUSED = "refused"
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


class Handled(NamedTuple):
    """What a request leads to."""

    entries: tuple[Entry, ...]
    response: Any


Handler = Callable[[State, Request], Handled]
"""The state of a partition and a request -> its records and its response; changes nothing.

Raises `Refused` for a request that cannot be."""


class Refused(Exception):  # noqa: N818 - a way out of a request, not an error of ours
    """The request is refused: nothing is written."""


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
    is_passed: bool = True


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


class TimedOut(NamedTuple):
    """A client waits for its answer no longer."""

    number: int


class Lost(NamedTuple):
    """Another broker leads a partition from now on."""

    partition: int


class Loaded(NamedTuple):
    """This one leads it, and has read its log: everything in there is replicated."""

    partition: int
    entries: tuple[Entry, ...]
    end: int
    """The offset of its next entry: more than there are entries where a cleaner took some."""


Event = Asked | Worked | Checked | Appended | Replicated | Lingered | TimedOut | Lost | Loaded


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
