"""A client, its application, the network and a coordinator: whatever may happen, at any time.

The coordinator follows a script of targets: each one is news, until the member has acknowledged it
and is granted it. Requests to it keep their order, as over one connection; answers wait in the
client's inbox for as long as they like. Fetches are answered at any moment. What is judged is what
everybody can see: callbacks, records that `poll` returns, commits that are sent, results of calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from assignors.simulation.timed.clients.machine import runs, step
from assignors.simulation.timed.clients.models import Model, Thread
from assignors.simulation.timed.clients.search import Move
from assignors.simulation.timed.clients.state import (
    OUTSIDE,
    Acknowledge,
    Alive,
    Answer,
    Arrived,
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
    Partitions,
    Phase,
    Place,
    Ran,
    Record,
    Request,
    Returned,
    Run,
    Send,
    State,
)

RULES = {
    "callback-thread": "callbacks run on the polling thread, inside poll",
    "callback-order": "revoked comes before assigned, and what is held is not assigned again",
    "early-acknowledgement": "a partition is acknowledged as free after its revoked callback",
    "revoked-record": "poll returns no record of a partition that the application does not hold",
    "record-order": "poll returns the records of a partition in order, from the committed one on",
    "unprocessed-commit": "an automatic commit covers only what earlier polls have returned",
    "wrong-result": "a commit returns the coordinator's answer to that commit",
    "lost-callback": "what a removed member held is called lost: no revoked callback begins then",
    "callback-commit": "a commit in a callback of revoked partitions is accepted by a group that "
    "has not removed the member",
    "torn-identity": "generation and owned partitions, read together, were granted together",
}
"""What every world keeps to, by rule."""

Script = tuple[Partitions, ...]
"""The targets, the first one granted when the world begins."""


class Case(NamedTuple):
    """What may happen at most."""

    script: Script = (frozenset({0}), frozenset({1}), frozenset({0}))
    records: int = 1
    """How many records each partition has."""
    commits: int = 0
    """How often the application commits."""
    reads: int = 0
    """How often the application reads generation and owned partitions."""
    removals: int = 0
    """How often the coordinator removes the member; it rejoins and is granted the next target."""
    commits_in_callbacks: bool = False
    """Whether the application commits in callbacks of revoked partitions."""
    fences_exactly: bool = True
    """Whether only commits of the current generation are accepted, as before KIP-1251; else those
    of every generation since which all partitions are the member's."""


class World(NamedTuple):
    """A state of everything."""

    client: State
    requests: tuple[Request, ...] = ()
    """To the coordinator, oldest first."""
    fetches: tuple[Fetch, ...] = ()
    generation: int = 1
    """The coordinator's; so many targets of the script are granted."""
    is_open: bool = False
    """Whether the next target is announced."""
    committed: Offsets = ()
    results: tuple[tuple[int, bool], ...] = ()
    """What the coordinator has answered to commits, by number."""
    held: Partitions = frozenset()
    """What the application holds, by its callbacks."""
    expected: Offsets = ()
    """The next offset that poll may return, by partition."""
    processed: Offsets = ()
    reads: int = 0
    is_member: bool = True
    """Whether the coordinator has the member in the group."""
    removals: int = 0


def started(case: Case) -> World:
    """Return the world in which the first target is granted and its callback has run."""
    owned = case.script[0]
    offsets = tuple((each, 0) for each in sorted(owned))
    client = State(owned=owned, positions=offsets, processed=offsets, auto_committed=offsets)
    client = client._replace(commits_in_callbacks=case.commits_in_callbacks)
    return World(client, held=owned, expected=offsets, processed=offsets)


def is_settled(case: Case, world: World) -> bool:
    """Return whether the script is over and nothing is left to do but to poll."""
    client = world.client
    is_quiet = not (world.requests or client.inbox or client.callbacks or client.commits)
    is_read = all(_at(world.expected, each) == case.records for each in world.held)
    is_away = client.place is Place.AWAY and client.phase is Phase.STEADY
    is_over = world.is_member and world.generation == len(case.script)
    return is_quiet and is_away and is_read and is_over


