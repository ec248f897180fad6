"""A member's seat in its group: what an adapter keeps between its host's calls.

The host asks three things in turn: what to write when joining, what to answer when leading,
and what to do with what arrived.

A plan of ours counts as known to everybody once its round has rested: our own part of it arrived,
and a heartbeat interval later the coordinator knew of no other round. The others ask for their
parts at their own pace, nobody tells the leader who has, and whoever is told to join again before
that never gets its part. A member that says nothing of what it has would then look as if it had
let go: 50 ms between its join and its question were enough for a partition with two consumers. So
a follow-up round waits for that rest as well, and after any round that came sooner the leader
does not rely on the plan (`Led.memory_in_doubt`). What can still go wrong is a member that takes
longer to ask than a heartbeat interval.
"""

from __future__ import annotations

import logging
import re
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import Any

from assignors.assignor import Assignor, UserData
from assignors.leader import REPAIR, Led, Memory, lead
from assignors.membership import Membership, applied, subscribe
from assignors.model import Cluster, MemberNote
from assignors.options import Options
from assignors.registry import ASSIGNORS, BEST, assignor_named
from wire import TopicPartitions, decode_assignment

TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")

FRAMES_MAX = 12
"""How many callers are looked at for the host's coordinator."""

OnNote = Callable[[MemberNote], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class LedRound:
    """What a round cost that this member led, for whoever keeps metrics."""

    assignor: str
    member_count: int
    seconds: float
    """Wall time between the members' bytes and the answers' bytes."""
    stats: Mapping[str, int | float | bool]
    """As `Rebalance.stats`."""
    notes: tuple[MemberNote, ...]
    must_follow_up: bool


OnRound = Callable[[LedRound], object]


@dataclass(slots=True)
class ClientSession:
    """One member under one assignor."""

    assignor: Assignor
    membership: Membership
    logger: logging.Logger
    on_note: OnNote | None = None
    on_round: OnRound | None = None
    options: Options = REPAIR
    memory: Memory = field(default_factory=Memory)
    awaited: Led | None = None
    """The plan of the latest round, if we made it, until that round has rested."""
    has_arrived: bool = False
    """Whether our own part of it did."""
    known: frozenset[tuple[str | None, str]] = frozenset()
    """(member, code) of the notes of the round before: those are not logged again."""

    def write(
        self,
        topics: Iterable[str],
        *,
        owned: TopicPartitions,
        generation: int,
        may_repeat: bool = True,
    ) -> bytes:
        """Return the Subscription bytes to join with; arguments as of `membership.subscribe`."""
        if self.awaited is not None:
            self.memory = self.awaited.memory_in_doubt()
        self.awaited, self.has_arrived = None, False
        self.membership, blob = subscribe(
            self.membership, topics, owned=owned, generation=generation, may_repeat=may_repeat
        )
        return blob

    def lead(
        self,
        cluster: Cluster,
        subscriptions: Mapping[str, bytes],
        *,
        instance_ids: Mapping[str, str],
        joined: int | None,
    ) -> dict[str, bytes]:
        """Return the Assignment bytes of every member. Never raises for what members say.

        An assignor of somebody's own that raises is replaced for this round by the best there
        is of its kind: a group that stands still helps nobody.
        """
        begin = time.perf_counter()

        def led_by(assignor: Assignor) -> Led:
            return lead(
                assignor,
                cluster,
                subscriptions,
                instance_ids=instance_ids,
                joined=joined,
                memory=self.memory,
                options=self.options,
            )

        try:
            led = led_by(self.assignor)
            notes = led.rebalance.notes
        except Exception as error:  # whatever an assignor raises, the group goes on
            self.logger.exception("assignor %s failed", self.assignor.full_name)
            led = led_by(_stand_in(self.assignor))
            text = f"{self.assignor.full_name} failed: {type(error).__name__}: {error}"
            notes = (*led.rebalance.notes, MemberNote(code="assignor-failed", text=text))
        self.awaited = led
        self._tell(notes)
        if self.on_round is not None:
            told = LedRound(
                assignor=self.assignor.full_name,
                member_count=len(subscriptions),
                seconds=time.perf_counter() - begin,
                stats=led.rebalance.stats,
                notes=notes,
                must_follow_up=led.must_follow_up,
            )
            self._call(self.on_round, told)
        return dict(led.assignments)

    def arrived(self, assigned: TopicPartitions, generation: int) -> bool:
        """Take in an assignment that was applied; return whether to watch for the round's rest."""
        self.membership = applied(self.membership, assigned, generation)
        if self.awaited is None:
            # Somebody else leads: what they gave whom is not known here.
            self.memory = Memory(state=self.memory.state)
        else:
            self.has_arrived = True
        return self.has_arrived

    def rested(self) -> bool:
        """Take in that this round has rested; return whether to start the next one."""
        if self.awaited is None or not self.has_arrived:
            return False
        led, self.awaited = self.awaited, None
        self.memory = led.memory
        if led.must_follow_up:
            self.logger.info("starting another round: partitions wait that nobody will give up")
        return led.must_follow_up

    def elsewhere(self) -> None:
        """Take in that a round ended under another assignor of the same consumer."""
        self.membership = replace(self.membership, written=None, repeats=0)

    def _tell(self, notes: tuple[MemberNote, ...]) -> None:
        for note in notes:
            is_new = (note.member_id, note.code) not in self.known
            level = logging.WARNING if is_new else logging.DEBUG
            self.logger.log(level, "member %s: %s (%s)", note.member_id, note.text, note.code)
            if self.on_note is not None:
                self._call(self.on_note, note)
        self.known = frozenset((note.member_id, note.code) for note in notes)

    def _call(self, callback: Callable[..., object], argument: object) -> None:
        try:
            callback(argument)
        except Exception:  # a user's callback must not stop the group
            self.logger.exception("callback %r failed", callback)


def seat(
    assignor: str | Assignor,
    *,
    logger: logging.Logger,
    rack: str | None,
    on_note: OnNote | None,
    on_round: OnRound | None,
    options: Options,
) -> ClientSession:
    """Return a seat for a member that has not joined yet.

    Raises `ValueError` for an assignor that does not exist or runs in the broker alone.
    """
    found = assignor if isinstance(assignor, Assignor) else assignor_named(assignor)
    if found.family == "server":
        raise ValueError(f"{found.full_name} runs in the broker (KIP-848), not in a client")
    return ClientSession(
        assignor=found,
        membership=Membership(kind=found.user_data, rack_id=rack),
        logger=logger,
        on_note=on_note,
        on_round=on_round,
        options=options,
    )


def callers() -> list[Any]:
    """Return whose methods called the function that asks, the nearest first: none is `None`.

    Hosts pass no reference to themselves to an assignor.
    """
    found = []
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - no other way to the host
    for _ in range(FRAMES_MAX):
        if frame is None:
            break
        caller = frame.f_locals.get("self")
        if caller is not None:
            found.append(caller)
        frame = frame.f_back
    return found


def possible_topics(topics: Iterable[str]) -> list[str]:
    """Return the names that a topic can have: hosts raise when told to watch any other.

    >>> possible_topics(["orders.v2", "", "..", "a b"])
    ['orders.v2']
    """
    return [topic for topic in topics if TOPIC_NAME.fullmatch(topic) and topic not in {".", ".."}]


def given_by(blob: bytes, logger: logging.Logger) -> TopicPartitions:
    """Return what can be read of an Assignment that the host cannot read, and say so.

    >>> given_by(b"", logging.getLogger("quiet"))
    {}
    """
    decoded = decode_assignment(blob)
    given = {} if decoded.value is None else decoded.value.partitions
    noted = "; ".join(note.text for note in decoded.notes)
    logger.warning("the leader wrote an odd assignment, read as %s: %s", dict(given), noted)
    return {topic: given[topic] for topic in possible_topics(given)}


def by_topic(partitions: Iterable[tuple[str, int]]) -> TopicPartitions:
    """Return (topic, number) pairs as topic -> sorted numbers.

    >>> by_topic([("u", 3), ("t", 1), ("t", 0)])
    {'t': (0, 1), 'u': (3,)}
    """
    found: dict[str, list[int]] = {}
    for topic, number in sorted(set(partitions)):
        found.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in found.items()}


def _stand_in(assignor: Assignor) -> Assignor:
    """Return the best assignor that hands over as this one's members expect."""
    is_cooperative = assignor.user_data is UserData.COOPERATIVE or assignor.is_cooperative
    return ASSIGNORS[BEST["cooperative-sticky" if is_cooperative else "sticky"]]
