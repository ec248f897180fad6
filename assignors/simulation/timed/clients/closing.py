"""The order of the last steps of a client, and the commits that each order can lose.

When `close` is called one commit may wait in the channel, another may be on its way, and offsets
that were processed may not be committed at all. `ORDERS` has the orders: the document's, that of
Java's clients, and two more. Every moment at which the client's thread, the network and the
coordinator can act is tried (`outcomes`), outside a rebalance and amid one (`Amid`).
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from assignors.simulation.timed.clients.search import Explored, Move, explore


class Step(StrEnum):
    """One step of closing."""

    COMMIT = "commit"
    """Commit what is processed: put into the channel, or sent at once where the loop is over."""
    AWAIT = "await"
    """Wait until the channel is empty and every commit is answered."""
    POLL = "poll"
    """Send what is in the channel, and handle what has arrived."""
    CALLBACK = "callback"
    """Call what is still owned revoked; the application commits in that callback."""
    LEAVE = "leave"
    """Leave the group."""
    STOP = "stop"
    """End the loop: what is in the channel is never sent."""


ORDERS = {
    "document": (Step.STOP, Step.POLL, Step.COMMIT),
    "java": (Step.COMMIT, Step.AWAIT, Step.CALLBACK, Step.AWAIT, Step.LEAVE, Step.STOP),
    "commit without waiting": (Step.COMMIT, Step.CALLBACK, Step.LEAVE, Step.STOP),
    "leave first": (Step.LEAVE, Step.COMMIT, Step.CALLBACK, Step.AWAIT, Step.STOP),
    "stop at once": (Step.STOP,),
}
"""KIP-945's third step for `close`; `AsyncKafkaConsumer.close` of 4.4.0; and what else could be."""


class Amid(StrEnum):
    """What the group does while the client closes."""

    NOTHING = "nothing"
    CLASSIC = "classic"
    """The classic protocol: once all members have joined, commits are refused until the next
    generation; and Java's client calls what it owns lost, so the application commits nothing
    (`ConsumerCoordinator.onLeavePrepare`)."""
    CONSUMER = "consumer"
    """KIP-848: the epoch moves on, and a commit for partitions that the member still has is
    accepted (KIP-1251)."""


class Pending(StrEnum):
    """What is not committed when `close` is called."""

    IN_FLIGHT = "in_flight"
    IN_CHANNEL = "in_channel"
    PROCESSED = "processed"
    """Only processed: nobody has asked for a commit."""
    IN_CALLBACK = "in_callback"
    """Only processed, and the application commits it in its callback of revoked partitions."""


class Fate(StrEnum):
    """What becomes of a commit."""

    ACCEPTED = "accepted"
    UNCERTAIN = "uncertain"
    """Accepted, and nobody has waited for the answer."""
    REFUSED = "refused"
    """The member had left."""
    NOT_SENT = "not_sent"
    IN_REBALANCE = "in_rebalance"
    """Refused: the group was amid a rebalance."""
    CUT_OFF = "cut_off"
    """Sent, and the connection was closed before it arrived."""


class Closing(NamedTuple):
    """A client that closes."""

    steps: tuple[Step, ...]
    channel: tuple[Pending, ...] = (Pending.IN_CHANNEL,)
    requests: tuple[Pending | Step, ...] = (Pending.IN_FLIGHT,)
    answers: tuple[Pending, ...] = ()
    """Accepted; the answer is on its way."""
    loops: bool = True
    has_left: bool = False
    amid: Amid = Amid.NOTHING
    refuses: bool = False
    """The coordinator accepts no commits: all members have joined."""
    fates: tuple[tuple[Pending, Fate], ...] = ()


