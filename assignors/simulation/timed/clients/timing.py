"""The three models on a clock: what each costs a rebalance, a commit, and a member that stalls.

The same steps as in `world`, each taken as soon as its thread is free. The polling thread is busy
between two calls of `poll` (`poll_interval_us`), in callbacks, and while it stalls; the other
thread only while it stalls, and, if its loop has a period, until the next time round. The
coordinator answers at once; a request and its answer take a round trip.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.timed.clients.machine import runs, step
from assignors.simulation.timed.clients.models import Model, Thread
from assignors.simulation.timed.clients.state import (
    Acknowledge,
    Alive,
    Answer,
    Arrived,
    Command,
    Commit,
    Committed,
    Completed,
    Effect,
    Event,
    Fetch,
    Granted,
    Heartbeat,
    Join,
    Kind,
    News,
    Partitions,
    Place,
    Ran,
    Record,
    Request,
    Returned,
    Send,
    State,
)
from assignors.simulation.timed.queue import EventQueue

MILLISECOND = 1000
SECOND = 1000 * MILLISECOND
EMPTY_POLL_US = 10 * MILLISECOND
"""How long a call of `poll` without records waits for some."""


class Stall(NamedTuple):
    """A thread that does nothing for a while."""

    thread: Thread
    at_us: int
    for_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One run. Times in microseconds."""

    poll_interval_us: int = 100 * MILLISECOND
    """What the application does with the records of one `poll`."""
    first_poll_us: int = 0
    heartbeat_us: int = 3 * SECOND
    session_us: int = 45 * SECOND
    max_poll_us: int = 300 * SECOND
    round_trip_us: int = 2 * MILLISECOND
    callback_us: int = 0
    loop_us: int = 0
    """How long the other thread's loop takes to notice something; 0: it is woken at once."""
    rebalance_at_us: int | None = None
    """From when on a heartbeat is answered with another target."""
    target: Partitions = frozenset({1, 2})
    """That target; until then partitions 0 and 1 are owned."""
    commits_every: int = 0
    """After so many calls of `poll` the application commits and waits; 0: never."""
    stalls: tuple[Stall, ...] = ()
    until_us: int = 60 * SECOND


@dataclass(slots=True)
class Measured:
    """What a run has shown. Times in microseconds."""

    rebalance_us: int | None = None
    """From the coordinator's decision to the end of the callback for assigned partitions."""
    evictions: int = 0
    """How often no heartbeat came for a session timeout."""
    departures: int = 0
    """How often the client left by itself: no `poll` for `max_poll_us`."""
    heartbeats: int = 0
    heartbeat_gap_us: int = 0
    """The longest time between two heartbeats at the coordinator."""
    commits_us: list[int] = field(default_factory=list)
    """How long each blocking commit took."""
    polls: int = 0
    records: int = 0


class _Resume(NamedTuple):
    """A thread that was busy may be free."""


class _Reached(NamedTuple):
    """A request is at the coordinator, or a broker."""

    request: Request


class _Over(NamedTuple):
    """A timer has run out."""

    name: str


_Happens = _Resume | _Reached | _Over | Arrived | Command


@dataclass(slots=True)
class _Run:
    model: Model
    setting: Setting
    queue: EventQueue[_Happens] = field(default_factory=EventQueue)
    client: State = field(default_factory=State)
    busy_until: int = 0
    called_at: int = 0
    seen_at: int = 0
    generation: int = 1
    measured: Measured = field(default_factory=Measured)


def measure(model: Model, setting: Setting) -> Measured:
    """Run one client alone. Cost: about 10 microseconds a step, 20 steps a `poll`."""
    first = ((0, 0), (1, 0))
    client = State(owned=frozenset({0, 1}), positions=first, processed=first, auto_committed=first)
    run = _Run(model, setting, client=client)
    queue = run.queue
    queue.put(setting.first_poll_us, Command.POLL)
    queue.put(setting.heartbeat_us, Command.BEAT)
    queue.start("session", setting.session_us, _Over("session"))
    queue.start("max_poll", setting.max_poll_us, _Over("max_poll"))
    for stall in setting.stalls:
        queue.put(stall.at_us + stall.for_us, _Resume())
    while (happens := queue.take(setting.until_us)) is not None:
        _happened(run, happens)
        _advance(run)
    run.measured.heartbeat_gap_us = max(run.measured.heartbeat_gap_us, queue.now - run.seen_at)
    return run.measured


