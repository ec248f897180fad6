"""A world: a state of everything, and the parts of which worlds are made.

States are kept once each and called by a number, so a world is a tuple of small tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assignors.simulation.timed.monitors.coordinators import CoordinatorView, view_of
from assignors.simulation.timed.protocols.effects import (
    CoordinatorEvent,
    Effect,
    MemberEvent,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.protocols.state_values import key_of, shared_parts
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.sides import MixedMember
from assignors.simulation.timed.threads.client import ClientThreads

Timers = frozenset[tuple[TimerKey, int]]
"""(key, data) of each timer that runs."""
Findings = tuple[tuple[str, str], ...]
"""(monitor, what is wrong)."""
MEMBERS_MAX = 8


class World(NamedTuple):
    """A state of everything. States, messages and logs are numbers in the `Model`."""

    coordinator: int
    log: int
    """What the records written so far say."""
    members: tuple[int, ...]
    does: tuple[int, ...]
    """What each member really does."""
    requests: tuple[tuple[tuple[int, int], ...], ...]
    """Of each member, on their way: (own number, message)."""
    answers: tuple[tuple[tuple[int, int], ...], ...]
    """Likewise."""
    open: tuple[frozenset[int], ...]
    """Own numbers of requests that are not answered yet, of each member."""
    dead: tuple[frozenset[int], ...]
    """Those of `open` whose process has ended."""
    appends: tuple[int, ...]
    """Tokens, in order."""
    timers: Timers
    """The coordinator's."""
    member_timers: tuple[Timers, ...]
    faults: int
    """So many may still happen."""
    cuts: int
    """So many connections may still break."""
    starts: tuple[int, ...]
    """So often each member may still start."""
    stops: int
    """So many members may still stop."""
    stalls: int = 0
    """So many threads of clients may still stand still."""
    failovers: int = 0
    """So often the coordinator may still be lost."""
    replicated: int = 0
    """As long as it may be: what its log has, compacted."""
    tail: tuple[tuple[int, int], ...] = ()
    """Likewise: (token, records) of each append that is not replicated."""


@dataclass(slots=True)
class Kept:
    """Values that are kept once each, and have a number."""

    numbers: dict[Hashable, int] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)
    parts: dict[Hashable, Any] = field(default_factory=dict)
    """What values are made of, each part once, and each key of a part once."""

    def number_of(self, value: object) -> int:
        """Return the number of a value; a new one is kept, and must not change from now on."""
        key = key_of(value)
        number = self.numbers.get(key)
        if number is None:
            number = len(self.values)
            self.values.append(value)
            self.numbers[shared_parts(value, self.parts)] = number
        return number


class Step(NamedTuple):
    """What a step does, whatever the rest of the world is."""

    state: int
    effects: Sequence[Effect]
    messages: tuple[tuple[int, int], ...]
    """What it sends: (number of the request, message)."""
    number: int = 0
    """Of a step of the coordinator: no two have the same."""
    gives: bool = False
    """Of a step of the coordinator: whether it gives a plan to members."""


@dataclass(slots=True, kw_only=True)
class Model:
    """The steps of a case, and every part of a world met so far."""

    names: tuple[str, ...]
    partitions: list[tuple[str, int]]
    """All partitions, sorted."""
    step_coordinator: Callable[[Any, CoordinatorEvent], list[Effect]]
    step_member: Callable[[Any, MemberEvent], list[Effect]]
    gone: tuple[int, ...]
    """Of each member: the state of a process that never runs again, that of one that never ran."""
    coordinators: Kept = field(default_factory=Kept)
    members: Kept = field(default_factory=Kept)
    does: Kept = field(default_factory=Kept)
    messages: Kept = field(default_factory=Kept)
    logs: Kept = field(default_factory=Kept)
    records: Kept = field(default_factory=Kept)
    """Tuples of records."""
    coordinator_steps: dict[Hashable, Step] = field(default_factory=dict)
    member_steps: dict[Hashable, Step] = field(default_factory=dict)
    log_steps: dict[Hashable, tuple[int, Findings]] = field(default_factory=dict)
    """What the records say after a step of the coordinator, and what is wrong with it."""
    does_steps: dict[Hashable, tuple[int, Findings]] = field(default_factory=dict)
    """What a member really does after its step, and what is wrong with it."""
    renumbered: dict[Hashable, int] = field(default_factory=dict)
    """Coordinators after requests or appends have got other numbers."""
    judged: dict[Hashable, Findings] = field(default_factory=dict)
    """What was found in moments, by coordinator, members and what these do."""


class Stepped(NamedTuple):
    """What one step made of a world."""

    world: World
    who: str | None
    """A member's name, `None` for the coordinator."""
    event: MemberEvent | CoordinatorEvent
    effects: Sequence[Effect]
    found: Findings
    """(monitor, what is wrong) with the step."""
    then: Findings
    """(monitor, what is wrong) with the moment after it."""


def put(listed: tuple[Any, ...], position: int, value: object) -> tuple[Any, ...]:
    """Return the tuple with another value at a position."""
    return (*listed[:position], value, *listed[position + 1 :])


def member_of(model: Model, world: World, member: int) -> Any:  # noqa: ANN401 - of any protocol
    """Return a member's state, without its threads. It must not be changed."""
    return unthreaded(model.members.values[world.members[member]])


def view(model: Model, coordinator: int) -> CoordinatorView:
    """Return what monitors see of a coordinator's state. Cost: O(partitions): it is not kept."""
    return view_of(model.coordinators.values[coordinator])


def unthreaded(member: Any) -> Any:  # noqa: ANN401 - of any protocol
    """Return the member of a protocol, which may have threads around it."""
    return member.member if isinstance(member, ClientThreads) else member


def held_by(member: object) -> frozenset[int]:
    """Return the numbers of requests and answers that wait for a thread of their client."""
    return member.held if isinstance(member, ClientThreads) else frozenset()


def has_work(member: object) -> bool:
    """Return whether something waits for a thread of a client."""
    return isinstance(member, ClientThreads) and member.has_work


def clients_of(member: Any) -> tuple[Any, ...]:  # noqa: ANN401 - of any protocol
    """Return the clients of a member: of one that may change its protocol those of both."""
    member = unthreaded(member)
    return (member.classic, member.consumer) if isinstance(member, MixedMember) else (member,)


def speaks_only(coordinator: GroupCoordinator, protocol: GroupProtocol) -> bool:
    """Return whether all members speak this protocol: the group never changes its kind."""
    return coordinator.config.protocols == {protocol}