def outcomes(order: tuple[Step, ...], amid: Amid = Amid.NOTHING) -> dict[Pending, frozenset[Fate]]:
    """Return what may become of each commit under an order of steps. Cost: about 1 ms."""
    found = _explored(order, amid)
    assert found.stuck == 0, found.stuck_first
    fates: dict[Pending, set[Fate]] = {each: set() for each in Pending}
    for closing in found.reached:
        if _is_over(closing):
            for pending in Pending:
                fates[pending].add(dict(closing.fates).get(pending, Fate.NOT_SENT))
    return {pending: frozenset(each) for pending, each in fates.items()}


def losses(order: tuple[Step, ...], amid: Amid = Amid.NOTHING) -> frozenset[Pending]:
    """Return the commits that an order may lose. Cost: as `outcomes`."""
    lost = {Fate.REFUSED, Fate.IN_REBALANCE, Fate.NOT_SENT, Fate.CUT_OFF}
    return frozenset(pending for pending, fates in outcomes(order, amid).items() if fates & lost)


def _explored(order: tuple[Step, ...], amid: Amid) -> Explored[Closing]:
    return explore(Closing(order, amid=amid), _moves, _is_over)


def _is_over(closing: Closing) -> bool:
    return not (closing.steps or closing.requests or closing.answers)


def _moves(closing: Closing) -> Iterator[Move[Closing]]:
    if closing.steps and _may_step(closing):
        yield Move(f"close: {closing.steps[0]}", _stepped(closing))
    if closing.loops and closing.channel:
        yield Move("the loop sends a commit", _sent(closing))
    if closing.amid is Amid.CLASSIC and not closing.refuses:
        yield Move("all other members have joined", closing._replace(refuses=True))
    if closing.requests:
        yield Move("the coordinator handles a request", _handled(closing))
        if not closing.steps and not closing.loops:
            cut = closing._replace(requests=())
            for request in closing.requests:
                cut = _with(cut, request, Fate.CUT_OFF)
            yield Move("the connection closes", cut)
    if closing.answers:
        first, *rest = closing.answers
        fate = Fate.ACCEPTED if closing.steps else Fate.UNCERTAIN
        yield Move("an answer arrives", _with(closing._replace(answers=tuple(rest)), first, fate))


def _may_step(closing: Closing) -> bool:
    is_waiting = closing.channel or closing.requests or closing.answers
    return closing.steps[0] is not Step.AWAIT or not is_waiting


def _stepped(closing: Closing) -> Closing:
    step, after = closing.steps[0], closing._replace(steps=closing.steps[1:])
    match step:
        case Step.COMMIT:
            return _committing(after, Pending.PROCESSED)
        case Step.CALLBACK if after.amid is not Amid.CLASSIC:
            return _committing(after, Pending.IN_CALLBACK)
        case Step.POLL:
            return after._replace(channel=(), requests=(*after.requests, *after.channel))
        case Step.LEAVE:
            return after._replace(requests=(*after.requests, step))
        case Step.STOP:
            return after._replace(loops=False)
    return after


def _committing(closing: Closing, commit: Pending) -> Closing:
    """Put a commit into the channel; send it where the loop is over."""
    if closing.loops:
        return closing._replace(channel=(*closing.channel, commit))
    return closing._replace(requests=(*closing.requests, commit))


def _sent(closing: Closing) -> Closing:
    first, *rest = closing.channel
    return closing._replace(channel=tuple(rest), requests=(*closing.requests, first))


def _handled(closing: Closing) -> Closing:
    """Let the coordinator handle the oldest request."""
    first, *rest = closing.requests
    after = closing._replace(requests=tuple(rest))
    if isinstance(first, Step):
        return after._replace(has_left=True)
    if after.has_left:
        return _with(after, first, Fate.REFUSED)
    if after.refuses:
        return _with(after, first, Fate.IN_REBALANCE)
    return after._replace(answers=(*after.answers, first))


def _with(closing: Closing, request: Pending | Step, fate: Fate) -> Closing:
    if isinstance(request, Step):
        return closing
    return closing._replace(fates=tuple(sorted((*closing.fates, (request, fate)))))