def _happened(run: _Run, happens: _Happens) -> None:
    queue = run.queue
    match happens:
        case _Reached(request):
            answer = _answer(run, request)
            queue.put(queue.now + run.setting.round_trip_us // 2, Arrived(answer))
        case _Over("session"):
            run.measured.evictions += 1
        case _Over():
            run.measured.departures += 1
        case Command.BEAT:
            _step(run, happens)
            queue.put(queue.now + run.setting.heartbeat_us, Command.BEAT)
        case Command.POLL:
            _call(run)
        case Arrived():
            _step(run, happens)


def _call(run: _Run) -> None:
    """Let the application, which is free, poll or commit."""
    now, measured, every = run.queue.now, run.measured, run.setting.commits_every
    free_at = _free_at(run, Thread.POLLING)
    if free_at > now:
        run.queue.put(free_at, Command.POLL)
        return
    run.called_at = now
    if every and measured.polls >= (len(measured.commits_us) + 1) * every:
        _step(run, Command.COMMIT)
        return
    measured.polls += 1
    run.queue.start("max_poll", now + run.setting.max_poll_us, _Over("max_poll"))
    _step(run, Command.POLL)


def _advance(run: _Run) -> None:
    """Let every thread that is free do what there is to do."""
    is_going_on = True
    while is_going_on:
        is_going_on = False
        for each in runs(run.model, run.client):
            free_at = _free_at(run, each.thread)
            if free_at > run.queue.now:
                run.queue.start(each.thread, free_at, _Resume())
                continue
            _step(run, each)
            is_going_on = True
            break


def _free_at(run: _Run, thread: Thread) -> int:
    """Return when a thread can take its next step."""
    now = run.queue.now
    free_at = max(now, run.busy_until) if thread is Thread.POLLING else now
    period = run.setting.loop_us
    if thread is Thread.OTHER and period:
        free_at = -(-now // period) * period
    for stall in run.setting.stalls:
        if stall.thread is thread and stall.at_us <= free_at < stall.at_us + stall.for_us:
            free_at = stall.at_us + stall.for_us
    return free_at


def _step(run: _Run, event: Event) -> None:
    run.client, effects = step(run.model, run.client, event)
    for effect in effects:
        _done(run, effect)


def _done(run: _Run, effect: Effect) -> None:
    queue, setting, measured = run.queue, run.setting, run.measured
    match effect:
        case Send(request):
            queue.put(queue.now + setting.round_trip_us // 2, _Reached(request))
        case Ran(callback):
            run.busy_until = queue.now + setting.callback_us
            queue.put(run.busy_until, _Resume())
            if callback.kind is Kind.ASSIGNED and setting.rebalance_at_us is not None:
                measured.rebalance_us = run.busy_until - setting.rebalance_at_us
        case Returned(record):
            measured.records += record is not None
            wait_us = EMPTY_POLL_US if record is None else setting.poll_interval_us
            queue.put(queue.now + wait_us, Command.POLL)
        case Completed():
            assert run.client.place is Place.AWAY
            measured.commits_us.append(queue.now - run.called_at)
            queue.put(queue.now, Command.POLL)


def _answer(run: _Run, request: Request) -> Answer:
    """Answer a request, as a coordinator that never fails."""
    now, at = run.queue.now, run.setting.rebalance_at_us
    match request:
        case Heartbeat():
            _heard(run)
            is_news = at is not None and now >= at and run.generation == 1
            return News(run.setting.target) if is_news else Alive()
        case Acknowledge() | Join():
            run.generation += 1
            return Granted(run.generation, tuple((each, 0) for each in sorted(run.setting.target)))
        case Commit(number):
            return Committed(number, is_accepted=True)
        case Fetch(partition, offset):
            return Record(partition, offset)


def _heard(run: _Run) -> None:
    queue, measured = run.queue, run.measured
    measured.heartbeats += 1
    measured.heartbeat_gap_us = max(measured.heartbeat_gap_us, queue.now - run.seen_at)
    run.seen_at = queue.now
    queue.start("session", queue.now + run.setting.session_us, _Over("session"))
