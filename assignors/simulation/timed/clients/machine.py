"""The step of a client: one duty of one thread, or one thing that happens to it.

No model has code of its own. A model says which thread does which duty; that a rebalance waits for
`poll`, or that a record of a revoked partition may slip through, follows from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assignors.simulation.timed.clients.models import Duty, Model, Thread
from assignors.simulation.timed.clients.state import (
    OUTSIDE,
    Acknowledge,
    Alive,
    Arrived,
    Callback,
    Command,
    Commit,
    Committed,
    Completed,
    Effect,
    Event,
    Fenced,
    Fetch,
    Granted,
    Heartbeat,
    Identified,
    Join,
    Kind,
    News,
    Offsets,
    Phase,
    Place,
    Ran,
    Record,
    Returned,
    Run,
    Send,
    State,
)

Stepped = tuple[State, tuple[Effect, ...]]


def runs(model: Model, state: State) -> Iterator[Run]:
    """Yield the steps that threads can take now: one of the polling thread, any of the other."""
    row = _row(model, state)
    if state.place is Place.POLL:
        yield Run(Thread.POLLING, row[state.next_duty] if state.next_duty < len(row) else None)
    elif state.place in {Place.COMMIT, Place.CALLBACK}:
        duty = next((each for each in row if _has(state, each)), None)
        if state.result is not None:
            yield Run(Thread.POLLING, None)
        elif duty is not None:
            yield Run(Thread.POLLING, duty)
    elif state.place is Place.IDENTITY:
        yield Run(Thread.POLLING, None)
    is_blocked = model.blocks_for_callbacks and state.callbacks
    if not (is_blocked or (model.blocks_in_callbacks and state.calling)):
        for duty in model.other:
            if _has(state, duty):
                yield Run(Thread.OTHER, duty)


def step(model: Model, state: State, event: Event) -> Stepped:
    """Return the state after an event, and what the client asks for. Cost: O(state)."""
    if isinstance(event, Arrived):
        return state._replace(inbox=(*state.inbox, event.answer)), ()
    if isinstance(event, Command):
        return _COMMANDS[event](model, state)
    if event.duty is None:
        return _left(state)
    if not _has(state, event.duty):
        return state._replace(next_duty=state.next_duty + 1), ()
    return _DUTIES[event.duty](model, state, event.thread)


def _row(model: Model, state: State) -> tuple[Duty, ...]:
    waiting = dict.fromkeys((Place.COMMIT, Place.CALLBACK), model.waiting)
    return {Place.POLL: model.polling, **waiting}.get(state.place, ())


def _has(state: State, duty: Duty) -> bool:
    """Return whether there is something to do for this duty."""
    return _HAS[duty](state)


_GOES_ON = frozenset({Phase.NEWS, Phase.CALLED, Phase.GRANTED, Phase.FENCED, Phase.LOST})
"""Phases in which it is the client's turn."""

_HAS: dict[Duty, Callable[[State], bool]] = {
    Duty.READ: lambda state: bool(state.inbox),
    Duty.HEARTBEAT: lambda state: state.is_beat_due,
    Duty.RECONCILE: lambda state: state.phase in _GOES_ON and state.calling is None,
    Duty.CALLBACK: lambda state: bool(state.callbacks) and state.calling is None,
    Duty.COMMIT: lambda state: bool(state.commits) or _is_dirty(state),
    Duty.FETCH: lambda state: next(_fetchable(state), None) is not None,
    Duty.COLLECT: lambda state: bool(state.buffer) and state.collected is None,
}


def _poll(_: Model, state: State) -> Stepped:
    return state._replace(place=Place.POLL, next_duty=0, processed=state.positions), ()


def _commit(_: Model, state: State) -> Stepped:
    number = state.calls + 1
    commits = (*state.commits, (number, state.positions))
    return state._replace(place=Place.COMMIT, calls=number, commits=commits, result=None), ()


def _timeout(_: Model, state: State) -> Stepped:
    if state.place is Place.CALLBACK:
        return _called(state, is_accepted=None)
    assert state.place is Place.COMMIT
    return state._replace(place=Place.AWAY, result=None), (Completed(state.calls, None),)


def _read_identity(model: Model, state: State) -> Stepped:
    if model.reads_identity_whole:
        return state, (Identified(state.generation, state.owned),)
    return state._replace(place=Place.IDENTITY, seen_owned=state.owned), ()


def _beat(_: Model, state: State) -> Stepped:
    return state._replace(is_beat_due=True), ()


