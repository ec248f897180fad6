"""The host of the group's coordinator: what comes to it, its steps, and what they ask for.

Without an execution model one request is handled after the other. An event is played, what its step
asks for is done, and the run takes note of it. Answers leave once it is handled, records are
committed once replicated.

With a model (`timed/execution`), whatever comes to the coordinator, a timer that runs out too, is a
request of the model. Its step is played when a worker has spent its time on it; what it writes is
appended through the model's log, and what waits for that (answers, timers) is done when the model
answers. Other groups ask beside it. Where an append fails, the group goes back to what is written.
Answers to JoinGroup and SyncGroup leave as soon as they are known: in Kafka too they are no results
of the event that leads to them, and so wait for nothing.

Source: `CoordinatorRuntime` and `GroupCoordinatorService` of Kafka 4.4.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from assignors.simulation.timed.execution import port
from assignors.simulation.timed.execution.policy import POLICIES, Lingers, Settings
from assignors.simulation.timed.execution.port import Entry, State
from assignors.simulation.timed.execution.state import Coordinator
from assignors.simulation.timed.execution.step import step
from assignors.simulation.timed.faults.failovers import LOADED, OLD, Failovers
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.monitors.watch import saw_coordinator, saw_failover, saw_restriction
from assignors.simulation.timed.network import MILLION
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    OUTSIDE,
    Append,
    AppendFailed,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Failed,
    Failure,
    Fired,
    Record,
    Reply,
    Restrict,
    Schedule,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka import classic_group
from assignors.simulation.timed.protocols.kafka.classic import JOIN, SYNC
from assignors.simulation.timed.protocols.kafka.messages import (
    EndTransaction,
    ErrorCode,
    HeartbeatResponse,
    JoinGroupResponse,
    OffsetCommit,
    OffsetFetch,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.offsets import CHECK
from assignors.simulation.timed.protocols.kafka.subscriptions import LOOKUP_KEY
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.random_streams import stream
from assignors.simulation.timed.run import (
    GROUP,
    Execution,
    LogEnd,
    OtherAsks,
    OtherGroups,
    Own,
    Run,
)
from assignors.simulation.timed.scenario import FaultKind

UNAVAILABLE = HeartbeatResponse(ErrorCode.COORDINATOR_NOT_AVAILABLE)
"""Stands for that answer to a request of any type."""
SESSION = Rank.SESSION
SESSIONS = frozenset({"session", classic_group.SESSION})
"""What the keys of timers begin with by which a member must have sent a heartbeat."""
RETRY_US = 500 * MILLISECOND
"""So long after a failure a timer runs out once more (`CoordinatorTimerImpl` of Kafka)."""
UNDELAYED = (JoinGroupResponse, SyncGroupResponse)
"""Answers that wait for no record."""

Event = Arrived | Fired | OtherAsks | port.Event


def handle(run: Run, event: Any) -> None:  # noqa: ANN401 - what the queue has for it
    """Let something happen at the coordinator, and do what follows from it at this moment.

    Cost: that of the protocol's step.
    """
    if run.execution is None:
        _serve(run, event)
    else:
        _execute(run, run.execution, event)


# Without an execution model


def _serve(run: Run, event: CoordinatorEvent) -> None:
    """Let the coordinator handle an event, after what came before it."""
    now, failovers = run.queue.now, run.faults.failovers
    leaves = run.network.handled(now, event, run.scenario.broker.service_us)
    generation = run.sides.generation()
    effects = None if failovers is None else _without_coordinator(run, failovers, event)
    if effects is None:
        if failovers is not None and type(event) is Arrived:
            failovers.log.note_end(event.request)
        effects = run.step_coordinator(event)
    for effect in effects:
        DO[type(effect)](run, leaves, effect)
    take_note(run, event, effects, generation)


def _without_coordinator(
    run: Run, failovers: Failovers, event: CoordinatorEvent
) -> list[Effect] | None:
    """Return what an event leads to where the coordinator is lost, loads, or has just loaded.

    `None`: there is one, which handles it.
    """
    effects = failovers.effects(event)
    if event == LOADED:
        saw_failover(run.watch, failovers.log.records())
        if run.execution is not None:
            _let_model_load(run, run.execution, failovers)
    return effects


def take_note(
    run: Run, event: CoordinatorEvent, effects: list[Effect], generation: int
) -> list[str]:
    """Take note of a step whose effects are done; `generation` is the one before it.

    Returns the ids of the members that it removed.
    """
    now = run.queue.now
    turns = run.meter.count(now, run.sides, generation)
    if run.heartbeats is not None:
        run.heartbeats.look()
    removed = run.faults.note_removed()
    if run.watch is not None:
        saw_coordinator(run.watch, (run.queue.count, now), event, effects, turns=turns)
    if run.observe is not None:
        run.observe(Seen(run.queue.count, now, None, event, effects))
    return removed


def _write(run: Run, leaves: int, effect: Append) -> None:
    if run.faults.failovers is not None:
        run.faults.failovers.log.append(effect.records, effect.token)
    _keep(run, effect.records)
    replicated = leaves + run.scenario.broker.append_us
    run.queue.put(replicated, (COORDINATOR, Committed(effect.token)))


def _schedule(run: Run, _leaves: int, effect: Schedule) -> None:
    key = effect.key
    run.start_timer(COORDINATOR, effect, SESSION if key[0] in SESSIONS else None, key[-1])


def _cancel(run: Run, _leaves: int, effect: Cancel) -> None:
    run.queue.stop((COORDINATOR, effect.key))


def _restrict(run: Run, _leaves: int, effect: Restrict) -> None:
    run.faults.restrict(effect)
    saw_restriction(run.watch, effect)


def reply(run: Run, leaves: int, effect: Reply) -> None:
    """Send the answer to a request, at `leaves`; it may get lost on its way."""
    heartbeats, (number, response) = run.heartbeats, effect
    waiting = None if heartbeats is None else run.network.in_flight.get(number)
    if heartbeats is not None and waiting is not None and waiting[0] in heartbeats.resting:
        heartbeats.wake(waiting[0])
    answer = run.network.answer(leaves, number, response)
    if answer is not None:
        returns, rank, member, answered = answer
        run.queue.put(returns, (member, answered), rank, member)


def refuse(run: Run, number: int) -> None:
    """Send the answer that the coordinator is not available, now; it may get lost on its way."""
    answer = run.network.answer(run.queue.now, number, UNAVAILABLE)
    if answer is not None:
        returns, rank, member, answered = answer
        run.queue.put(returns, (member, Failed(answered.number, Failure.REFUSED)), rank, member)


def _keep(run: Run, records: Iterable[Record | EndTransaction]) -> None:
    """Keep the records of an append, with their time, if the run keeps its history."""
    if run.ledger.keeps_changes:
        now = run.queue.now
        run.records += [(now, each) for each in records if not isinstance(each, EndTransaction)]


DO: dict[type, Callable[[Run, int, Any], None]] = {
    Reply: reply,
    Append: _write,
    Schedule: _schedule,
    Cancel: _cancel,
    Restrict: _restrict,
}
"""What the coordinator may ask for, by type: the run, when answers and records leave, what."""


# With an execution model


def executed(run: Run) -> Execution | None:
    """Return what executes a run's coordinator by a model, `None` if it has none."""
    broker, chosen = run.scenario.broker, run.scenario.execution_model
    config = broker.execution
    if chosen is None:
        return None
    settings = Settings(
        workers=config.workers, partitions=config.partitions, linger=_lingers(config.linger_ms)
    )
    model = Coordinator.of(POLICIES[chosen], partial(_handled, run), settings)
    others = OtherGroups.of(broker, run.scenario.seed)
    run.network.is_executed = True
    run.sides.note_written()
    first = others.next_at(config.others.from_ms * MILLISECOND)
    if first is not None:
        run.queue.put(first, (COORDINATOR, OtherAsks()))
    logs = [LogEnd() for _ in range(config.partitions)]
    execution = Execution(model=model, others=others, logs=logs)
    if run.faults.failovers is not None:
        run.faults.failovers.lose_model = partial(_lose, run, execution)
    return execution


