"""One member's session in its group: what an adapter keeps between the calls of its client.

A client asks three things in turn: what to write when joining (`join`), what to answer when
leading (`lead`), and what to do with the assignment that arrived (`applied`).

A plan of ours counts as known to all members once its round is confirmed: our own part of it
arrived, and a heartbeat interval later the coordinator knew of no other round. The others fetch
their parts at their own pace, and no leader learns who has. A member that has to join again before
it fetched its part never gets it; if it does not report what it owns, it then looks as if it had
given up everything (50 ms between its join and its fetch were enough for a partition with two
consumers). So a follow-up round waits for that confirmation, and after a round that was not
confirmed the leader does not rely on the plan (`Led.memory_in_doubt`). The case that remains is a
member that takes longer than a heartbeat interval to fetch its part.

A partition that was withheld is given away once its old owner has revoked it and joined again. A
static member that restarts before it knows has nothing to revoke, gets its part of the plan without
a round (KIP-345), and joins no second time. So where partitions wait and no round begins within a
session timeout, the leader starts one: by then who was to revoke is slow, restarted or expelled.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from assignors.assignor import Assignor
from assignors.clients.common.move_batches import MoveBatches
from assignors.leader import REPAIR, ClusterOf, Led, Memory, WeightingOf, claims_key, lead
from assignors.membership import Membership, applied, subscribe
from assignors.model import Cluster, MemberNote, MemberNoteCode
from assignors.options import Options
from assignors.own_assignors.answers import with_checked_answers
from assignors.rebalance import Figure
from assignors.registry import assignor_named, replacement_of
from assignors.weighting.token_bucket import TimedBudget
from wire import Decoded, Subscription, TopicPartitions

OnNote = Callable[[MemberNote], object]
"""Called with every oddity of a member, each round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedRound:
    """What a round cost that this member led, for metrics."""

    assignor: str
    """Its full name, also where another one replaced it after it failed."""
    member_count: int
    seconds: float
    """Wall time from the members' bytes to the bytes of their assignments."""
    stats: Mapping[str, Figure]
    """As `Rebalance.stats`. Under a budget `batches_left` is how many batches of moves are still
    to come at least, and `deferred` how many partitions they move."""
    notes: tuple[MemberNote, ...]
    """Oddities of members, and the failure of the assignor if it failed."""
    must_follow_up: bool
    """As `Led.must_follow_up`: this member starts another round once this one is confirmed."""


OnRound = Callable[[LedRound], object]
"""Called after each round that this member led."""


