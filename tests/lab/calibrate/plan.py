"""What is played on both sides: a group to which one member comes, and from which it goes again.

A plan is data: which members start when, and which verbs happen at which times. A broker with real
members plays it, and so does the timed simulator. Times are drawn from a seed, at a random phase of
the heartbeats, and far enough apart that a group is at rest again before the next verb.

Who comes has a name of its own every time. Kafka makes member ids of client ids, so the name
decides where the newcomer stands among the others, which decides what `range` moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from assignors.simulation.timed.scenario import Action, GroupProtocol, Verb

TOPIC = "orders"
WARM_MS = 6000
MILLI = 1000
"""Microseconds in a millisecond."""

Done = Mapping[tuple[Verb, str], int]
"""Verb and member -> when the member began with it, in microseconds since the first one did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A client with a protocol."""

    client: str
    """`librdkafka`, `java` or `kafka-python`."""
    protocol: GroupProtocol
    assignor: str = ""
    """Of the classic protocol, by its Kafka name."""

    @property
    def is_eager(self) -> bool:
        """Whether every rebalance stops every partition."""
        return self.assignor == "range"


KINDS: dict[str, Kind] = {
    f"{client}-{name}": Kind(client=client, protocol=protocol, assignor=assignor)
    for client in ("librdkafka", "java", "kafka-python")
    for name, protocol, assignor in (
        ("eager", GroupProtocol.CLASSIC, "range"),
        ("cooperative", GroupProtocol.CLASSIC, "cooperative-sticky"),
        ("consumer", GroupProtocol.CONSUMER, ""),
    )
    # kafka-python 3.0 knows only the classic protocol.
    if (client, name) != ("kafka-python", "consumer")
}
"""Every kind by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rhythm:
    """How far apart things happen under a protocol: heartbeats, and milliseconds on top."""

    settle: tuple[float, int]
    """From the first start of a member that stays to the first verb."""
    join: tuple[float, int]
    """From a join to the leave after it; a heartbeat more at most, at random."""
    leave: tuple[float, int]
    """From a leave to the next join, as above."""


RHYTHMS = {
    # a heartbeat, a round, another heartbeat, another round; a third one does not always fit
    GroupProtocol.CLASSIC: Rhythm(settle=(4, 0), join=(2.5, 1000), leave=(1.5, 500)),
    # the others give up within a heartbeat; the newcomer takes over within another one
    GroupProtocol.CONSUMER: Rhythm(settle=(4, 1000), join=(2, 1000), leave=(1, 1500)),
}
HEARTBEAT_MS = {GroupProtocol.CLASSIC: 3000, GroupProtocol.CONSUMER: 5000}
"""The defaults of clients and broker."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A row of the results: a kind in a group of some size; the events are a join and a leave."""

    kind: str
    members: int
    partitions: int
    heartbeat_ms: int

    @property
    def name(self) -> str:
        """What stands in tables, and in names of groups and topics."""
        return f"{self.kind}-{self.members}"


def cell(kind: str, members: int, *, heartbeat_ms: int | None = None) -> Cell:
    """Return the cell of a kind and a size: ten partitions a member, heartbeats as by default."""
    default = HEARTBEAT_MS[KINDS[kind].protocol]
    return Cell(
        kind=kind,
        members=members,
        partitions=10 * members,
        heartbeat_ms=default if heartbeat_ms is None else heartbeat_ms,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When what happens in a cell. Times are milliseconds."""

    cell: Cell
    seed: int
    """Of which the times were drawn."""
    warm_up: tuple[Action, ...]
    """A member of a group that is empty otherwise: a cold process starts and joins slowly."""
    starts: tuple[tuple[int, str], ...]
    """The members that are there all the time."""
    verbs: tuple[Action, ...]
    """A newcomer's start and stop, again and again."""
    until: int

    @property
    def steps(self) -> Iterator[tuple[int, Verb, str]]:
        """Everything that is done, in order of time."""
        founded = (Action(at_ms=at, do=Verb.START, member=name) for at, name in self.starts)
        for action in (*self.warm_up, *founded, *self.verbs):
            assert action.member is not None
            yield action.at_ms, action.do, action.member

    @property
    def members(self) -> list[str]:
        """Everybody's name, in order of their first start."""
        return list(dict.fromkeys(name for _, _, name in self.steps))


def plan_of(cell: Cell, *, repetitions: int, seed: int) -> Plan:
    """Return a plan with so many joins and as many leaves.

    >>> plan = plan_of(cell("java-eager", 3), repetitions=2, seed=1)
    >>> [action.do.value for action in plan.verbs], len(plan.members)
    (['start', 'stop', 'start', 'stop'], 6)
    """
    dice = Random(f"{cell.name} {seed}")
    rhythm = RHYTHMS[KINDS[cell.kind].protocol]
    # Members of a group that has run for long beat at times of their own.
    starts = sorted(
        (WARM_MS + dice.randrange(cell.heartbeat_ms), number) for number in range(cell.members)
    )
    at = WARM_MS + _pause(rhythm.settle, cell)
    verbs = []
    for number in range(repetitions):
        member = _newcomer(dice, cell, number)
        for verb, pause in ((Verb.START, rhythm.join), (Verb.STOP, rhythm.leave)):
            at += dice.randrange(cell.heartbeat_ms)
            verbs.append(Action(at_ms=at, do=verb, member=member))
            at += _pause(pause, cell)
    return Plan(
        cell=cell,
        seed=seed,
        warm_up=(
            Action(at_ms=0, do=Verb.START, member="a"),
            Action(at_ms=WARM_MS - 2000, do=Verb.STOP, member="a"),
        ),
        starts=tuple((at, f"c{number:02d}") for at, number in starts),
        verbs=tuple(verbs),
        until=at,
    )


def windows(plan: Plan, done: Done) -> list[tuple[int, int]]:
    """Return each verb's time and the next one's; the last one lasts as the plan says."""
    starts = [done[action.do, action.member or ""] for action in plan.verbs]
    after = (plan.until - plan.verbs[-1].at_ms) * MILLI
    return list(zip(starts, [*starts[1:], starts[-1] + after], strict=True))


def _pause(pause: tuple[float, int], cell: Cell) -> int:
    heartbeats, more = pause
    return round(heartbeats * cell.heartbeat_ms) + more


def _newcomer(dice: Random, cell: Cell, number: int) -> str:
    """Return a name that stands behind a member's, or before everybody's."""
    behind = dice.randrange(-1, cell.members)
    return f"b{number:02d}" if behind < 0 else f"c{behind:02d}n{number:02d}"