def _lingers(linger_ms: int) -> Lingers:
    if linger_ms < 0:
        return Lingers.QUEUED
    return Lingers.TIMED if linger_ms else Lingers.NOT


def _execute(run: Run, execution: Execution, event: Event) -> None:
    failovers = run.faults.failovers
    if isinstance(event, Arrived | Fired):
        if failovers is not None and _is_done_without(run, failovers, event):
            return
        _feed(run, execution, port.Asked(_asked(run, execution, event)))
    elif isinstance(event, OtherAsks):
        number = execution.next_number()
        request, execution.check_us[number] = execution.others.request(number)
        following = execution.others.next_at(run.queue.now)
        if following is not None:
            run.queue.put(following, (COORDINATOR, OtherAsks()))
        _feed(run, execution, port.Asked(request))
    else:
        if failovers is not None and isinstance(event, port.Replicated) and not event.partition:
            failovers.log.replicate_until(event.high_watermark)
        _feed(run, execution, event)


def _is_done_without(run: Run, failovers: Failovers, event: Arrived | Fired) -> bool:
    """Do what an event leads to where the coordinator is lost or loads; return whether it is."""
    generation = run.sides.generation()
    effects = _without_coordinator(run, failovers, event)
    if effects is None:
        return False
    leaves = run.queue.now + run.scenario.broker.service_us
    for effect in effects:
        DO[type(effect)](run, leaves, effect)
    take_note(run, event, effects, generation)
    return True