@dataclass(slots=True)
class ClientSession:
    """One member under one assignor. Not thread-safe: a client calls from one thread."""

    assignor: Assignor
    membership: Membership
    logger: logging.Logger
    on_note: OnNote | None = None
    on_round: OnRound | None = None
    options: Options = REPAIR
    batches: MoveBatches | None = None
    """Weights, and when moves by them are made; `None` without weights."""
    memory: Memory = field(default_factory=Memory)
    """What this member remembers as leader."""
    unconfirmed: Led | None = None
    """The plan of the latest round, if this member made it, until that round is confirmed."""
    is_applied: bool = False
    """Whether this member has applied its own part of that plan."""
    waiting: Led | None = None
    """The confirmed round, where partitions wait for members that are to revoke them."""
    tried: tuple[object, ...] | None = None
    """The claims for which this member last started a round because partitions waited."""
    noted: frozenset[tuple[str | None, str]] = frozenset()
    """(member, code) of the notes of the round before: those are not logged as warnings again."""

    def join(
        self,
        topics: Iterable[str],
        *,
        owned: TopicPartitions,
        generation: int,
        may_repeat: bool = True,
    ) -> bytes:
        """Return the Subscription bytes to join with; arguments as of `membership.subscribe`."""
        if self.unconfirmed is not None:
            self.memory = self.unconfirmed.memory_in_doubt()
        self.unconfirmed, self.is_applied, self.waiting = None, False, None
        if self.batches is not None:
            self.batches.joining()
        self.membership, blob = subscribe(
            self.membership, topics, owned=owned, generation=generation, may_repeat=may_repeat
        )
        return blob

    def lead(
        self,
        cluster: Cluster | ClusterOf,
        subscriptions: Mapping[str, bytes | Decoded[Subscription]],
        *,
        instance_ids: Mapping[str, str],
        joined: int | None,
    ) -> dict[str, bytes]:
        """Return the Assignment bytes of every member; arguments as of `leader.lead`.

        Never raises, whatever members write. An assignor from outside that raises is replaced
        for this round by the best one with the same hand-over, so that the group goes on.
        Cost: that of `leader.lead`; what it read of a large group is kept for the next round.
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
                weighting=None if self.batches is None else self.batches.weighting,
            )

        try:
            led = led_by(self.assignor)
            notes = led.rebalance.notes
        except Exception as error:  # whatever an assignor raises, the group goes on
            self.logger.exception("assignor %s failed", self.assignor.full_name)
            led = led_by(replacement_of(self.assignor))
            text = f"{self.assignor.full_name} failed: {type(error).__name__}: {error}"
            notes = (
                *led.rebalance.notes,
                MemberNote(code=MemberNoteCode.ASSIGNOR_FAILED.value, text=text),
            )
        self.unconfirmed = led
        left = None if self.batches is None else self.batches.led(led, self.assignor)
        self._report(notes)
        if self.on_round is not None:
            led_round = LedRound(
                assignor=self.assignor.full_name,
                member_count=len(subscriptions),
                seconds=time.perf_counter() - begin,
                stats=self._stats(led, left),
                notes=notes,
                must_follow_up=led.must_follow_up,
            )
            self._call(self.on_round, led_round)
        return dict(led.assignments)

    def _stats(self, led: Led, batches_left: int | None) -> dict[str, Figure]:
        """Return the figures of a round, computed: those not read yet would keep the round."""
        stats = dict(led.rebalance.stats)
        if self.batches is not None:  # the assignor knows the budget of this round alone
            stats.pop("batches_left", None)
            if batches_left is not None:
                stats["batches_left"] = batches_left
        return stats

    def applied(self, assigned: TopicPartitions, generation: int) -> bool:
        """Record an assignment that was applied; return whether its round is to be confirmed.

        It is where this member leads: then `confirmed` is called once a heartbeat interval has
        passed without another round. Where somebody else leads, what this member remembered of
        its own plans is dropped: what the other leader gave to whom is not known here.
        """
        self.membership = applied(self.membership, assigned, generation)
        if self.unconfirmed is None:
            self.memory, self.tried = Memory(state=self.memory.state), None
            if self.batches is not None:
                self.batches.led_by_another()
        else:
            self.is_applied = True
        return self.is_applied

    def confirmed(self) -> bool:
        """Record that the round is confirmed; return whether to start the next one."""
        if self.unconfirmed is None or not self.is_applied:
            return False
        led, self.unconfirmed = self.unconfirmed, None
        self.memory = led.memory
        if led.must_follow_up:
            self.logger.info("starting another round: no member gives up the partitions that wait")
        elif led.rebalance.withheld:
            self.waiting = led
        else:
            self.tried = None
        return led.must_follow_up

    def wait_s(self, session_timeout_s: float) -> float | None:
        """Return the seconds until `must_move` is to be asked; `None` where there is no need.

        Asked once a round is confirmed, and after each `must_move` that was false.
        """
        if self.waiting is not None:
            return session_timeout_s
        return None if self.batches is None else self.batches.wait_s()

    def must_move(self) -> bool:
        """Return whether to start a round that moves partitions. Cost: that of the assignor."""
        if self.waiting is not None:
            claims, self.waiting = claims_key(self.waiting.group), None
            if claims != self.tried:  # else it would end as the last one did
                self.tried = claims
                self.logger.info("starting another round: partitions wait, and nobody joined again")
                return True
        if self.batches is None:
            return False
        assignor = with_checked_answers(self.assignor).configured(self.options)
        return self.batches.is_due(assignor)

    def not_chosen(self) -> None:
        """Record that a round used another strategy of the same consumer."""
        self.membership = replace(self.membership, written=None, repeats=0)

    def _report(self, notes: tuple[MemberNote, ...]) -> None:
        for note in notes:
            is_new = (note.member_id, note.code) not in self.noted
            level = logging.WARNING if is_new else logging.DEBUG
            self.logger.log(level, "member %s: %s (%s)", note.member_id, note.text, note.code)
            if self.on_note is not None:
                self._call(self.on_note, note)
        self.noted = frozenset((note.member_id, note.code) for note in notes)

    def _call(self, callback: Callable[..., object], argument: object) -> None:
        try:
            callback(argument)
        except Exception:  # a user's callback must not stop the group
            self.logger.exception("callback %r failed", callback)


def new_session(
    assignor: str | Assignor,
    *,
    logger: logging.Logger,
    rack_id: str | None = None,
    on_note: OnNote | None = None,
    on_round: OnRound | None = None,
    options: Options = REPAIR,
    weighting: WeightingOf | None = None,
    budget: TimedBudget | None = None,
    capacity: int | None = None,
) -> ClientSession:
    """Return the session of a member that has not joined yet.

    `weighting` and `budget` are for assignors by weight: what partitions weigh when this member
    leads, and what their moves may cost in a time.
    Raises `ValueError` for an assignor that does not exist or runs in the broker alone.
    """
    found = assignor if isinstance(assignor, Assignor) else assignor_named(assignor)
    if found.family == "server":
        raise ValueError(f"{found.full_name} runs in the broker (KIP-848), not in a client")
    return ClientSession(
        assignor=found,
        membership=Membership(kind=found.user_data, rack_id=rack_id, capacity=capacity),
        logger=logger,
        on_note=on_note,
        on_round=on_round,
        options=options,
        batches=None
        if weighting is None
        else MoveBatches(weighting_of=weighting, budget=budget or TimedBudget(), logger=logger),
    )
