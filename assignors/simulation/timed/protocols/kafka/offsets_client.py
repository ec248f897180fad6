"""What a consumer does about offsets: it fetches them, processes records, and commits.

A partition that is new to it begins at the committed offset, or at 0 where nothing is committed. Of
what it gives up in order it commits how far it came before the callback ends; of what it loses it
commits nothing. In between it commits by itself, or synchronously: then it stops until the answer
is there. A commit that is refused is lost; what has not been committed is processed again.

A commit by itself covers what the poll before the present one returned, so it lags by one poll.

Nothing is simulated record by record. Records are written to a partition at an even rate from the
beginning of the run on; a member processes them at an even rate too, until it has caught up. Every
offset is an integer, rounded down, and follows from the moment alone (`Flow`).

Timers: `("commit",)`, the next commit; `("fetch",)`, when to ask for offsets once more;
`("blocked",)`, how long a synchronous commit may take. Numbers of requests count down from -1, so
that they are none of the member's.

Source: `ConsumerCoordinator`, `CommitRequestManager`, `OffsetFetcher` of Kafka's Java client;
Jepsen, "Bufstream 0.1.0" (2024), on what a commit by itself covers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Cancel,
    Consume,
    Disturbance,
    Disturbed,
    Effect,
    Failed,
    Fired,
    MemberEvent,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    NO_OFFSET,
    ErrorCode,
    OffsetCommit,
    OffsetCommitResponse,
    OffsetFetch,
    OffsetFetchResponse,
)
from assignors.simulation.timed.scenario import MemberConfig
from wire import TopicPartitions

SECOND = 1_000_000
"""In microseconds."""


class Flow(NamedTuple):
    """The rates of one topic, in records a second and partition."""

    written: int
    processed: int


class Start(NamedTuple):
    """Where a member began to process a partition, and when."""

    offset: int
    at_us: int


def end_offset(flow: Flow, at_us: int) -> int:
    """Return how many records have been written to a partition.

    >>> end_offset(Flow(written=10, processed=20), 1_500_000)
    15
    """
    return at_us * flow.written // SECOND


def position(flow: Flow, start: Start, at_us: int) -> int:
    """Return the offset of the next record to process, for a member that began at `start`.

    Never less than where it began, never beyond the end. Cost: O(1).

    >>> [position(Flow(10, 20), Start(0, 1_000_000), at) for at in (0, 1_200_000, 9_000_000)]
    [0, 4, 90]
    """
    came = start.offset + (at_us - start.at_us) * flow.processed // SECOND
    return max(start.offset, min(came, end_offset(flow, at_us)))


Partition = tuple[str, int]


class Identity(NamedTuple):
    """Who a member is to its coordinator now."""

    member_id: str
    generation: int
    """Generation or epoch; -1 outside a group."""
    names_epoch: bool
    """Whether fetches of offsets name member and epoch, as those of KIP-848 do."""


class Begin(NamedTuple):
    """A consumer begins to process a partition at an offset."""

    partition: Partition
    offset: int


class Finish(NamedTuple):
    """A consumer has processed a partition up to an offset, and goes no further."""

    partition: Partition
    offset: int
    reason: str


Done = Effect | Begin | Finish


@dataclass(slots=True, kw_only=True)
class OffsetsClient:
    """What a consumer knows of offsets."""

    config: MemberConfig
    flows: Mapping[str, Flow]
    consumed: TopicPartitions = field(default_factory=dict)
    starts: dict[Partition, Start] = field(default_factory=dict)
    """What it processes, and since when."""
    stopped: dict[Partition, int] = field(default_factory=dict)
    """What brokers do not let it fetch, and how far it came."""
    wanted: set[Partition] = field(default_factory=set)
    """What it consumes and does not know the offset of."""
    number: int = 0
    """Of its last request."""
    fetch: int | None = None
    """The fetch of offsets that waits for an answer."""
    blocked_on: int | None = None
    """The synchronous commit that waits for an answer."""
    is_timed: bool = False
    """Whether the timer of the next commit runs."""
    commits: dict[int, OffsetCommit] = field(default_factory=dict)
    """Commits that wait for an answer."""
    in_callback: set[int] = field(default_factory=set)
    """Those of them that were sent in a callback: they are sent again until they are answered."""
    is_in_long_poll: bool = False
    """Its application does not come back to poll, where it would commit."""
    frozen: dict[Partition, int] = field(default_factory=dict)
    """What it will process when its process goes on, and from which offset."""
    holds: int = 0
    """How many faults keep it from processing."""


def pairs(partitions: TopicPartitions) -> dict[Partition, None]:
    """Return the partitions one by one, in order. Cost: O(partitions)."""
    return {(topic, number): None for topic, numbers in partitions.items() for number in numbers}


def finish(
    state: OffsetsClient, at_us: int, gone: Iterable[Partition], reason: str, out: list[Done]
) -> dict[Partition, int]:
    """Stop to process partitions; return how far each came."""
    ended: dict[Partition, int] = {}
    for partition in gone:
        start = state.starts.pop(partition, None)
        if start is not None:
            ended[partition] = position(state.flows[partition[0]], start, at_us)
            out.append(Finish(partition, ended[partition], reason))
    return ended


def begin(
    state: OffsetsClient, at_us: int, partition: Partition, offset: int, out: list[Done]
) -> None:
    """Begin to process a partition at an offset, or later, if a fault keeps it from that."""
    if state.holds:
        state.frozen[partition] = offset
        return
    state.starts[partition] = Start(offset, at_us)
    out.append(Begin(partition, offset))


def restrict(state: OffsetsClient, at_us: int, owned: TopicPartitions) -> list[Done]:
    """Return what follows if brokers let a member fetch exactly `owned`, whatever it believes.

    What comes back goes on where it stopped. Cost: O(its partitions).
    """
    out: list[Done] = []
    allowed = pairs(owned)
    gone = [each for each in state.starts if each not in allowed]
    state.stopped |= finish(state, at_us, gone, "fenced", out)
    for partition in [each for each in state.frozen if each not in allowed]:
        state.stopped[partition] = state.frozen.pop(partition)
    for partition in [each for each in state.stopped if each in allowed]:
        begin(state, at_us, partition, state.stopped.pop(partition), out)
    return out


def freeze(state: OffsetsClient, at_us: int, *, begins: bool) -> list[Done]:
    """Let it process nothing any more, or go on where it stood. Cost: O(its partitions)."""
    out: list[Done] = []
    state.holds += 1 if begins else -1
    if begins:
        state.frozen |= finish(state, at_us, [*state.starts], "frozen", out)
    elif not state.holds:
        held, state.frozen = state.frozen, {}
        for partition, offset in held.items():
            begin(state, at_us, partition, offset, out)
    return out


def note(state: OffsetsClient, event: MemberEvent) -> None:
    """Note what a member's own event means for its commits."""
    if isinstance(event, Disturbed) and event.kind is Disturbance.LONG_POLL:
        state.is_in_long_poll = event.by_us > 0


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
    answer: tuple[int, ErrorCode],
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
    elif error is ErrorCode.STALE_MEMBER_EPOCH and is_newer:
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
    is_refused = response.error is not ErrorCode.NONE or bool(response.unstable)
    if state.wanted and is_refused:
        out.append(Schedule(FETCH, RETRY_MS * MILLISECOND))
    elif state.wanted:
        _send_fetch(state, identity, out)
    else:
        out.append(Cancel(FETCH))