def _asked(run: Run, execution: Execution, event: Arrived | Fired) -> port.Request:
    """Return what the model is asked for."""
    config, number = run.scenario.broker.execution, execution.next_number()
    execution.own[number] = Own(event=event, at=run.queue.now)
    if isinstance(event, Fired):
        execution.run_out[event.key] = number
        goes_first = not config.timers_wait
        return port.Request(number, GROUP, None, is_commit=False, goes_first=goes_first)
    request = event.request
    is_checked = isinstance(request, OffsetCommit) and request.is_transactional
    if is_checked:
        execution.check_us[number] = execution.others.check_us(config.check_us)
    is_commit = isinstance(request, OffsetCommit | OffsetFetch)
    return port.Request(number, GROUP, None, is_checked, is_commit, is_transactional=is_checked)


def _feed(run: Run, execution: Execution, event: port.Event) -> None:
    """Let the model see an event, and do what it asks for, as far as that takes no time."""
    now, todo = run.queue.now, deque([event])
    figures = execution.figures
    while todo:
        failed: list[Own] = []
        for effect in step(execution.model, todo.popleft()):
            if isinstance(effect, port.Answer):
                failed += _answered(run, execution, effect)
            elif isinstance(effect, port.Append):
                todo.append(_append(run, execution, effect))
            else:
                takes, follows = _takes(run, execution, effect)
                if takes:
                    run.queue.put(now + takes, (COORDINATOR, follows))
                else:
                    todo.append(follows)
        if now >= run.ledger.count_from:
            figures.waiting_max = max(figures.waiting_max, len(execution.model.tasks))
        if failed:
            _go_back(run, execution, failed)


def _takes(run: Run, execution: Execution, effect: port.Effect) -> tuple[int, port.Event]:
    """Return how many microseconds something takes, and the event at its end."""
    broker = run.scenario.broker
    config = broker.execution
    if isinstance(effect, port.Work):
        takes = broker.service_us + effect.is_handed_off * config.handoff_us
        return takes, port.Worked(effect.number)
    if isinstance(effect, port.Check):
        return execution.check_us.pop(effect.number), port.Checked(effect.number)
    assert isinstance(effect, port.Linger), effect
    takes = config.linger_ms * MILLISECOND
    return takes, port.Lingered(effect.partition, effect.batch)