_COMMANDS: dict[Command, Callable[[Model, State], Stepped]] = {
    Command.POLL: _poll,
    Command.COMMIT: _commit,
    Command.TIMEOUT: _timeout,
    Command.READ_IDENTITY: _read_identity,
    Command.BEAT: _beat,
}


def _left(state: State) -> Stepped:
    """Leave the call in which the polling thread is."""
    if state.place is Place.CALLBACK:
        assert state.result is not None, "a callback ends when its commit is complete"
        return _called(state, is_accepted=state.result[1])
    away = state._replace(place=Place.AWAY, next_duty=0)
    if state.place is Place.POLL:
        return away._replace(collected=None), (Returned(state.collected),)
    if state.place is Place.COMMIT:
        assert state.result is not None, "a commit returns when its future is complete"
        return away._replace(result=None), (Completed(state.calls, state.result[1]),)
    identity = Identified(state.generation, state.seen_owned)
    return away._replace(seen_owned=frozenset()), (identity,)


def _read(model: Model, state: State, _: Thread) -> Stepped:
    answer, state = state.inbox[0], state._replace(inbox=state.inbox[1:])
    match answer:
        case Alive():
            return state, ()
        case News(target):
            return state._replace(phase=Phase.NEWS, target=target), ()
        case Fenced():
            return _fenced(model, state), ()
        case Granted(generation, offsets):
            target = frozenset(partition for partition, _ in offsets)
            granted = state._replace(phase=Phase.GRANTED, generation=generation, target=target)
            return granted._replace(granted_offsets=offsets), ()
        case Committed(number, is_accepted):
            return _completed(model, state, number, is_accepted=is_accepted), ()
        case Record():
            fetching = tuple(each for each in state.fetching if tuple(each) != tuple(answer))
            return state._replace(fetching=fetching, buffer=(*state.buffer, answer)), ()


def _fenced(model: Model, state: State) -> State:
    """Return the client that has read that it was removed; what it held it has yet to lose."""
    if state.phase in OUTSIDE:
        return state
    coming = [each.partitions for each in state.callbacks if each.kind is Kind.ASSIGNED]
    held = state.owned.difference(*coming)
    if state.phase is Phase.CALLED and model.forgets_when_called:
        held &= state.target
    return _owning(state, held)._replace(
        phase=Phase.FENCED,
        is_beat_due=False,
        paused=held,
        callbacks=() if model.drops_callbacks_when_fenced else state.callbacks,
    )


def _completed(model: Model, state: State, number: int, *, is_accepted: bool) -> State:
    if number == 0:
        return state._replace(is_auto_committing=False)
    is_awaited = state.place in {Place.COMMIT, Place.CALLBACK} and state.result is None
    if is_awaited and (number == state.calls or not model.matches_commits):
        return state._replace(result=(number, is_accepted))
    return state


def _heartbeat(_: Model, state: State, __: Thread) -> Stepped:
    return state._replace(is_beat_due=False), (Send(Heartbeat()),)


def _reconcile(model: Model, state: State, _: Thread) -> Stepped:
    if state.phase is Phase.NEWS:
        return _revoking(model, state)
    if state.phase is Phase.FENCED:
        return _losing(model, state)
    if state.phase is Phase.LOST:
        return state._replace(phase=Phase.JOINING), (Send(Join()),)
    if state.phase is Phase.CALLED:
        state = _owning(state, state.owned & state.target)
        return state._replace(phase=Phase.ACKNOWLEDGED), (Send(Acknowledge()),)
    added = state.target - state.owned
    first = _of(state.granted_offsets, added)
    state = state._replace(
        phase=Phase.ASSIGNING,
        owned=state.target,
        paused=state.paused | added,
        callbacks=(*state.callbacks, Callback(Kind.ASSIGNED, added)),
        positions=tuple(sorted((*state.positions, *first))),
        processed=tuple(sorted((*state.processed, *first))),
        auto_committed=tuple(sorted((*state.auto_committed, *first))),
        granted_offsets=(),
    )
    return state, ()


def _revoking(model: Model, state: State) -> Stepped:
    revoked = state.owned - state.target
    if not revoked:
        return state._replace(phase=Phase.CALLED), ()
    state = state._replace(
        phase=Phase.REVOKING if model.waits_for_callbacks else Phase.CALLED,
        paused=state.paused | revoked if model.pauses_before_revoking else state.paused,
        callbacks=(*state.callbacks, Callback(Kind.REVOKED, revoked)),
    )
    return state, ()


