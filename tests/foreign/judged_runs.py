"""Runs of timed scenarios as histories: all that reaches our coordinator, for Kafka's to play.

The order and the times are those of the run: which request comes when, which timer runs out, when
an append is replicated or fails, when another broker loads the log. Ids that ours gives out are
given to Kafka's as well, as they decide the order of members. Kafka counts milliseconds.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import pytest

from assignors.model import Cluster
from assignors.server.spec import made_id
from assignors.simulation.timed import simulation
from assignors.simulation.timed.faults import failovers
from assignors.simulation.timed.faults.failovers import CoordinatorLog
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    OUTSIDE,
    Append,
    AppendFailed,
    Arrived,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Record,
    Reply,
    Request,
    Schedule,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka.coordinator import load
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction
from assignors.simulation.timed.protocols.kafka.restore import Restored
from assignors.simulation.timed.protocols.kafka.state import CLOCK_STARTS_MS, GroupCoordinator
from assignors.simulation.timed.protocols.kafka.subscriptions import LOOKUP_KEY
from assignors.simulation.timed.run import Run
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.sides import KafkaSides
from assignors.simulation.timed.simulation import Played, simulate
from tests.foreign.operations import Operation, operation_of
from tests.foreign.plays import Step, answer_of, record_of

ASSIGNORS = {"server/uniform": "uniform", "server/range": "range"}
"""Those that Kafka's coordinator has too, with their names there."""
MINUTE_MS = 60_000
UUID_LENGTH = 36
"""Of the text of one, with which the ids of classic members end."""
TIMERS = {"session": "session-timeout", "rebalance": "rebalance-timeout"}
"""Our timers of consumer groups, with Kafka's names."""
BARRIERS = {"join": "join-barrier", "sync": "sync-barrier"}
"""Of classic groups: they have no member in their keys."""
"""Likewise of classic groups."""


