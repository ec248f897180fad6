"""Two threads look for the coordinator: the race of KAFKA-10793, and what its fix left out.

Java's classic client keeps the future of its look-up, so that nobody starts a second one. Somebody
must forget it once it is complete, or no look-up is ever sent again. That was done in three ways,
one after the other (`RELEASES`):

* The listener of the answer did. But a thread sends the request first and keeps the future
  afterwards: if another thread sees the connection break in between, the future is forgotten before
  it is kept, and then kept for ever (KAFKA-10793).
* The threads that call did: the heartbeat thread, and whoever waits for the coordinator. A client
  that assigns its partitions itself has no heartbeat thread, and an asynchronous commit does not
  wait: once the coordinator moves, no commit ever succeeds (KAFKA-13563). KIP-945 names this one as
  a race of two threads; it needs a single thread.
* An asynchronous commit forgets it too, as in 4.4.0. What stays: the heartbeat thread forgets a
  look-up that is still in flight, so two can be.

Threads take turns wherever the lock allows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from assignors.simulation.timed.clients.search import Explored, Move, explore


class Release(NamedTuple):
    """Who forgets a future that is complete."""

    name: str
    listener_forgets: bool = False
    heartbeat_thread_forgets: bool = False
    commit_forgets: bool = False


RELEASES = (
    Release("before KAFKA-10793", listener_forgets=True),
    Release("after KAFKA-10793", heartbeat_thread_forgets=True),
    Release("after KAFKA-13563", heartbeat_thread_forgets=True, commit_forgets=True),
)


class Future(StrEnum):
    """A look-up: its answer."""

    IN_FLIGHT = "in_flight"
    FOUND = "found"
    FAILED = "failed"


class Lookups(NamedTuple):
    """The client: the coordinator, the future that is kept, and the thread that is about to."""

    is_known: bool = True
    kept: Future | None = None
    sent: Future | None = None
    """Sent by a thread that has the lock and that has not kept it yet."""
    sender: str = ""
    """That thread."""
    forgotten: int = 0
    """Look-ups in flight whose future nobody keeps."""
    losses: int = 0
    failures: int = 0


LOSSES_MAX, FAILURES_MAX, FORGOTTEN_MAX = 2, 1, 2
POLLING, HEARTBEAT = "polling thread", "heartbeat thread"


def exhausted(release: Release, *, has_heartbeat_thread: bool) -> Explored[Lookups]:
    """Try every order: which histories end where no look-up is ever sent again. Cost: 1 ms."""
    return explore(
        Lookups(),
        lambda state: _moves(release, state, has_heartbeat_thread=has_heartbeat_thread),
        lambda state: state.is_known,
    )


def _moves(
    release: Release, state: Lookups, *, has_heartbeat_thread: bool
) -> Iterator[Move[Lookups]]:
    if state.is_known and state.losses < LOSSES_MAX:
        lost = state._replace(is_known=False, losses=state.losses + 1)
        yield Move("the coordinator is lost", lost, is_fault=True)
    if state.sent is not None:
        yield _keeps(release, state)
    else:
        yield _calls(state, POLLING, forgets=release.commit_forgets)
        if has_heartbeat_thread:
            forgets = release.heartbeat_thread_forgets
            yield _calls(state, HEARTBEAT, forgets=forgets)
    yield from _completions(release, state)


def _calls(state: Lookups, thread: str, *, forgets: bool) -> Move[Lookups]:
    """Let a thread that has the lock ask for the coordinator."""
    if state.is_known:
        return Move(f"{thread}: has a coordinator", state)
    if state.kept is None:
        found = ("one-look-up",) if state.forgotten else ()
        sent = state._replace(sent=Future.IN_FLIGHT, sender=thread)
        return Move(f"{thread}: sends a look-up", sent, found)
    is_over = state.kept is not Future.IN_FLIGHT
    # The heartbeat thread does not ask whether the look-up is over (seen in 4.4.0's byte code).
    if not forgets or not (is_over or thread == HEARTBEAT):
        return Move(f"{thread}: waits for the look-up that is kept", state)
    forgotten = min(state.forgotten + (not is_over), FORGOTTEN_MAX)
    return Move(f"{thread}: forgets the future", state._replace(kept=None, forgotten=forgotten))


def _keeps(release: Release, state: Lookups) -> Move[Lookups]:
    """Let the thread that has sent a look-up add the listener and keep the future."""
    assert state.sent is not None
    line = f"{state.sender}: keeps the future"
    after = state._replace(sent=None, sender="")
    if state.sent is not Future.IN_FLIGHT:
        after = _answered(release, after, state.sent)
        line = f"{state.sender}: the listener runs at once; the thread keeps the future"
    return Move(line, after._replace(kept=state.sent))


def _completions(release: Release, state: Lookups) -> Iterator[Move[Lookups]]:
    """Yield what the polling thread may see when it reads from the network."""
    outcomes = [Future.FOUND]
    if state.failures < FAILURES_MAX:
        outcomes.append(Future.FAILED)
    for outcome in outcomes:
        failures = state.failures + (outcome is Future.FAILED)
        counted = state._replace(failures=failures)
        line = f"{POLLING} reads from the network: the look-up has {outcome}"
        line = line.replace("has found", "succeeded")
        is_fault = outcome is Future.FAILED
        if state.sent is Future.IN_FLIGHT and state.sender == HEARTBEAT:
            yield Move(line, counted._replace(sent=outcome), is_fault=is_fault)
        if state.sent is None and state.kept is Future.IN_FLIGHT:
            after = _answered(release, counted._replace(kept=outcome), outcome)
            yield Move(line, after, is_fault=is_fault)
        if state.sent is None and state.forgotten:
            fewer = counted._replace(forgotten=state.forgotten - 1)
            is_known = state.is_known or outcome is Future.FOUND
            yield Move(line, fewer._replace(is_known=is_known), is_fault=is_fault)


def _answered(release: Release, state: Lookups, outcome: Future) -> Lookups:
    """Run the listener of a look-up."""
    kept = None if release.listener_forgets else state.kept
    return state._replace(is_known=state.is_known or outcome is Future.FOUND, kept=kept)
