"""A world around a coordinator in which anything may complete at any time: for properties.

Requests count: each reads the number of its group and writes the next one. So a request that is
lost, handled twice, or made on top of something that was taken back, shows in the log. A commit
writes the number that it has seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.execution.policy import Policy, Settings
from assignors.simulation.timed.execution.port import (
    Answer,
    Append,
    Appended,
    Asked,
    Check,
    Checked,
    Effect,
    Entry,
    Event,
    Failure,
    Handled,
    Linger,
    Lingered,
    Loaded,
    Lost,
    Replicated,
    Request,
    State,
    Work,
    Worked,
    fold,
)
from assignors.simulation.timed.execution.state import Coordinator
from assignors.simulation.timed.execution.step import step
from tests.simulation.timed.execution.log import Log, known

Choose = Callable[[int], int]
"""How many there are -> the one that is chosen."""
READ, COUNT, TWICE = "read", "count", "twice"
COMMIT = "commit"
SHARED = {READ, COMMIT}
"""What leaves the group as it is."""
OFFSET = "offset"
"""Whose records have the number of the group that was seen."""


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
    """Handle a request that reads, commits, or counts up the number of its group."""
    group, number = request.group, state.get(request.group, 0)
    if request.what == READ:
        return Handled((), number)
    if request.what == COMMIT:
        return Handled((Entry((OFFSET, group), number),), number)
    first, after = Entry(group, number + 1), Entry(group, number + 2)
    if request.what == TWICE:
        return Handled((first, after), number + 2)
    return Handled((first,), number + 1)


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
        self.pending: list[Event | Append | int] = []
        """A number: a partition comes to this broker again, which is to read its log."""
        self.asked: dict[int, Request] = {}
        self.answers: dict[int, Answer] = {}
        self.latest: dict[int, Any] = {}
        self.works = 0

    def ask(
        self, group: int, what: str, *, is_checked: bool = False, is_transactional: bool = False
    ) -> None:
        """Send a request."""
        shared = what in SHARED
        request = Request(len(self.asked), group, what, is_checked, shared, is_transactional)
        self.asked[request.number] = request
        self.happen(Asked(request))

    def happen(self, event: Event) -> None:
        """Let the coordinator see an event."""
        self.history.append(str(event))
        self.works -= isinstance(event, Worked)
        try:
            effects = step(self.coordinator, event)
        except (KeyError, IndexError) as error:
            raise AssertionError(self.told(repr(error))) from error
        for effect in effects:
            self._do(effect)
        assert self.works <= self.settings.workers, self.told("more work than workers")
        self._state_is_what_the_log_says()
        self._locks_are_those_of_requests()

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
        elif isinstance(event, int):
            self._load(event)
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

    def fail_over(self, number: int, *, at_once: bool = True) -> None:
        """Let a partition go and come back, with what is replicated; at once, or when it may."""
        if self.coordinator.partitions[number].is_lost:
            return
        log = self.logs[number]
        log.truncate()
        self.pending = [
            each
            for each in self.pending
            if not (isinstance(each, Append) and each.partition == number)
        ]
        self.happen(Lost(number))
        if at_once:
            self._load(number)
        else:
            self.pending.append(number)

    def _load(self, number: int) -> None:
        log = self.logs[number]
        self.happen(Loaded(number, tuple(log.entries), log.end))

    def _do(self, effect: Effect) -> None:
        match effect:
            case Work(number):
                self.works += 1
                self.pending.append(Worked(number))
            case Check(number):
                self.pending.append(Checked(number))
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
            self._may_be_written(log, entry)
            log.append([entry])
        completed = Appended(append.token, log.end)
        if self.appends.reorders:
            self.pending.append(completed)
        else:
            self.happen(completed)

    def _may_be_written(self, log: Log, entry: Entry) -> None:
        """A number is the next one; what depends on a number has the last one."""
        kind, group = entry.key if isinstance(entry.key, tuple) else (None, entry.key)
        last = fold(log.entries).get(group, 0)
        right = last if kind else last + 1
        assert entry.value == right, self.told(f"{entry} is written where {group} is {last}")

    def _replicate(self, number: int) -> None:
        log = self.logs[number]
        log.replicate(log.high_watermark + 1 + self.choose(log.end - log.high_watermark))
        self.happen(Replicated(number, log.high_watermark))

    def _answered(self, answer: Answer) -> None:
        assert answer.number in self.asked, self.told(f"nobody has asked {answer.number}")
        assert answer.number not in self.answers, self.told("answered twice")
        self.answers[answer.number] = answer
        group = self.asked[answer.number].group
        log = self.logs[group % len(self.logs)]
        if answer.failure is None:
            replicated = fold(log.entries[: log.high_watermark]).get(group, 0)
            assert answer.response <= replicated, self.told("answered before the high watermark")
            earlier = self.latest.get(group, 0)
            assert answer.response >= earlier, self.told("answered out of order")
            self.latest[group] = answer.response

    def _state_is_what_the_log_says(self) -> None:
        """What is replicated of the state is what the replicated part of the log says."""
        for partition, log in zip(self.coordinator.partitions, self.logs, strict=True):
            if partition.is_lost:
                continue
            until, now = known(partition)
            said = fold(log.entries[:until])
            assert now == said, self.told(f"{now} in the state, {said} in the log")

    def _locks_are_those_of_requests(self) -> None:
        """A key is held by as many as hold it: one, or some that share it."""
        state = self.coordinator
        for key, waiting in state.keys.items():
            holding = [each for each in state.tasks.values() if each.has_key and each.key == key]
            assert waiting.holders == len(holding), self.told(f"{key} is held {waiting.holders} x")
            alone = len(holding) <= 1 or all(each.request.is_commit for each in holding)
            assert alone, self.told(f"{key} is shared by {holding}")

    def left(self) -> dict[str, Any]:
        """What is held, waits or is not as the log says; nothing once nothing is on its way."""
        state = self.coordinator
        partitions = zip(state.partitions, self.logs, strict=True)
        found = {
            "workers": self.settings.workers - state.free,
            "keys": [key for key, each in state.keys.items() if each.tasks or each.holders],
            "tasks": state.tasks,
            "appends": state.appends,
            "resumed": state.resumed,
            "high watermarks": state.risen,
            "batches": [each for each in state.partitions if each.batch or each.closed],
            "undo": [each.undo for each in state.partitions if each.undo],
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
