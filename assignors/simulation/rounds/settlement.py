"""Plays a scenario under an assignor, event by event, each to settlement.

Truth and belief are kept apart: `Life.consuming` is what a member really consumes, which only
the ledger sees; what it claims is written down as its client would write it. So a round that
starts a partition on one member while another still consumes it is seen for what it is,
whatever anybody claimed.

Time is counted in rounds. Under an eager protocol every member lets go before the round, so
one round settles an event. Under the cooperative one a round hands out what is safe; members
that lose something revoke it and rejoin, and the leader starts another round where nobody
else would (`Rebalance.follow_up`), once per unchanged set of claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from assignors.assignor import Assignor
from assignors.leader import REPAIR, Memory, lead_members
from assignors.model import Assignment, Cluster, Group
from assignors.rebalance import Rebalance
from assignors.simulation.rounds.member import Life, joined, member_of
from assignors.simulation.rounds.scenario import Event, EventKind, MemberSpec, Scenario

ROUND_LIMIT = 12
"""Rounds after which an event counts as one that does not settle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One round: what the leader saw, what it answered, and who really consumed what."""

    event_number: int
    phase: int
    """0, and 1 for the second half of an event in which the group settles half-way."""
    event: Event
    group: Group
    rebalance: Rebalance
    before: Assignment
    """What each member really consumed when the plan reached it, by member id."""
    after: Assignment
    started_twice: tuple[tuple[str, int], ...]
    """Partitions started on a member while another one consumed them."""
    is_last: bool
    """Nobody has a reason to start another round: the event has settled."""
    is_settled: bool
    """False when the event was given up after `ROUND_LIMIT` rounds."""


@dataclass(slots=True)
class _State:
    """The group and its coordinator between rounds."""

    assignor: Assignor
    counts: dict[str, int]
    lives: dict[str, Life] = field(default_factory=dict)
    generation: int = 0
    memory: Memory = field(default_factory=Memory)
    """The leader's."""
    births: int = 0

    def add(self, spec: MemberSpec) -> None:
        """Let a member join under a new member id."""
        self.births += 1
        self.lives[spec.name] = joined(spec, self.births)

    def remove(self, name: str) -> None:
        """Let a member go; a leader takes its memory with it."""
        self.forget(name)
        del self.lives[name]

    def forget(self, name: str) -> None:
        """Lose what the leader remembers, if that is who goes."""
        if next(iter(self.lives)) == name:
            self.memory = Memory()


def rounds(scenario: Scenario, assignor: Assignor) -> Iterator[Round]:
    """Yield every round of the scenario in turn.

    Raises `ValueError` for a scenario whose events cannot happen, such as a member leaving
    that is not there. Where a copied reference would fail, its leader goes on with a repaired
    answer and a note. Cost: that of the assignor, per round, plus O(members + moves).
    """
    state = _State(assignor=assignor.configured(REPAIR), counts=dict(scenario.topics))
    for spec in scenario.members:
        state.add(spec)
    start = Event(kind=EventKind.START)
    yield from _settle(state, 0, 0, start)
    for number, event in enumerate(scenario.events, start=1):
        for phase, change in enumerate(_CHANGES[event.kind](state, event)):
            change()
            yield from _settle(state, number, phase, event)


def _settle(state: _State, number: int, phase: int, event: Event) -> Iterator[Round]:
    """Yield rounds until nobody has a reason to start another."""
    for count in range(1, ROUND_LIMIT + 1):
        group = _group(state)
        answer, state.memory, must_follow_up = lead_members(
            state.assignor, group, memory=state.memory
        )
        state.generation += 1
        before = {life.member_id: life.consuming for life in state.lives.values()}
        started_twice = _apply(state, answer)
        lost = any(life.has_revoked for life in state.lives.values())
        again = lost or must_follow_up
        yield Round(
            event_number=number,
            phase=phase,
            event=event,
            group=group,
            rebalance=answer,
            before=before,
            after={life.member_id: life.consuming for life in state.lives.values()},
            started_twice=started_twice,
            is_last=not again or count == ROUND_LIMIT,
            is_settled=not again,
        )
        if not again:
            return