def moves(case: Case, model: Model, world: World) -> Iterator[Move[World]]:
    """Yield everything that may happen next."""
    client = world.client
    for run in runs(model, client):
        yield _client_move(case, model, world, run)
    if client.place is Place.AWAY:
        yield _client_move(case, model, world, Command.POLL)
        if client.calls < case.commits:
            yield _client_move(case, model, world, Command.COMMIT)
        if world.reads < case.reads:
            reading = world._replace(reads=world.reads + 1)
            yield _client_move(case, model, reading, Command.READ_IDENTITY)
    if client.place in {Place.COMMIT, Place.CALLBACK}:
        yield _client_move(case, model, world, Command.TIMEOUT)
    if _may_beat(case, world):
        yield _client_move(case, model, world, Command.BEAT)
    yield from _coordinator_moves(case, model, world)
    for fetch in world.fetches:
        left = world._replace(fetches=tuple(each for each in world.fetches if each != fetch))
        if fetch.offset < case.records:
            yield _arrival(model, left, Record(*fetch))


def _coordinator_moves(case: Case, model: Model, world: World) -> Iterator[Move[World]]:
    if world.removals < case.removals and world.generation < len(case.script) and world.is_member:
        removed = world._replace(is_member=False, is_open=False, removals=world.removals + 1)
        yield Move("coordinator: removes the member", removed, is_fault=True)
    if world.requests:
        yield _coordinator_move(case, model, world)


def _may_beat(case: Case, world: World) -> bool:
    """Return whether a heartbeat could bring news: all others lead nowhere new."""
    is_waiting = Heartbeat() not in world.requests and not world.client.is_beat_due
    is_waiting &= Fenced() not in world.client.inbox
    is_over = world.is_member and (world.is_open or world.generation == len(case.script))
    return is_waiting and not is_over and world.client.phase is Phase.STEADY


def _coordinator_move(case: Case, model: Model, world: World) -> Move[World]:
    """Handle the oldest request."""
    request, world = world.requests[0], world._replace(requests=world.requests[1:])
    answer: Answer = Alive()
    if isinstance(request, Heartbeat | Acknowledge) and not world.is_member:
        answer = Fenced()
    elif (
        isinstance(request, Heartbeat) and not world.is_open and world.generation < len(case.script)
    ):
        world, answer = world._replace(is_open=True), News(case.script[world.generation])
    elif isinstance(request, Acknowledge | Join):
        target = case.script[world.generation]
        granted = world.generation + 1
        world = world._replace(generation=granted, is_open=False, is_member=True)
        offsets = tuple((each, _at(world.committed, each)) for each in sorted(target))
        answer = Granted(world.generation, offsets)
    elif isinstance(request, Commit):
        world, answer = _handled_commit(case, world, request)
    return _arrival(model, world, answer)


def _handled_commit(case: Case, world: World, request: Commit) -> tuple[World, Committed]:
    targets = case.script[request.generation - 1 : world.generation]
    is_current = request.generation == world.generation
    if not case.fences_exactly:
        is_current = all({each for each, _ in request.offsets} <= target for target in targets)
    is_current &= world.is_member
    if is_current:
        merged = tuple(sorted({**dict(world.committed), **dict(request.offsets)}.items()))
        world = world._replace(committed=merged)
    if request.number:
        world = world._replace(results=(*world.results, (request.number, is_current)))
    return world, Committed(request.number, is_current)


def _arrival(model: Model, world: World, answer: Answer) -> Move[World]:
    client, effects = step(model, world.client, Arrived(answer))
    assert not effects, "nothing is done about an answer before a thread reads it"
    return Move(f"network: {_words(answer)} arrives", world._replace(client=client))