def _losing(model: Model, state: State) -> Stepped:
    if not state.owned:
        return state._replace(phase=Phase.LOST), ()
    lost = Callback(Kind.LOST if model.calls_lost else Kind.REVOKED, state.owned)
    return state._replace(phase=Phase.LOSING, callbacks=(*state.callbacks, lost)), ()


def _owning(state: State, kept: frozenset[int]) -> State:
    """Return the client with these of its partitions, and without what concerns the others."""
    return state._replace(
        owned=kept,
        paused=state.paused & kept,
        positions=_of(state.positions, kept),
        processed=_of(state.processed, kept),
        auto_committed=_of(state.auto_committed, kept),
        fetching=tuple(each for each in state.fetching if each.partition in kept),
    )


def _callback(model: Model, state: State, thread: Thread) -> Stepped:
    called = state.callbacks[0 if model.calls_in_order else -1]
    state = state._replace(callbacks=tuple(each for each in state.callbacks if each != called))
    if state.commits_in_callbacks and called.kind is Kind.REVOKED:
        number = state.calls + 1
        commits = (*state.commits, (number, state.positions))
        calling = state._replace(place=Place.CALLBACK, calling=called, commits=commits)
        return calling._replace(calls=number, result=None), ()
    return _after_callback(state, called), (Ran(called, thread, state.place is Place.POLL),)


def _called(state: State, *, is_accepted: bool | None) -> Stepped:
    """End the callback that has waited for its commit."""
    called = state.calling
    assert called is not None, "a callback is going on"
    done = Completed(state.calls, is_accepted)
    state = state._replace(place=Place.POLL, calling=None, result=None)
    return _after_callback(state, called), (done, Ran(called, Thread.POLLING, is_in_poll=True))


def _after_callback(state: State, called: Callback) -> State:
    if called.kind is Kind.ASSIGNED:
        return state._replace(phase=Phase.STEADY, paused=frozenset())
    if state.phase is Phase.LOSING:
        return _owning(state, frozenset())._replace(phase=Phase.LOST)
    if state.phase is Phase.FENCED:
        return _owning(state, state.owned - called.partitions)
    return state._replace(phase=Phase.CALLED) if state.phase is Phase.REVOKING else state


def _send_commit(model: Model, state: State, _: Thread) -> Stepped:
    if state.commits:
        (number, offsets), *rest = state.commits
        request = Commit(number, state.generation, offsets)
        return state._replace(commits=tuple(rest)), (Send(request),)
    offsets = state.processed if model.commits_previous_polls else state.positions
    state = state._replace(is_auto_committing=True, auto_committed=state.processed)
    return state, (Send(Commit(0, state.generation, offsets)),)


def _is_dirty(state: State) -> bool:
    """Return whether an automatic commit has something to commit."""
    return not state.is_auto_committing and state.processed != state.auto_committed


def _fetch(_: Model, state: State, __: Thread) -> Stepped:
    request = next(_fetchable(state))
    return state._replace(fetching=(*state.fetching, request)), (Send(request),)


def _fetchable(state: State) -> Iterator[Fetch]:
    busy = {each.partition for each in state.fetching}
    busy |= {each.partition for each in state.buffer}
    for partition, offset in state.positions:
        if partition in state.owned - state.paused and partition not in busy:
            yield Fetch(partition, offset)


def _collect(model: Model, state: State, _: Thread) -> Stepped:
    record, state = state.buffer[0], state._replace(buffer=state.buffer[1:])
    position = dict(state.positions).get(record.partition)
    is_owned = record.partition in state.owned - state.paused and position == record.offset
    if model.checks_when_collecting and not is_owned:
        return state, ()
    positions = dict(state.positions)
    if position is not None:
        positions[record.partition] = record.offset + 1
    return state._replace(collected=record, positions=tuple(sorted(positions.items()))), ()


_DUTIES: dict[Duty, Callable[[Model, State, Thread], Stepped]] = {
    Duty.READ: _read,
    Duty.HEARTBEAT: _heartbeat,
    Duty.RECONCILE: _reconcile,
    Duty.CALLBACK: _callback,
    Duty.COMMIT: _send_commit,
    Duty.FETCH: _fetch,
    Duty.COLLECT: _collect,
}


def _of(offsets: Offsets, partitions: frozenset[int]) -> Offsets:
    return tuple(each for each in offsets if each[0] in partitions)