# Steps of the group's coordinator


def _handled(run: Run, _: State, request: port.Request) -> port.Handled:
    """Play the step of a request of the group; one of another group writes its number."""
    execution = run.execution
    assert execution is not None, "the model that asks executes the run"
    own = execution.own.get(request.number)
    if own is None:
        return port.Handled((Entry(request.group, request.number),), None)
    own.is_handled = True
    event = own.event
    if isinstance(event, Fired):
        if execution.run_out.get(event.key) != request.number:
            del execution.own[request.number]  # started anew, or stopped, while it waited
            return port.Handled((), None)
        del execution.run_out[event.key]
    records: list[Record | EndTransaction] = []
    if isinstance(event, Arrived) and isinstance(event.request, EndTransaction):
        records.append(event.request)

    def do(effect: Effect) -> None:
        if isinstance(effect, Append):
            own.tokens.append(effect.token)
            records.extend(effect.records)
        elif isinstance(effect, Reply) and _is_result(event, effect):
            own.replies.append(effect)
        else:
            _do_at_once(run, execution, effect)

    _play(run, execution, event, do)
    own.entries = tuple(map(execution.entry, records))
    execution.unwritten += records
    return port.Handled(own.entries, None)


def _is_result(event: Arrived | Fired, effect: Reply) -> bool:
    """Return whether an answer is the result of the event, which waits for what it has seen."""
    is_own = isinstance(event, Arrived) and effect.number == event.number
    return is_own and not isinstance(effect.response, UNDELAYED)


def _play(
    run: Run, execution: Execution, event: CoordinatorEvent, do: Callable[[Effect], None]
) -> None:
    """Play a step of the group's coordinator, now; `do` does what it asks for."""
    now, generation = run.queue.now, run.sides.generation()
    effects = run.step_coordinator(event)
    for effect in effects:
        do(effect)
    removed = take_note(run, event, effects, generation)
    if isinstance(event, Fired) and now >= run.ledger.count_from:
        execution.figures.evictions += sum(map(execution.is_waiting, removed))


def _do_at_once(run: Run, execution: Execution, effect: Effect) -> None:
    """Do what waits for nothing; a timer that is set counts no more where it has run out."""
    if isinstance(effect, Reply):
        reply(run, run.queue.now, effect)
        return
    if isinstance(effect, Schedule | Cancel):
        execution.run_out.pop(effect.key, None)
    DO[type(effect)](run, run.queue.now, effect)


# What becomes of appends


def _append(run: Run, execution: Execution, effect: port.Append) -> port.Event:
    """Append to the log of a partition, and return what has come of it; replicas follow later."""
    own = sum(isinstance(entry.key, tuple) for entry in effect.entries)
    records = tuple(execution.unwritten.popleft() for _ in range(own))
    now, end = run.queue.now, execution.logs[effect.partition]
    end.appends += 1
    if effect.partition == GROUP and _fails(run, end.appends):
        execution.figures.failed += now >= run.ledger.count_from
        execution.unwritten.clear()  # what was made on top of it fails with it
        return port.Appended(effect.token, None)
    end.offset += len(effect.entries)
    if effect.partition == GROUP:
        run.sides.note_written()
        if records and run.faults.failovers is not None:
            run.faults.failovers.log.append(records, end.offset)
    _keep(run, records)
    end.replicated_at = max(end.replicated_at, now + execution.others.replication_us())
    replicated = port.Replicated(effect.partition, end.offset)
    run.queue.put(end.replicated_at, (COORDINATOR, replicated))
    return port.Appended(effect.token, end.offset)


def _fails(run: Run, append: int) -> bool:
    """Return whether an append of this number fails now."""
    now_ms, dice = run.queue.now // MILLISECOND, stream(run.scenario.seed, "appends", f"{append}")
    return any(
        dice.below(MILLION) < fault.percent * MILLION / 100
        for fault in run.scenario.faults
        if fault.kind is FaultKind.APPEND_FAILURE and fault.from_ms <= now_ms < fault.until_ms
    )