def _client_move(case: Case, model: Model, world: World, event: Event) -> Move[World]:
    before = world.client
    client, effects = step(model, before, event)
    if event is Command.POLL:
        world = world._replace(processed=world.expected)
    after, found = world._replace(client=client), list[str]()
    for effect in effects:
        after, broken = _judged(case, after, effect)
        found.extend(broken)
    is_pass = isinstance(event, Run) and event.duty is not None and not effects
    if is_pass and client._replace(next_duty=0) == before._replace(next_duty=0):
        return Move("", after)
    if before.phase in OUTSIDE and before.place is not Place.CALLBACK:
        is_begun = any(
            isinstance(each, Ran) and each.callback.kind is Kind.REVOKED for each in effects
        )
        found.extend(["lost-callback"] * is_begun)
    if before.place is Place.CALLBACK and Completed(before.calls, is_accepted=False) in effects:
        found.extend(["callback-commit"] * (world.removals == 0))
    line = _line(event, effects)
    return Move(line, after, tuple(found), is_fault=event is Command.TIMEOUT)


def _judged(case: Case, world: World, effect: Effect) -> tuple[World, list[str]]:
    """Return the world after an effect, and the rules that it violates."""
    match effect:
        case Send(Fetch() as request):
            return world._replace(fetches=(*world.fetches, request)), []
        case Send(request):
            return world._replace(requests=(*world.requests, request)), _sent(case, world, request)
        case Ran():
            return _called(case, world, effect)
        case Returned(record):
            return _returned(world, record)
        case Completed(number, is_accepted):
            is_wrong = is_accepted is not None and (number, is_accepted) not in world.results
            return world, ["wrong-result"] * is_wrong
        case Identified(generation, owned):
            return world, ["torn-identity"] * (not owned <= case.script[generation - 1])


def _sent(case: Case, world: World, request: Request) -> list[str]:
    """Return the rules that a request violates."""
    if isinstance(request, Acknowledge):
        is_early = not world.held <= case.script[world.generation]
        return ["early-acknowledgement"] * is_early
    if isinstance(request, Commit) and request.number == 0:
        later = [each for each, at in request.offsets if at > _at(world.processed, each)]
        return ["unprocessed-commit"] * bool(later)
    return []


def _called(case: Case, world: World, effect: Ran) -> tuple[World, list[str]]:
    (kind, partitions), found = effect.callback, list[str]()
    if effect.thread is not Thread.POLLING or not effect.is_in_poll:
        found.append("callback-thread")
    if kind is not Kind.ASSIGNED:
        if not partitions <= world.held:
            found.append("callback-order")
        return world._replace(held=world.held - partitions), found
    if partitions & world.held or not world.held <= case.script[world.client.generation - 1]:
        found.append("callback-order")
    starts = dict(world.expected) | {each: _at(world.committed, each) for each in partitions}
    expected = tuple(sorted(starts.items()))
    return world._replace(held=world.held | partitions, expected=expected), found


def _returned(world: World, record: Record | None) -> tuple[World, list[str]]:
    if record is None:
        return world, []
    found = list[str]()
    if record.partition not in world.held:
        found.append("revoked-record")
    elif record.offset != _at(world.expected, record.partition):
        found.append("record-order")
    after = tuple(sorted((dict(world.expected) | {record.partition: record.offset + 1}).items()))
    return world._replace(expected=after), found


def _at(offsets: Offsets, partition: int) -> int:
    return dict(offsets).get(partition, 0)


def _line(event: Event, effects: tuple[Effect, ...]) -> str:
    done = "; ".join(_words(each) for each in effects)
    if isinstance(event, Run):
        what = event.duty or "leaves the call"
        return f"{event.thread} thread: {what}" + (f": {done}" if done else "")
    who = BY_THE_CLOCK.get(event) if isinstance(event, Command) else None
    return (who or f"application: {event}") + (f": {done}" if done else "")


BY_THE_CLOCK = {
    Command.BEAT: "clock: a heartbeat is due",
    Command.TIMEOUT: "clock: a blocking commit times out",
}
"""What no thread decides; all other commands are the application's."""


def _words(what: Effect | Answer) -> str:
    match what:
        case Send(request):
            return f"sends {_plain(request)}"
        case Ran(callback):
            return f"{callback.kind} {sorted(callback.partitions)} is called"
        case Returned(record):
            return f"poll returns {_plain(record) if record else 'nothing'}"
    return _plain(what)


def _plain(what: object) -> str:
    return repr(what).replace("frozenset()", "{}").replace("frozenset(", "").replace("})", "}")
