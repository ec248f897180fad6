"""The application's thread of a member: what keeps it from polling, and what waits until it polls.

A client sends heartbeats in the background, but callbacks, and whatever follows from a rebalance,
run in the thread of the application, inside `poll()`. While that thread is busy with its records or
in a slow callback the rest waits: a member that is no longer in the group goes on with what it has
until the thread is free.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import isqrt

from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Disturbance,
    Disturbed,
    Effect,
    Schedule,
)
from assignors.simulation.timed.scenario import MemberConfig

RETRY_BACKOFF_US = 100_000
"""`retry.backoff.ms`: how long a client waits before it sends a failed request again."""


@dataclass(slots=True, kw_only=True)
class Application:
    """What is known of the application's thread. Both protocols have it."""

    long_poll_us: int = 0
    """It takes so long between two polls, until it is told otherwise."""
    slow_callback_us: int = 0
    slow_assignor_us: int = 0
    is_in_poll: bool = False
    """A long poll has begun: the thread is busy with records."""
    is_in_callback: bool = False
    """A callback runs."""
    has_left: bool = False
    """The client has left the group, as the thread did not poll in time."""

    @property
    def is_busy(self) -> bool:
        """Whether everything that needs the thread has to wait."""
        return self.is_in_poll or self.is_in_callback

    def restart(self) -> None:
        """Begin a new process, on a machine as slow as before."""
        self.is_in_poll = self.is_in_callback = self.has_left = False

    def slow_down(self, event: Disturbed) -> bool:
        """Take over how slow the thread is from now on; return whether a long poll begins or ends.

        Then the thread is out of the poll that it was in.
        """
        match event.kind:
            case Disturbance.LONG_POLL:
                self.long_poll_us = event.by_us
                self.is_in_poll = False
            case Disturbance.SLOW_CALLBACK:
                self.slow_callback_us = event.by_us
            case Disturbance.SLOW_ASSIGNOR:
                self.slow_assignor_us = event.by_us
        return event.kind is Disturbance.LONG_POLL


def call_back(
    application: Application, config: MemberConfig, timer: str, takes_ms: int
) -> list[Effect]:
    """Return what starts a callback; `timer` is its end. It keeps the thread busy."""
    takes = takes_ms * MILLISECOND + application.slow_callback_us
    application.is_in_callback = True
    return [*watch_thread(config, takes), Schedule((timer,), takes)]


def rest_of_poll(config: MemberConfig, draw: Callable[[str, int], int]) -> int:
    """Return how long the poll still takes that is going on at any moment, in microseconds.

    If polls do not all last as long, a longer one is met more often, as often as it is longer.
    """
    longest, spread = config.poll_ms * MILLISECOND, config.poll_spread_us
    if not spread or config.client_model is not None:
        return draw("poll", longest)
    shortest = longest - spread
    return draw("poll", isqrt(shortest**2 + draw("poll", longest**2 - shortest**2)))


def whole_poll(config: MemberConfig, draw: Callable[[str, int], int]) -> int:
    """Return how long a poll takes that begins now, in microseconds."""
    spread = config.poll_spread_us
    return config.poll_ms * MILLISECOND - (draw("poll", spread) if spread else 0)


@lru_cache
def next_beat(after_us: int) -> Schedule:
    """Return what starts the timer of the next heartbeat: the same after every one."""
    return Schedule(("heartbeat",), after_us)


def watch_thread(config: MemberConfig, busy_us: int) -> list[Effect]:
    """Return the timer by which the thread has to poll, if it is going to be late."""
    limit = config.rebalance_timeout_ms * MILLISECOND
    is_watched = config.leaves_if_poll_is_late and not config.runs_handlers
    is_late = busy_us > limit and is_watched
    return [Schedule(("max-poll",), limit)] if is_late else []
