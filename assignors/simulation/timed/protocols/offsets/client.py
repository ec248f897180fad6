"""What a consumer does about offsets: it fetches them, processes records, and commits.

A partition that is new to it begins at the committed offset, or at 0 where nothing is committed. Of
what it gives up in order it commits how far it came before the callback ends; of what it loses it
commits nothing. In between it commits by itself, or synchronously: then it stops until the answer
is there. A commit that is refused is lost; what has not been committed is processed again.

A commit by itself covers what the poll before the present one returned, so it lags by one poll.

Timers: `("commit",)`, the next commit; `("fetch",)`, when to ask for offsets once more;
`("blocked",)`, how long a synchronous commit may take. Numbers of requests count down from -1, so
that they are none of the member's.

Source: `ConsumerCoordinator`, `CommitRequestManager`, `OffsetFetcher` of Kafka's Java client;
Jepsen, "Bufstream 0.1.0" (2024), on what a commit by itself covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Cancel,
    Consume,
    Effect,
    Failed,
    Fired,
    MemberEvent,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.offsets.client_state import (
    Done,
    Identity,
    OffsetsClient,
    Partition,
    begin,
    finish,
    pairs,
)
from assignors.simulation.timed.protocols.offsets.flow import position
from assignors.simulation.timed.protocols.offsets.messages import (
    NO_OFFSET,
    CommitError,
    OffsetCommit,
    OffsetCommitResponse,
    OffsetFetch,
    OffsetFetchResponse,
)

COMMIT: tuple[str, ...] = ("commit",)
FETCH: tuple[str, ...] = ("fetch",)
BLOCKED: tuple[str, ...] = ("blocked",)
RETRY_MS = 100
"""`retry.backoff.ms`."""
REQUEST_MS = 30_000
"""`request.timeout.ms`: then an answer is waited for no longer."""


def follow(
    state: OffsetsClient, at_us: int, identity: Identity, effects: Iterable[Effect]
) -> list[Done]:
    """Return what a member's own effects lead to, those among them, in order.

    Cost: O(partitions that change).
    """
    out: list[Done] = []
    for effect in effects:
        out.append(effect)
        if isinstance(effect, Consume):
            _change(state, at_us, identity, effect, out)
    return out


def step(state: OffsetsClient, at_us: int, identity: Identity, event: MemberEvent) -> list[Done]:
    """Return what a member does about an event that concerns offsets alone.

    Cost: O(its partitions).
    """
    out: list[Done] = []
    match event:
        case Fired(("commit",)):
            _commit_again(state, at_us, identity, out)
        case Fired(("fetch",)):
            state.fetch = None
            _send_fetch(state, identity, out)
        case Fired(("blocked",)):
            _go_on(state, at_us, out)
        case Answered(number, OffsetFetchResponse() as response):
            if number == state.fetch:
                _fetched(state, at_us, identity, response, out)
        case Answered(number, OffsetCommitResponse(error)):
            _committed(state, at_us, identity, (number, error), out)
        case Failed(number):
            _failed(state, identity, number, out)
    return out


def is_about_offsets(event: MemberEvent) -> bool:
    """Return whether an event is one for `step`."""
    match event:
        case Answered(_, OffsetCommitResponse() | OffsetFetchResponse()):
            return True
        case Failed(number):
            return number < 0
        case Fired(key):
            return key in {COMMIT, FETCH, BLOCKED}
    return False


def _change(
    state: OffsetsClient, at_us: int, identity: Identity, effect: Consume, out: list[Done]
) -> None:
    """Begin and end partitions as the member does."""
    before, after = pairs(state.consumed), pairs(effect.owned)
    state.consumed = effect.owned
    gone = [each for each in before if each not in after]
    ended = finish(state, at_us, gone, effect.reason, out)
    state.wanted.difference_update(gone)
    for partition in gone:
        state.stopped.pop(partition, None)
        state.frozen.pop(partition, None)
    if effect.reason == "revoked" and state.config.commits_on_revoke and ended:
        state.in_callback.add(_send_commit(state, identity, ended, out))
    state.wanted.update(each for each in after if each not in before)
    if state.wanted and state.fetch is None:
        _send_fetch(state, identity, out)
    if not after:
        out.extend((Cancel(COMMIT), Cancel(FETCH), Cancel(BLOCKED)))
        state.is_timed, state.fetch, state.blocked_on = False, None, None
    elif not state.is_timed:
        _commit_later(state, out)


def _commit_later(state: OffsetsClient, out: list[Done]) -> None:
    interval = state.config.auto_commit_ms or state.config.sync_commit_ms
    state.is_timed = interval > 0
    if interval:
        out.append(Schedule(COMMIT, interval * MILLISECOND))


def _commit_again(state: OffsetsClient, at_us: int, identity: Identity, out: list[Done]) -> None:
    """Commit by itself, or stop and commit; both happen between two polls."""
    _commit_later(state, out)
    if state.is_in_long_poll:
        return
    if state.config.auto_commit_ms:
        polled_us = at_us - state.config.poll_ms * MILLISECOND
        offsets = {
            each: position(state.flows[each[0]], start, polled_us)
            for each, start in state.starts.items()
        }
        if offsets:
            _send_commit(state, identity, offsets, out)
    elif state.starts and state.blocked_on is None:
        offsets = finish(state, at_us, [*state.starts], "committing", out)
        state.blocked_on = _send_commit(state, identity, offsets, out)
        out.append(Schedule(BLOCKED, REQUEST_MS * MILLISECOND))


def _send_commit(
    state: OffsetsClient, identity: Identity, offsets: Mapping[Partition, int], out: list[Done]
) -> int:
    state.number -= 1
    request = OffsetCommit(
        identity.member_id,
        identity.generation,
        tuple((*partition, offset) for partition, offset in offsets.items()),
        state.config.instance_id if identity.member_id else None,
    )
    state.commits[state.number] = request
    out.append(Send(state.number, request))
    return state.number


def _committed(
    state: OffsetsClient,
    at_us: int,
    identity: Identity,
    answer: tuple[int, CommitError],
    out: list[Done],
) -> None:
    """Go on where it stopped for a commit; one with an epoch that is over is sent once more."""
    number, error = answer
    request = state.commits.get(number)
    if request is None:
        return
    is_newer = identity.generation > request.generation
    if number == state.blocked_on:
        _go_on(state, at_us, out)
    elif error is CommitError.STALE_MEMBER_EPOCH and is_newer:
        _send_again(state, identity, request, out)
    state.commits.pop(number, None)
    state.in_callback.discard(number)


def _send_again(
    state: OffsetsClient, identity: Identity, request: OffsetCommit, out: list[Done]
) -> int:
    return _send_commit(
        state, identity, {(topic, n): offset for topic, n, offset in request.offsets}, out
    )


def _failed(state: OffsetsClient, identity: Identity, number: int, out: list[Done]) -> None:
    """Ask again, and send again what the application waits for; other commits are lost."""
    if number == state.fetch:
        state.fetch = None
        out.append(Schedule(FETCH, RETRY_MS * MILLISECOND))
    request = state.commits.pop(number, None)
    if request is None:
        return
    if number == state.blocked_on:
        state.blocked_on = _send_again(state, identity, request, out)
    elif number in state.in_callback:
        state.in_callback.discard(number)
        state.in_callback.add(_send_again(state, identity, request, out))


def _go_on(state: OffsetsClient, at_us: int, out: list[Done]) -> None:
    """Process on from where the synchronous commit stands, whatever has become of that."""
    if state.blocked_on is None:
        return
    request = state.commits.pop(state.blocked_on)
    state.blocked_on = None
    out.append(Cancel(BLOCKED))
    held = pairs(state.consumed)
    for topic, partition, offset in request.offsets:
        if (topic, partition) in held and (topic, partition) not in state.wanted:
            begin(state, at_us, (topic, partition), offset, out)


def _send_fetch(state: OffsetsClient, identity: Identity, out: list[Done]) -> None:
    if not state.wanted:
        return
    state.number -= 1
    state.fetch = state.number
    partitions = tuple(sorted(state.wanted))
    if identity.names_epoch:
        request = OffsetFetch(partitions, identity.member_id, identity.generation)
    else:
        request = OffsetFetch(partitions)
    request = request._replace(requires_stable=state.config.requires_stable)
    out.append(Send(state.number, request))
    out.append(Schedule(FETCH, REQUEST_MS * MILLISECOND))


def _fetched(
    state: OffsetsClient,
    at_us: int,
    identity: Identity,
    response: OffsetFetchResponse,
    out: list[Done],
) -> None:
    """Begin where the answer says; what has no answer yet is asked for again."""
    state.fetch = None
    for topic, number, offset in response.offsets:
        partition = (topic, number)
        if partition in state.wanted and partition not in response.unstable:
            state.wanted.discard(partition)
            begin(state, at_us, partition, 0 if offset == NO_OFFSET else offset, out)
    is_refused = response.error is not CommitError.NONE or bool(response.unstable)
    if state.wanted and is_refused:
        out.append(Schedule(FETCH, RETRY_MS * MILLISECOND))
    elif state.wanted:
        _send_fetch(state, identity, out)
    else:
        out.append(Cancel(FETCH))
