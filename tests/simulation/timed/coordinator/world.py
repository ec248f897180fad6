"""A world around a coordinator in which anything may complete at any time: for properties.

Requests count: each reads the number of its group and writes the next one. So a request that is
lost, handled twice, or made on top of something that was taken back, shows in the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.coordinator.log import Entry, Log, State, fold
from assignors.simulation.timed.coordinator.machine import step
from assignors.simulation.timed.coordinator.policy import Policy
from assignors.simulation.timed.coordinator.port import (
    Answer,
    Append,
    Appended,
    Asked,
    Check,
    Checked,
    Effect,
    Event,
    Failure,
    Handled,
    Linger,
    Lingered,
    Loaded,
    Lost,
    Refused,
    Replicated,
    Request,
    TimedOut,
    Work,
    Worked,
)
from assignors.simulation.timed.coordinator.state import Coordinator, Settings

Choose = Callable[[int], int]
"""How many there are -> the one that is chosen."""
READ, COUNT, REFUSE = "read", "count", "refuse"


@dataclass(frozen=True, kw_only=True)
class Appends:
    """How a log completes appends."""

    is_sync: bool = False
    """At once."""
    fails: bool = False
    """Now and then with a failure."""
    reorders: bool = False
    """In any order; else in that in which they were asked for."""


SYNC, ASYNC = Appends(is_sync=True), Appends()
FAILING = Appends(fails=True)
REORDERING = Appends(fails=True, reorders=True)


def count(state: State, request: Request) -> Handled:
    """Handle a request that reads or counts up the number of its group."""
    number = state.get(request.group, 0)
    if request.what == REFUSE:
        raise Refused("on request")
    if request.what == READ:
        return Handled((), number)
    return Handled((Entry(request.group, number + 1),), number + 1)


@dataclass
class World:
    """A coordinator, its logs, and what has not happened yet."""

    policy: Policy
    appends: Appends
    choose: Choose
    settings: Settings = field(default_factory=lambda: Settings(workers=2, partitions=2))
    history: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.logs = [Log() for _ in range(self.settings.partitions)]
        self.coordinator = Coordinator.of(self.policy, count, self.settings)
        self.pending: list[Event | Append] = []
        self.asked: dict[int, Request] = {}
        self.answers: dict[int, Answer] = {}
        self.ends: dict[int, int] = {}
        self.works = 0

    def ask(self, group: int, what: str, *, is_checked: bool) -> None:
        """Send a request."""
        request = Request(len(self.asked), group, what, is_checked, is_commit=False)
        self.asked[request.number] = request
        self.happen(Asked(request))

    def happen(self, event: Event) -> None:
        """Let the coordinator see an event."""
        self.history.append(str(event))
        self.works -= isinstance(event, Worked)
        for effect in step(self.coordinator, event):
            self._do(effect)
        assert self.works <= self.settings.workers, self.told()
        self._state_is_what_the_log_says()

    @property
    def is_on_its_way(self) -> bool:
        """Whether anything is on its way."""
        return bool(self.pending) or any(log.high_watermark < log.end for log in self.logs)

    def go_on(self) -> bool:
        """Let one of the things happen that are on their way; return whether there was any."""
        high = [n for n, log in enumerate(self.logs) if log.high_watermark < log.end]
        number = len(self.pending) + len(high)
        if not number:
            return False
        chosen = self.choose(number)
        if chosen >= len(self.pending):
            self._replicate(high[chosen - len(self.pending)])
            return True
        event = self.pending[chosen]
        if isinstance(event, Append) and not self.appends.reorders:
            chosen = self._first_append(event.partition)
        event = self.pending.pop(chosen)
        if isinstance(event, Append):
            self._append(event)
        else:
            self.happen(event)
        return True

    def _first_append(self, partition: int) -> int:
        """The place of the append that was asked for first."""
        return next(
            place
            for place, each in enumerate(self.pending)
            if isinstance(each, Append) and each.partition == partition
        )

    def settle(self) -> None:
        """Let everything happen that is on its way."""
        while self.go_on():
            pass

    def time_out(self, number: int) -> None:
        """Let a client wait no longer."""
        self.happen(TimedOut(number))

    def fail_over(self, number: int) -> None:
        """Let another broker take over a partition, with what is replicated."""
        log = self.logs[number]
        log.truncate()
        self.pending = [
            each
            for each in self.pending
            if not (isinstance(each, Append) and each.partition == number)
        ]
        self.happen(Lost(number))
        self.happen(Loaded(number, tuple(log.entries), log.end))

    def _do(self, effect: Effect) -> None:
        match effect:
            case Work(number):
                self.works += 1
                self.pending.append(Worked(number))
            case Check(number):
                passes = not self.appends.fails or self.choose(8) != 0
                self.pending.append(Checked(number, passes))
            case Append():
                if self.appends.is_sync:
                    self._append(effect)
                else:
                    self.pending.append(effect)
            case Linger(partition, batch):
                self.pending.append(Lingered(partition, batch))
            case Answer():
                self._answered(effect)

    def _append(self, append: Append) -> None:
        if self.appends.fails and self.choose(4) == 0:
            self.happen(Appended(append.token, None))
            return
        log = self.logs[append.partition]
        for entry in append.entries:
            written = [each.value for each in log.entries if each.key == entry.key]
            assert entry.value == len(written) + 1, self.told(f"{entry} after {written}")
            log.append([entry])
        completed = Appended(append.token, log.end)
        if self.appends.reorders:
            self.pending.append(completed)
        else:
            self.happen(completed)

    def _replicate(self, number: int) -> None:
        log = self.logs[number]
        log.replicate(log.high_watermark + 1 + self.choose(log.end - log.high_watermark))
        self.happen(Replicated(number, log.high_watermark))

    def _answered(self, answer: Answer) -> None:
        assert answer.number not in self.answers, self.told("answered twice")
        self.answers[answer.number] = answer
        request = self.asked[answer.number]
        log = self.logs[request.group % len(self.logs)]
        if answer.failure is None:
            replicated = fold(log.entries[: log.high_watermark]).get(request.group, 0)
            assert answer.response <= replicated, self.told("answered before the high watermark")

    def _state_is_what_the_log_says(self) -> None:
        """What is replicated of the state is what the replicated part of the log says."""
        for partition, log in zip(self.coordinator.partitions, self.logs, strict=True):
            before = {key: value for _, key, value in reversed(partition.undo)}
            known = {k: v for k, v in {**partition.state, **before}.items() if v is not None}
            until = min(partition.high_watermark, partition.ahead)
            said = fold(log.entries[: max(until, 0)])
            assert known == said, self.told(f"{known} in the state, {said} in the log")

    def left(self) -> dict[str, Any]:
        """What is held, waits or is not as the log says; nothing once nothing is on its way."""
        state = self.coordinator
        partitions = zip(state.partitions, self.logs, strict=True)
        found = {
            "workers": self.settings.workers - state.free,
            "keys": state.keys,
            "tasks": state.tasks,
            "appends": state.appends,
            "resumed": state.resumed,
            "states": [each.state for each, log in partitions if each.state != fold(log.entries)],
            "unanswered": self.asked.keys() - self.answers.keys(),
        }
        return {name: each for name, each in found.items() if each}

    def told(self, what: str = "") -> str:
        """The history so far."""
        return "\n".join([what, *self.history])


def failures(world: World) -> set[Failure | None]:
    """What became of the requests."""
    return {each.failure for each in world.answers.values()}


def numbers(world: World, group: int) -> list[Any]:
    """What the requests of a group were answered, in the order of the log."""
    return sorted(
        each.response
        for each in world.answers.values()
        if each.failure is None and world.asked[each.number].group == group
    )
