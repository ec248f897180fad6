"""The coordinator executed by a model: its requests are events of `timed/coordinator`.

Whatever comes to the group's coordinator, a timer that runs out too, is a request of the model. Its
step is played when a worker has spent its time on it; what it writes is appended through the
model's log, and what waits for that (answers, timers) is done when the model answers. Other groups
ask beside it. Where an append fails, the group goes back to what is written.

Answers to JoinGroup and SyncGroup leave as soon as they are known: in Kafka too they are no results
of the event that leads to them, and so wait for nothing.

Source: `CoordinatorRuntime` and `GroupCoordinatorService` of Kafka 4.4.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from assignors.simulation.timed.execution import port
from assignors.simulation.timed.execution.policy import POLICIES, Lingers, Settings
from assignors.simulation.timed.execution.port import Entry, State
from assignors.simulation.timed.execution.state import Coordinator
from assignors.simulation.timed.execution.step import step
from assignors.simulation.timed.monitors.watch import saw_failover
from assignors.simulation.timed.network import MILLION
from assignors.simulation.timed.protocols.any_coordinator import note_written
from assignors.simulation.timed.protocols.classic.messages import (
    JoinGroupResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.consumer.assignment.patterns import LOOKUP_KEY
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    Append,
    AppendFailed,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Record,
    Reply,
    Schedule,
    TimerKey,
)
from assignors.simulation.timed.protocols.mixed.downgrade import OF_CLASSIC
from assignors.simulation.timed.protocols.offsets.coordinator import CHECK
from assignors.simulation.timed.protocols.offsets.messages import (
    EndTransaction,
    OffsetCommit,
    OffsetFetch,
)
from assignors.simulation.timed.random_streams import stream
from assignors.simulation.timed.running.coordinator import do_at_once, refuse, reply, take_note
from assignors.simulation.timed.running.execution_state import GROUP, Execution, LogEnd, Own
from assignors.simulation.timed.running.other_groups import OtherAsks, OtherGroups
from assignors.simulation.timed.running.run import Run
from assignors.simulation.timed.scenario import FaultKind, GroupProtocol

RETRY_US = 500 * MILLISECOND
"""So long after a failure a timer runs out once more (`CoordinatorTimerImpl` of Kafka)."""
AT_ONCE = (JoinGroupResponse, SyncGroupResponse)
"""Answers that wait for nothing."""

Event = Arrived | Fired | OtherAsks | port.Event


def executed(run: Run) -> Execution | None:
    """Return what executes a run's coordinator by a model, `None` if it has none."""
    broker = run.scenario.broker
    config = broker.execution
    if config.model is None:
        return None
    settings = Settings(
        workers=config.workers, partitions=config.partitions, linger=_lingers(config.linger_ms)
    )
    model = Coordinator.of(POLICIES[config.model], partial(_handled, run), settings)
    others = OtherGroups.of(broker, run.scenario.seed)
    run.network.is_executed = True
    note_written(run.sides.coordinator)
    first = others.next_at(config.others.from_ms * MILLISECOND)
    if first is not None:
        run.queue.put(first, (COORDINATOR, OtherAsks()))
    return Execution(model=model, others=others, logs=[LogEnd() for _ in range(config.partitions)])


def _lingers(linger_ms: int) -> Lingers:
    if linger_ms < 0:
        return Lingers.QUEUED
    return Lingers.TIMED if linger_ms else Lingers.NOT


def handle(run: Run, execution: Execution, event: Event) -> None:
    """Let something happen at the coordinator, and do what follows from it at this moment."""
    if isinstance(event, Arrived | Fired):
        _feed(run, execution, port.Asked(_asked(run, execution, event)))
    elif isinstance(event, OtherAsks):
        number = execution.next_number()
        request, execution.check_us[number] = execution.others.request(number)
        following = execution.others.next_at(run.queue.now)
        if following is not None:
            run.queue.put(following, (COORDINATOR, OtherAsks()))
        _feed(run, execution, port.Asked(request))
    else:
        _feed(run, execution, event)


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
    return port.Handled(own.entries, None)


def _is_result(event: Arrived | Fired, effect: Reply) -> bool:
    """Return whether an answer is the result of the event, which waits for what it has seen."""
    is_own = isinstance(event, Arrived) and effect.number == event.number
    return is_own and not isinstance(effect.response, AT_ONCE)


def _play(
    run: Run, execution: Execution, event: CoordinatorEvent, do: Callable[[Effect], None]
) -> None:
    """Play a step of the group's coordinator, now; `do` does what it asks for."""
    now, generation = run.queue.now, run.sides.generation()
    effects = run.sides.step_coordinator(now, event)
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
    do_at_once(run, effect)


# What becomes of appends


def _append(run: Run, execution: Execution, effect: port.Append) -> port.Event:
    """Append to the log of a partition, and return what has come of it; replicas follow later."""
    own = sum(isinstance(entry.key, tuple) and entry.key[0] != b"" for entry in effect.entries)
    records = [execution.unwritten.popleft() for _ in range(own)]
    now, end = run.queue.now, execution.logs[effect.partition]
    end.appends += 1
    if effect.partition == GROUP and _fails(run, end.appends):
        execution.figures.failed += now >= run.ledger.count_from
        execution.unwritten.clear()  # what was made on top of it fails with it
        return port.Appended(effect.token, None)
    if effect.partition == GROUP:
        note_written(run.sides.coordinator)
    if run.ledger.keeps_changes:
        run.records += [(now, record) for record in records]
    end.offset += len(effect.entries)
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
        if isinstance(each, Arrived):
            refuse(run, each.number)
        elif (after_us := _again_after_us(run, each.key)) is not None:
            run.queue.start((COORDINATOR, each.key), now + after_us, (COORDINATOR, each))


def _again_after_us(run: Run, key: TimerKey) -> int | None:
    """Return how long after the failure a timer runs out again."""
    is_classic = run.scenario.protocols == {GroupProtocol.CLASSIC}
    check_us = run.scenario.broker.offsets_check_ms * MILLISECOND
    return again_after_us(key, is_classic=is_classic, check_us=check_us)


def again_after_us(key: TimerKey, *, is_classic: bool, check_us: int) -> int | None:
    """Return how long after a failure a timer runs out again whose event could not be written.

    It does so in place of one that was started meanwhile (`CoordinatorTimerImpl` of Kafka). Timers
    of classic groups do not: what they did is done. Nor does a lookup of patterns, which is a task:
    the next heartbeat asks for another one.
    """
    if key == CHECK:
        return check_us
    return None if is_classic or key[0] == OF_CLASSIC or key == LOOKUP_KEY else RETRY_US