def _group(state: _State) -> Group:
    """Return the group as its members describe it when they join."""
    kind = state.assignor.user_data
    return Group(
        cluster=Cluster.of(state.counts),
        members=tuple(member_of(life, kind) for life in state.lives.values()),
        generation=state.generation or None,
    )


def _apply(state: _State, answer: Rebalance) -> tuple[tuple[str, int], ...]:
    """Let every member do what it is told; return partitions that then have two consumers."""
    is_cooperative = state.assignor.is_cooperative
    started_twice = _started_twice(state, answer) if is_cooperative else ()
    for life in state.lives.values():
        given = answer.assignment.get(life.member_id, {})
        life.receive(given, state.generation, is_cooperative=is_cooperative)
    return started_twice


def _started_twice(state: _State, answer: Rebalance) -> tuple[tuple[str, int], ...]:
    """Return partitions that the plan starts on a member while another one consumes them."""
    started: dict[str, dict[int, str]] = {}
    for life in state.lives.values():
        for topic, numbers in answer.assignment.get(life.member_id, {}).items():
            had = life.consuming.get(topic, ())
            if numbers != had:
                new = dict.fromkeys(set(numbers).difference(had), life.member_id)
                started.setdefault(topic, {}).update(new)
    return tuple(
        sorted(
            (topic, number)
            for life in state.lives.values()
            for topic, numbers in life.consuming.items()
            if topic in started
            for number in numbers
            if started[topic].get(number, life.member_id) != life.member_id
        )
    )


Change = Callable[[], None]


def _join(state: _State, event: Event) -> Iterator[Change]:
    spec = event.member
    if spec is None or spec.name in state.lives:
        raise ValueError(f"join: {event.name!r} is no new member")
    yield lambda: state.add(spec)


def _leave(state: _State, event: Event) -> Iterator[Change]:
    name = _present(state, event).spec.name
    yield lambda: state.remove(name)


def _return(state: _State, event: Event) -> Iterator[Change]:
    """Thrown out, then back with what it remembers: the others have settled in between."""
    life = _present(state, event)
    yield lambda: state.remove(life.spec.name)

    def come_back() -> None:
        state.add(replace(life.spec, topics=life.topics))
        again = state.lives[life.spec.name]
        again.stale, again.generation = life.assigned, life.generation

    yield come_back


def _restart(state: _State, event: Event) -> Iterator[Change]:
    """Give a static member its own place again, under a new member id and with nothing."""
    life = _present(state, event)

    def replace_it() -> None:
        state.births += 1
        state.forget(life.spec.name)
        state.lives[life.spec.name] = replace(
            joined(replace(life.spec, topics=life.topics), state.births), stale=None
        )

    yield replace_it


def _subscribe(state: _State, event: Event) -> Iterator[Change]:
    life = _present(state, event)

    def change() -> None:
        life.topics = event.topics
        life.drop({topic: count for topic, count in state.counts.items() if topic in event.topics})

    yield change


def _resize(state: _State, event: Event) -> Iterator[Change]:
    if event.topic is None:
        raise ValueError(f"{event.kind}: no topic")
    topic, count = event.topic, event.partition_count

    def resize() -> None:
        if event.kind is EventKind.DELETE:
            state.counts.pop(topic, None)
        else:
            state.counts[topic] = count
        for life in state.lives.values():
            life.drop(state.counts)

    yield resize


def _claim_future(state: _State, event: Event) -> Iterator[Change]:
    life = _present(state, event)

    def claim() -> None:
        life.generation = state.generation + 5

    yield claim


def _present(state: _State, event: Event) -> Life:
    life = state.lives.get(event.name or "")
    if life is None:
        raise ValueError(f"{event.kind}: {event.name!r} is not in the group")
    return life


_CHANGES: dict[EventKind, Callable[[_State, Event], Iterator[Change]]] = {
    EventKind.JOIN: _join,
    EventKind.LEAVE: _leave,
    EventKind.RETURN: _return,
    EventKind.STATIC_RESTART: _restart,
    EventKind.SUBSCRIBE: _subscribe,
    EventKind.GROW: _resize,
    EventKind.DELETE: _resize,
    EventKind.RECREATE: _resize,
    EventKind.CLAIM_FUTURE: _claim_future,
}