def _answered(run: Run, execution: Execution, answer: port.Answer) -> list[Own]:
    """Do what has waited for the records of a request; return it if these are not written."""
    own = execution.own.pop(answer.number, None)
    execution.check_us.pop(answer.number, None)
    if own is None:
        return []
    if answer.failure is not None:
        return [own]
    _count(run, execution, own)
    for token in own.tokens:
        _play(run, execution, Committed(token), lambda each: _do_at_once(run, execution, each))
    for each in own.replies:
        _do_at_once(run, execution, each)
    return []


def _count(run: Run, execution: Execution, own: Own) -> None:
    now, figures = run.queue.now, execution.figures
    if now < run.ledger.count_from or isinstance(own.event, Fired):
        return
    figures.requests_us.append(now - own.at)
    if isinstance(own.event.request, OffsetCommit) and own.tokens:
        figures.commits_us.append(now - own.at)


def _go_back(run: Run, execution: Execution, failed: list[Own]) -> None:
    """Take the group back to what is written, and answer those whose requests came to nothing."""
    tokens = frozenset(token for own in failed for token in own.tokens)
    if tokens:
        records = execution.written()
        saw_failover(run.watch, [r for r in records if not isinstance(r, EndTransaction)])
        event = AppendFailed(tokens, records)
        _play(run, execution, event, lambda each: _do_at_once(run, execution, each))
    now = run.queue.now
    for each in (own.event for own in failed):
        if isinstance(each, Arrived) and each.number == OUTSIDE:
            run.queue.put(now + RETRY_US, (COORDINATOR, each))
        elif isinstance(each, Arrived):
            refuse(run, each.number)
        elif (after_us := _again_after_us(run, each.key)) is not None:
            run.queue.start((COORDINATOR, each.key), now + after_us, (COORDINATOR, each))


def _again_after_us(run: Run, key: TimerKey) -> int | None:
    """Return how long after the failure a timer runs out again."""
    check_us = run.scenario.broker.offsets_check_ms * MILLISECOND
    return again_after_us(key, check_us=check_us)


def again_after_us(key: TimerKey, *, check_us: int) -> int | None:
    """Return how long after a failure a timer runs out again whose event could not be written.

    It does so in place of one that was started meanwhile (`CoordinatorTimerImpl` of Kafka). Timers
    of classic groups do not: what they did is done. Nor does a lookup of patterns, which is a task:
    the next heartbeat asks for another one.
    """
    if key == CHECK:
        return check_us
    is_classic = key in {JOIN, SYNC} or key[0] == classic_group.SESSION
    return None if is_classic or key == LOOKUP_KEY else RETRY_US


# Another broker becomes the coordinator. The model goes on as that of the next broker, whose other
# partitions are as busy


def _lose(run: Run, execution: Execution, *, goes_on: bool) -> None:
    """Let the model lose the group's partition: what it has of the group comes to nothing.

    `goes_on`: the old coordinator does not know of it, and handles what waits at its model.
    """
    left = execution.forget()
    _feed(run, execution, port.Lost(GROUP))
    for event in left:
        if goes_on and isinstance(event, Fired):
            old = Fired((OLD, *event.key), event.data)
            run.queue.put(run.queue.now, (COORDINATOR, old))
        elif isinstance(event, Arrived) and (goes_on or event.number == OUTSIDE):
            run.queue.put(run.queue.now, (COORDINATOR, event))


def _let_model_load(run: Run, execution: Execution, failovers: Failovers) -> None:
    """Let the model lead the group's partition again, with what the log says. Cost: O(records)."""
    end = execution.logs[GROUP]
    entries = tuple(map(execution.entry, failovers.log.entries()))
    end.replicated_at = run.queue.now
    _feed(run, execution, port.Loaded(GROUP, entries, end.offset))
