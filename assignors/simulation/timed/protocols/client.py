"""What members have in common: their client, and the application's thread that polls.

A client sends heartbeats in the background, but callbacks, and whatever follows from a rebalance,
run in the thread of the application, inside `poll()`. While that thread is busy with its records or
in a slow callback the rest waits: a member that is no longer in the group goes on with what it has
until the thread is free.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from math import isqrt

from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Cancel,
    Disturbance,
    Disturbed,
    Effect,
    Request,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode
from assignors.simulation.timed.scenario import MemberConfig

RETRY_BACKOFF_US = 100_000
"""`retry.backoff.ms`: how long a client waits before it sends a failed request again."""
NOT_LATE = Cancel(("max-poll",))
NO_BEAT = Cancel(("heartbeat",))


@dataclass(slots=True, kw_only=True)
class Application:
    """What is known of the application's thread."""

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


@dataclass(slots=True, kw_only=True)
class Client:
    """A member's side of any protocol."""

    config: MemberConfig
    draw: Callable[[str, int], int]
    """(`"poll"`, limit), (`"sync"`, mean) or (`"look"`, mean) -> a random time in microseconds."""
    late_us: int = 0
    """So much later than its interval is each heartbeat."""
    topics: tuple[str, ...] = ()
    member_id: str = ""
    is_stopping: bool = False
    application: Application = field(default_factory=Application)
    deferred: ErrorCode = ErrorCode.NONE
    """What a heartbeat reported while the application was busy."""
    number: int = 0
    """Requests sent so far; the last one's number."""
    out: list[Effect] = field(default_factory=list)

    @property
    def beat_us(self) -> int:
        """The time from one of its heartbeats to the next."""
        return self.config.by_its_clock(self.config.heartbeat_interval_ms) + self.late_us

    @property
    def is_out(self) -> bool:
        """Whether it is no longer in the group, and the application does not know yet."""
        return self.application.has_left or self.deferred is not ErrorCode.NONE

    def send(self, request: Request, after_us: int = 0) -> int:
        """Send a request; return its number."""
        self.number += 1
        self.out.append(Send(self.number, request, after_us))
        return self.number

    def beat_later(self) -> None:
        """Start the timer of the next heartbeat again."""
        self.out.append(Schedule(("heartbeat",), self.beat_us))

    def poll_later(self, timer: str = "poll") -> None:
        """Start a timer that runs out when the application polls next.

        If polls do not all last as long, a longer one is met more often, as often as it is longer.
        """
        config, draw = self.config, self.draw
        longest, spread = config.poll_ms * MILLISECOND, config.poll_spread_us
        after_us = longest
        if spread and config.client_model is None:
            shortest = longest - spread
            after_us = isqrt(shortest**2 + draw("poll", longest**2 - shortest**2))
        self.out.append(Schedule((timer,), draw("poll", after_us)))

    def poll_to_its_end(self, timer: str) -> None:
        """Start a timer that runs out at the end of a poll that begins now."""
        spread = self.config.poll_spread_us
        takes = self.config.poll_ms * MILLISECOND - (self.draw("poll", spread) if spread else 0)
        self.out.append(Schedule((timer,), takes))

    def call_back(self, timer: str, takes_ms: int) -> None:
        """Start a callback, which keeps the thread busy; `timer` is its end."""
        takes = takes_ms * MILLISECOND + self.application.slow_callback_us
        self.application.is_in_callback = True
        self.watch_thread(takes)
        self.out.append(Schedule((timer,), takes))

    def watch_thread(self, busy_us: int) -> None:
        """Start the timer by which the thread has to poll, if it is going to be late."""
        limit = self.config.rebalance_timeout_ms * MILLISECOND
        is_watched = self.config.leaves_if_poll_is_late and not self.config.runs_handlers
        if busy_us > limit and is_watched:
            self.out.append(Schedule(("max-poll",), limit))


@dataclass(slots=True, kw_only=True)
class HeartbeatClient(Client, ABC):
    """A member that gets its assignment in answers to heartbeats, and never waits for the others.

    What goes it gives up when its application polls, and it takes what is new; whatever it is told
    while the application's thread is busy waits until that is free.
    """

    is_up: bool = False
    epoch: int = 0
    """Its member epoch; under push that of the group, when its last answer was sent."""

    @property
    def generation(self) -> int:
        """Its epoch."""
        return self.epoch

    @abstractmethod
    def join(self) -> None:
        """Join as a new member, with nothing."""

    @abstractmethod
    def _lose(self, reason: str) -> None:
        """Stop consuming everything, without a commit."""

    @abstractmethod
    def _give_up_all(self) -> bool:
        """Stop consuming everything, in order; return whether that was anything."""

    @abstractmethod
    def _give_up_place(self, error: ErrorCode) -> None:
        """Lose everything, and join again unless the error is fatal."""

    @abstractmethod
    def _say_leave(self) -> None:
        """Tell the coordinator that it leaves."""

    @abstractmethod
    def _end(self) -> None:
        """End the process."""

    @abstractmethod
    def _may_poll_long(self) -> bool:
        """Whether it only consumes, so that its application may be busy with records."""

    @abstractmethod
    def _go_on(self) -> None:
        """Do what has waited for the application's thread."""

    def start(self) -> None:
        """Start the process."""
        self.is_up, self.is_stopping = True, False
        self.topics = self.topics or self.config.topics
        self.application.restart()
        self.join()

    def stop(self) -> None:
        """Close the consumer: give everything up, then leave. It waits for the thread."""
        if self.is_up and not self.is_stopping:
            self.is_stopping = True
            if not self.application.is_busy:
                self.give_up_and_leave()

    def give_up_and_leave(self) -> None:
        """Leave, once the callback for what it still owns is over."""
        if self._give_up_all():
            self.call_back("revoked", self.config.revoke_ms)
        else:
            self._say_leave()
            self._end()

    def crash(self) -> None:
        """End the process at once; the coordinator hears nothing."""
        if self.is_up:
            self._lose("crashed")
            self._end()

    def lose_place(self, error: ErrorCode) -> None:
        """Do what an error asks for, once the application's thread has time for it."""
        if self.application.is_busy:
            self.deferred = error
            self.out.append(NO_BEAT)
        else:
            self._give_up_place(error)

    def leave_late(self) -> None:
        """Leave the group: the application has not polled in time. It does not know yet."""
        self._say_leave()
        self.application.has_left = True
        self.out.append(NO_BEAT)

    def slow_down(self, event: Disturbed) -> None:
        """Take over how slow the application is; a long poll begins or ends."""
        if self.application.slow_down(event):
            self.begin_long_poll()
            self.free()

    def begin_long_poll(self) -> None:
        """Let the application be busy with its records, if it takes long for them."""
        application = self.application
        if application.long_poll_us and not application.is_busy and self._may_poll_long():
            application.is_in_poll = True
            self.watch_thread(application.long_poll_us)

    def free(self) -> None:
        """Go on, unless the application's thread is busy."""
        if self.application.is_busy or not self.is_up:
            return
        self.out.append(NOT_LATE)
        if self.is_stopping:
            self.give_up_and_leave()
        elif self.is_out:
            self._give_up_place(self.deferred)
        else:
            self._go_on()
