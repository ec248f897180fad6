"""A world around a coordinator of real groups, in which anything may complete at any time.

Clients of several groups ask what clients ask (`tests.foreign.mixed_clients`), in both protocols.
What they are answered, what stands in the log and what each group is made of are compared after
each step, with the log alone as the oracle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from assignors.model import Cluster
from assignors.simulation.timed.execution.policy import Policy, Settings
from assignors.simulation.timed.execution.port import (
    Append,
    Appended,
    Asked,
    Check,
    Checked,
    Event,
    Handled,
    Linger,
    Lingered,
    Loaded,
    Lost,
    Park,
    Replicated,
    Request,
    State,
    TimedOut,
    Work,
    Worked,
    apply,
    fold,
)
from assignors.simulation.timed.hosting.groups import Ask, GroupTimer, Restarted, Unserved
from assignors.simulation.timed.hosting.host import HostEffect, host_of, step
from assignors.simulation.timed.hosting.live_group import HostSettings, LiveGroup, is_current
from assignors.simulation.timed.hosting.loading import log_of
from assignors.simulation.timed.offsets_topic import LogEntry
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Fired,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.effects import Request as GroupRequest
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction, OffsetCommit
from assignors.simulation.timed.protocols.kafka.offsets import CHECK
from assignors.simulation.timed.scenario import BrokerConfig
from tests.foreign.mixed_clients import Client, Habits, learn, next_of
from tests.simulation.timed.execution.log import Log
from tests.simulation.timed.execution.world import Appends, Choose
from tests.simulation.timed.hosting.facts import Made, agrees, facts, of_group
from tests.simulation.timed.hosting.printed import told

TOPICS = {"t": 4, "v": 3, "y": 2}
GROUPS = ("shop", "stock", "bill")
CLUSTER = Cluster.of(TOPICS)
START_MS = 1_700_000_000_000
HABITS = Habits(has_patterns=False, has_assignors=(), deletes_topics=False, restarts=0.05)
SETTINGS = HostSettings(
    cluster=CLUSTER,
    broker=BrokerConfig(initial_delay_ms=0, offsets_retention_ms=60_000, offsets_check_ms=15_000),
    clock_starts_ms=START_MS,
)


@dataclass
class World:
    """A coordinator of real groups, its logs, its clients, and what has not happened yet."""

    policy: Policy
    appends: Appends
    settings: Settings
    choose: Choose = Random(0).randrange
    random: Random = field(default_factory=lambda: Random(0))
    history: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.host = host_of(self.policy, SETTINGS, self.settings)
        self.host.model.handler = self._handle
        self.logs = [Log() for _ in range(self.settings.partitions)]
        self.batches: list[list[list[LogEntry]]] = [[] for _ in self.logs]
        self.pending: list[Event | Append] = []
        self.timers: dict[tuple[int, tuple[str, ...]], tuple[int, int]] = {}
        self.now_us = 0
        self.number = 0
        self.clients = {
            name: [Client(f"{name}-{n}", None, is_classic=n % 2 == 0) for n in range(3)]
            for name in GROUPS
        }
        for client in (each for group in self.clients.values() for each in group):
            client.restart(is_classic=client.is_classic)
        self.asked: dict[int, tuple[Client, int, GroupRequest]] = {}
        self.answers: dict[int, Reply | Unserved] = {}
        self.made: dict[int, Made] = {}
        self.latest: dict[str, int] = {}
        """Of each group the offset of the last record whose request has been answered."""
        self.answered_by: dict[int, int] = {}
        """Number of a request -> the event whose handling has answered it."""

    # What happens

    def ask(self) -> None:
        """Let a client ask what it asks next."""
        name = self.random.choice(GROUPS)
        client = self.random.choice(self.clients[name])
        _, request = next_of(self.random, HABITS, client, dict(TOPICS))
        if request is None or isinstance(request, EndTransaction):
            return
        if isinstance(request, OffsetCommit):
            request = request._replace(producer_id=-1)
        self.send(name, client, request, is_checked=self.choose(4) == 0)

    def send(
        self, name: str, client: Client, request: GroupRequest, *, is_checked: bool = False
    ) -> None:
        """Send a request of a client to a group."""
        self.number += 1
        self.asked[self.number] = client, client.life, request
        made = self.host.groups.request(self.number, name, self.now_us, request)
        self.happen(Asked(made._replace(is_checked=is_checked)))

    def happen(self, event: Event) -> None:
        """Let the coordinator see an event."""
        self.history.append(told(event))
        for effect in step(self.host, event):
            self._do(effect)

    @property
    def is_on_its_way(self) -> bool:
        """Whether anything is on its way."""
        return bool(self.pending) or any(log.high_watermark < log.end for log in self.logs)

    def go_on(self) -> bool:
        """Let one of the things happen that are on their way; return whether there was any."""
        high = [n for n, log in enumerate(self.logs) if log.high_watermark < log.end]
        if not self.pending and not high:
            return False
        chosen = self.choose(len(self.pending) + len(high))
        if chosen >= len(self.pending):
            self._replicate(high[chosen - len(self.pending)])
            return True
        event = self.pending[chosen]
        if isinstance(event, Append) and not self.appends.reorders:
            chosen = next(
                place
                for place, each in enumerate(self.pending)
                if isinstance(each, Append) and each.partition == event.partition
            )
        event = self.pending.pop(chosen)  # not `remove`: a tuple is equal to one of another type
        if isinstance(event, Append):
            self._append(event)
        else:
            self.happen(event)
        return True

    def advance(self, us: int) -> None:
        """Let time pass: timers run out, in order."""
        until = self.now_us + us
        while self.timers:
            key, (at, data) = min(self.timers.items(), key=lambda each: (each[1][0], each[0]))
            if at > until:
                break
            self.now_us = max(self.now_us, at)
            del self.timers[key]
            self.number += 1
            ask = Ask(self.now_us, Fired(key[1], data))
            self.happen(Asked(Request(self.number, key[0], ask, is_commit=False)))
        self.now_us = until

    def time_out(self) -> None:
        """Let a client wait no longer."""
        left = [each for each in self.asked if each not in self.answers]
        if left:
            self.happen(TimedOut(left[self.choose(len(left))]))

    def fail_over(self) -> None:
        """Let another broker take over a partition, with what is replicated, and give it back."""
        number = self.choose(len(self.logs))
        log = self.logs[number]
        log.truncate()
        batches = self.batches[number]
        batches[:] = [each for each in batches if each[0].offset < log.end]
        self.pending = [
            each
            for each in self.pending
            if not (isinstance(each, Append) and each.partition == number)
        ]
        self.happen(Lost(number))
        self.happen(Loaded(number, tuple(log.entries), log.end))

    def settle(self) -> None:
        """Let everything happen that is on its way; then time passes until nobody waits.

        Nobody asks any more, so all timers run out but those that look for expired offsets.
        """
        while True:
            while self.go_on():
                pass
            left = [at for (_, key), (at, _) in self.timers.items() if key != CHECK]
            waiting = self.asked.keys() - self.answers.keys()
            if not waiting:
                return
            assert left, self.told(f"{waiting} are not answered")
            self.advance(max(0, min(left) - self.now_us))

    # What follows

    def _do(self, effect: HostEffect) -> None:
        match effect:
            case Work(number):
                self.pending.append(Worked(number))
            case Check(number):
                passes = not self.appends.fails or self.choose(8) != 0
                self.pending.append(Checked(number, passes))
            case Append():
                self._asked_to_append(effect)
            case Linger(partition, batch):
                self.pending.append(Lingered(partition, batch))
            case Park(number):
                self.pending.append(TimedOut(number))
            case GroupTimer():
                self._set(effect)
            case Restarted(group):
                self.timers = {key: at for key, at in self.timers.items() if key[0] != group}
            case Reply() | Unserved():
                self._answered(effect)

    def _asked_to_append(self, append: Append) -> None:
        if self.appends.is_sync:
            self._append(append)
        else:
            self.pending.append(append)

    def _set(self, effect: GroupTimer) -> None:
        key = effect.group, effect.timer.key
        if isinstance(effect.timer, Schedule):
            self.timers[key] = self.now_us + max(effect.timer.after_us, 0), effect.timer.data
        else:
            self.timers.pop(key, None)

    def _append(self, append: Append) -> None:
        if self.appends.fails and self.choose(4) == 0:
            self.happen(Appended(append.token, None))
            return
        log = self.logs[append.partition]
        self._is_made_on_what_stands_before(append)
        at_ms = START_MS + self.now_us // MILLISECOND
        self.batches[append.partition].append(log_of(append.entries, log.end, at_ms))
        log.append(append.entries)
        completed = Appended(append.token, log.end)
        if self.appends.reorders:
            self.pending.append(completed)
        else:
            self.happen(completed)

    def _replicate(self, number: int) -> None:
        """Brokers copy whole batches, so a high watermark, and a log that is lost, ends at one."""
        log = self.logs[number]
        ends = [at for at in self.ends(number) if at > log.high_watermark]
        log.replicate(ends[self.choose(len(ends))])
        self.happen(Replicated(number, log.high_watermark))

    def ends(self, number: int) -> list[int]:
        """The offsets at which the log of a partition may end: behind its batches."""
        return [batch[-1].offset + 1 for batch in self.batches[number]]

    # What is compared

    def _handle(self, state: State, request: Request) -> Handled:
        """The groups' handler, watched: it changes no state, and may be asked again."""
        name = self.host.groups.names[request.group]
        before = of_group(state, name)
        kept = dict(state)
        handled = self.host.groups.handle(state, request)
        assert state == kept, self.told("a handler changes the state")
        after = facts(self.host.groups.live[request.group])
        self.made[request.number] = Made(
            not request.is_commit, before, handled.entries, name, after
        )
        for reply in handled.response:
            self.answered_by[reply.number] = request.number
        return handled

    def _is_made_on_what_stands_before(self, append: Append) -> None:
        """Each request's records are made on the records of its group that stand before them."""
        state = fold(self.logs[append.partition].entries)
        whose = {id(entry): made for made in self.made.values() for entry in made.entries}
        seen: set[int] = set()
        for entry in append.entries:
            made = whose[id(entry)]
            if id(made) not in seen and made.is_change:
                seen.add(id(made))
                now = of_group(state, made.group)
                assert now == made.before, self.told(f"{made.group}: an update is lost")
            apply(state, entry)

    def _answered(self, answer: Reply | Unserved) -> None:
        assert answer.number not in self.answers, self.told("answered twice")
        self.answers[answer.number] = answer
        client, life, request = self.asked[answer.number]
        if isinstance(answer, Unserved):
            client.waits = False
            return
        made = self.made[self.answered_by[answer.number]]
        values = [each.value for each in made.entries] + list(made.before.values())
        replicated = {id(e.value) for log in self.logs for e in log.entries[: log.high_watermark]}
        assert all(value is None or id(value) in replicated for value in values), self.told(
            f"{answer.number} is answered before the high watermark"
        )
        if made.entries:
            log = self.logs[self.host.groups.numbers[made.group] % len(self.logs)]
            at = next(at for at, entry in enumerate(log.entries) if entry is made.entries[-1])
            assert at >= self.latest.get(made.group, 0), self.told("answered out of order")
            self.latest[made.group] = at
        if life == client.life:
            learn(client, request, answer)

    def left(self) -> dict[str, Any]:
        """What is held, waits, or is not as the log has it; nothing once nothing is on its way."""
        model, groups = self.host.model, self.host.groups
        partitions = list(zip(model.partitions, self.logs, strict=True))
        found = {
            "workers": self.settings.workers - model.free,
            "keys": [key for key, each in model.keys.items() if each.tasks or each.holders],
            "tasks": model.tasks,
            "appends": model.appends,
            "states": [each.state for each, log in partitions if each.state != fold(log.entries)],
            "replies": groups.replies,
            "waiting": [each.waiting for each in groups.live.values() if each.waiting],
            "groups": [each.name for each in groups.live.values() if not self.is_as_logged(each)],
        }
        return {name: each for name, each in found.items() if each}

    def is_as_logged(self, live: LiveGroup) -> bool:
        """Whether a group is what the records of the log say; its offsets may follow later."""
        place = self.host.groups.numbers[live.name] % len(self.logs)
        records = of_group(self.host.model.partitions[place].state, live.name)
        return is_current(live, records) and agrees(live, self.logs[place].entries)

    def told(self, what: str = "") -> str:
        """The history so far."""
        return "\n".join([what, *self.history])