def as_kafka_has_it(scenario: Scenario) -> Scenario:
    """Return the scenario with the nearest settings that Kafka's coordinator has too.

    It takes no assignor of ours, none beside its own, and has no topic without partitions.
    """
    broker = scenario.broker
    assignor = broker.assignor if broker.assignor in ASSIGNORS else "server/uniform"
    return replace(
        scenario,
        topics={name: max(partitions, 1) for name, partitions in scenario.topics.items()},
        broker=replace(
            broker,
            assignor=assignor,
            further_assignors=(
                assignor,
                *(each for each in broker.further_assignors if each in ASSIGNORS),
            ),
            max_size=max(broker.max_size, 1),
            offsets_retention_ms=max(broker.offsets_retention_ms // MINUTE_MS, 1) * MINUTE_MS,
            pattern_refresh_ms=max(broker.pattern_refresh_ms, 10_000),
        ),
    )


def is_smaller_again(scenario: Scenario) -> bool:
    """Return whether a topic is created again with fewer partitions.

    In Kafka it is another topic then, with another id; here it keeps its id, and Kafka's assignors
    throw where a member had a partition that is gone.
    """
    largest = dict(scenario.topics)
    for each in sorted(scenario.plan, key=lambda action: action.at_ms):
        if each.topic is not None and each.partitions:
            if each.partitions < largest.get(each.topic, 0):
                return True
            largest[each.topic] = each.partitions
    return False


def settings_of(scenario: Scenario) -> dict[str, str]:
    """Return a broker's settings as Kafka reads them."""
    broker = scenario.broker
    assignors = dict.fromkeys((broker.assignor, *broker.further_assignors))
    settings = {
        "group.initial.rebalance.delay.ms": broker.initial_delay_ms,
        "group.min.session.timeout.ms": 1,
        "group.max.session.timeout.ms": 2**31 - 1,
        "group.max.size": broker.max_size,
        "group.consumer.max.size": broker.max_size,
        "group.consumer.session.timeout.ms": broker.consumer_session_timeout_ms,
        "group.consumer.min.session.timeout.ms": broker.consumer_session_timeout_ms,
        "group.consumer.max.session.timeout.ms": broker.consumer_session_timeout_ms,
        "group.consumer.heartbeat.interval.ms": broker.consumer_heartbeat_interval_ms,
        "group.consumer.min.heartbeat.interval.ms": broker.consumer_heartbeat_interval_ms,
        "group.consumer.max.heartbeat.interval.ms": broker.consumer_heartbeat_interval_ms,
        "group.consumer.assignors": ",".join(ASSIGNORS[each] for each in assignors),
        "group.consumer.assignment.interval.ms": broker.assignment_interval_ms,
        "group.consumer.max.assignment.interval.ms": max(broker.assignment_interval_ms, 15_000),
        "group.consumer.migration.policy": broker.migration_policy.value,
        "group.consumer.regex.refresh.interval.ms": broker.pattern_refresh_ms,
        "offsets.retention.minutes": broker.offsets_retention_ms // MINUTE_MS,
        "offsets.retention.check.interval.ms": broker.offsets_check_ms,
    }
    return {key: str(value) for key, value in settings.items()}


@dataclass(slots=True, kw_only=True)
class History:
    """What has reached our coordinator, and what it did about it."""

    topics: dict[str, int]
    ops: list[Operation] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    asked: dict[int, tuple[int, Request]] = field(default_factory=dict)
    """Number of a request -> its operation, and the request."""
    outside: deque[tuple[int, Request, frozenset[int]]] = field(default_factory=deque)
    """The same of those from outside the group, which have no numbers: the first is answered
    first. With the tokens of its appends."""
    pending: dict[int, tuple[Record, ...]] = field(default_factory=dict)
    """Token of an append that is neither replicated nor lost -> its records."""
    appends: dict[int, int] = field(default_factory=dict)
    """Token of an append -> its number."""
    written: int = 0
    """How many appends there were."""
    ids: list[UUID] = field(default_factory=list)
    """Those that ours has given out in this step."""
    has_begun: bool = False
    clock: Callable[[], int] = lambda: 0
    """The time of the run in microseconds."""

    def add(self, op: Operation, at_us: int, effects: list[Effect]) -> None:
        """Note an operation and what ours did."""
        given = {"ids": [each.hex for each in self.ids]} if self.ids else {}
        self.ops.append({**op, "at": at_us // MILLISECOND, **given})
        step: Step = {"responses": [], "records": []}
        for effect in effects:
            match effect:
                case Reply(number):
                    is_outside = number == OUTSIDE
                    at, request = self.outside.popleft()[:2] if is_outside else self.asked[number]
                    step["responses"].append(answer_of(effect._replace(number=at), request))
                case Append(records, token):
                    self.appends[token] = self.written
                    self.pending[token] = records
                    self.written += 1
                    step["records"] += [record_of(each, CLOCK_STARTS_MS) for each in records]
        for answer in step["responses"]:
            if "partitions" in answer:
                answer["partitions"] = by_topic(answer["partitions"], 0)
        if op["op"] == "commit":
            step["records"] = by_topic(step["records"], "topic")
        self.steps.append(step)

    def note(self, at_us: int, event: CoordinatorEvent, effects: list[Effect]) -> None:
        """Note an event at the coordinator."""
        if not self.has_begun:
            # Ours begins to look for expired offsets with its first event, Kafka's before.
            self.has_begun = True
            self.add({"op": "fire", "timer": "offsets"}, at_us, [])
        match event:
            case Arrived(number, request):
                if number != OUTSIDE:
                    self.asked[number] = len(self.ops), request
                elif not isinstance(request, EndTransaction):
                    tokens = {each.token for each in effects if isinstance(each, Append)}
                    self.outside.append((len(self.ops), request, frozenset(tokens)))
                op = operation_of(request)
            case Fired(key):
                op = self._timer(key)
            case Committed(token):
                self.pending.pop(token, None)
                op = {"op": "replicated", "append": self.appends[token]}
            case AppendFailed(tokens):
                for token in tokens:
                    self.pending.pop(token, None)
                left = (each for each in self.outside if not each[2] & tokens)
                self.outside = deque(left)  # their sender asks again
                op = {"op": "failed", "appends": sorted(self.appends[each] for each in tokens)}
        self.add(op, at_us, effects)

    def _timer(self, key: TimerKey) -> Operation:
        """Return which timer of Kafka's runs out; it names those of classic groups differently."""
        if key == LOOKUP_KEY:
            return {"op": "tasks"}
        name, *of = key
        names = TIMERS if of else BARRIERS
        return {"op": "fire", "timer": names.get(name, name), "of": of[0] if of else ""}

    def change_topics(self, counts: dict[str, int]) -> None:
        """Note topics that are created, grow, or are deleted."""
        changed = dict.fromkeys(self.topics.keys() - counts.keys(), 0)
        changed |= {name: n for name, n in counts.items() if self.topics.get(name) != n}
        self.topics = counts
        self.add({"op": "topics", "topics": changed}, self.clock(), [])

    def lose(self, log: CoordinatorLog) -> None:
        """Note that the coordinator is lost, with what its log does not have: see `pending`."""
        left = {id(each) for each in log.entries()}
        gone = sorted(
            self.appends[token]
            for token, records in self.pending.items()
            if any(id(each) not in left for each in records)
        )
        self.add({"op": "lose", "lost": gone}, self.clock(), [])
        self.pending.clear()
        self.outside.clear()

    def request(self, scenario: Scenario) -> dict[str, Any]:
        """Return what the judge is asked."""
        created = (each.topic for each in scenario.plan if each.topic is not None)
        return {
            "algo": "coordinator",
            "broker": settings_of(scenario),
            "replicates": "later",
            # By an execution model timers wait for their turn like requests.
            "timers": "on time" if scenario.execution_model is None else "as told",
            "topicIds": {topic: made_id(topic) for topic in (*scenario.topics, *created)},
            "ops": self.ops,
        }


def by_topic(listed: list[Any], key: str | int) -> list[Any]:
    """Return what is listed as a message has it: topic by topic."""
    topics = [*dict.fromkeys(each[key] for each in listed)]
    return sorted(listed, key=lambda each: topics.index(each[key]))


def history(scenario: Scenario) -> tuple[History, Played]:
    """Return the history of a run of a scenario, and the run."""
    made = History(topics={})
    with watched(made):
        # Monitors would let the run go on after its end.
        played = simulate(
            scenario, keeps_history=True, queues_heartbeats=True, monitoring=Monitoring.OFF
        )
    return made, played


@contextmanager
def watched(made: History) -> Iterator[None]:
    """Note in `made` what the coordinator of a run does that is made meanwhile."""
    lose, keep = CoordinatorLog.lose_tail, CoordinatorLog.keep_tail

    prepare, step, change = simulation.prepared, Run.step_coordinator, KafkaSides.change_topics

    def prepared(scenario: Scenario, *given: Any, **more: Any) -> Run:
        run = prepare(scenario, *given, **more)
        made.clock = lambda: run.queue.now
        if isinstance(run.sides.coordinator, GroupCoordinator):
            _note_ids(made, run.sides.coordinator)
        made.change_topics(dict(scenario.topics))
        return run

    def step_coordinator(run: Run, event: CoordinatorEvent) -> list[Effect]:
        made.ids.clear()
        effects = step(run, event)
        made.note(run.queue.now, event, effects)
        return effects

    def change_topics(sides: KafkaSides, cluster: Cluster) -> bool:
        made.ids.clear()
        made.change_topics({n: each.partition_count for n, each in cluster.topics.items()})
        return change(sides, cluster)

    def loaded(coordinator: GroupCoordinator, log: Restored) -> list[Schedule]:
        made.add({"op": "reload"}, made.clock(), [])
        return load(coordinator, log)

    def lost(log: CoordinatorLog) -> int:
        count = lose(log)
        made.lose(log)
        return count

    def kept(log: CoordinatorLog) -> None:
        keep(log)
        made.lose(log)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(simulation, "prepared", prepared)
        patch.setattr(Run, "step_coordinator", step_coordinator)
        patch.setattr(KafkaSides, "change_topics", change_topics)
        patch.setattr(failovers, "load", loaded)
        patch.setattr(CoordinatorLog, "lose_tail", lost)
        patch.setattr(CoordinatorLog, "keep_tail", kept)
        yield


def _note_ids(made: History, coordinator: GroupCoordinator) -> None:
    new_id, new_uuid = coordinator.new_id, coordinator.new_uuid

    def noted(name: str) -> str:
        found = new_id(name)
        made.ids.append(UUID(found[-UUID_LENGTH:]))
        return found

    def noted_short() -> str:
        found = new_uuid()
        made.ids.append(UUID(bytes=urlsafe_b64decode(f"{found}==")))
        return found

    coordinator.new_id, coordinator.new_uuid = noted, noted_short
