"""Appends that wait to be replicated, of which several are lost at once: in random histories.

As in Kafka's runtime, what is appended gathers in a batch; a batch in the local log waits there
until it is replicated. A batch that cannot be written fails, and with it everybody whose records
are in it: the group goes back to what is in the log. A coordinator that is lost takes its whole
tail with it, and the next one reads the rest. Either way whoever waits is answered with an error.

An event that writes nothing is answered at once here. Kafka's runtime lets it wait for the records
that it has seen: that is part of the execution models (`timed/execution`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from assignors.simulation.timed.host import again_after_us
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    AppendFailed,
    Arrived,
    Committed,
    Fired,
    NotCoordinator,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode
from tests.foreign.operations import Operation
from tests.foreign.player import Player, Plays, Waiting, reload_operation
from tests.simulation.timed.compaction import compacted

ABOUT_APPENDS = {"replicates": "later", "writes": "batches"}
"""What the judge has to know."""


NOT_WRITTEN = NotCoordinator(ErrorCode.COORDINATOR_NOT_AVAILABLE)
"""What the service makes of NOT_ENOUGH_REPLICAS."""
NOT_COORDINATOR = NotCoordinator()


@dataclass
class Losing:
    """What becomes of the appends of one history, by chance: a player's `Losses`."""

    lingers: bool
    """Whether a batch gathers appends; else each is one of its own."""
    sizes: list[int] = field(default_factory=list)
    """How many appends there are in each batch that is in the local log and not replicated."""
    is_away: bool = False
    """The coordinator is lost, and the next one has not read the log yet."""
    met: Counter[str] = field(default_factory=Counter)
    """How often so many appends were lost at once, as `failed 3` or `lost 5`."""

    def next(self, random: Random, player: Player) -> Operation | None:
        """Return what happens to appends now, if anything does."""
        if self.is_away:
            self.is_away = False
            return reload_operation(random, player)
        tail = player.tail or []
        dice, unwritten = random.random(), len(tail) - sum(self.sizes)
        if tail and dice < 0.04:
            return self._lose(tail)
        if unwritten and dice < 0.12:
            return self._fail(tail[-unwritten:])
        if unwritten and (dice < 0.3 or not self.lingers):
            self.sizes.append(unwritten)
            return {"op": "written"}
        if self.sizes and dice > 0.9:
            batches = random.choice((1, 1, len(self.sizes)))
            count = sum(self.sizes[:batches])
            del self.sizes[:batches]
            return {"op": "committed", "appends": [each.number for each in tail[:count]]}
        return None

    def played_by(self, player: Player) -> Plays:
        """Return what plays operations of a player, those about appends too."""
        return _LosingPlayer(player)

    def _lose(self, tail: list[Waiting]) -> Operation:
        unwritten = len(tail) - sum(self.sizes)
        self.is_away, self.sizes = True, []
        self.met[f"lost {len(tail)}"] += 1
        return {"op": "lose", "lost": [each.number for each in tail], "unwritten": unwritten}

    def _fail(self, batch: list[Waiting]) -> Operation:
        self.met[f"failed {len(batch)}"] += 1
        return {"op": "failed", "appends": [each.number for each in batch]}


class _LosingPlayer(NamedTuple):
    player: Player

    def play(self, op: Operation) -> None:
        """Play an operation that is no request."""
        player, tail = self.player, self.player.tail
        assert tail is not None
        match op["op"]:
            case "written":
                player.note_written()
            case "committed":
                for each in _taken(tail, op["appends"]):
                    player.step(Committed(each.token))
            case "failed":
                _fail(player, _taken(tail, op["appends"]))
            case "lose":
                _lose(player, _taken(tail, op["lost"]), unwritten=op["unwritten"])
            case _:
                player.play(op)


def _taken(tail: list[Waiting], numbers: list[int]) -> list[Waiting]:
    found = [each for each in tail if each.number in numbers]
    tail[:] = [each for each in tail if each.number not in numbers]
    return found


def _fail(player: Player, lost: list[Waiting]) -> None:
    """Take the group back to what is in the log, answer who waits, and let timers fire again."""
    _revert(player, lost)
    player.replies = [Reply(each.number, NOT_WRITTEN) for each in player.replies]
    for each in lost:
        if isinstance(each.event, Fired):
            check_us = player.state.offsets.check_ms * MILLISECOND
            after_us = again_after_us(each.event.key, check_us=check_us)
            if after_us is not None:
                player.start(Schedule(each.event.key, after_us, each.event.data))
        elif isinstance(each.event, Arrived) and each.event.number in player.unanswered:
            player.reply(Reply(each.event.number, NOT_WRITTEN))


def _revert(player: Player, lost: list[Waiting]) -> None:
    _forget(player, lost)
    # Without tombstones, offsets that were deleted amid a transaction would be pending again.
    written = compacted(player.log, clean_until=len(player.log), drop_tombstones_until=0)
    player.step(AppendFailed(frozenset(each.token for each in lost), tuple(written)))


def _lose(player: Player, lost: list[Waiting], *, unwritten: int) -> None:
    """Answer who waits for a record or for other members.

    Whoever has asked again is not, nor who has joined a group that is not in the log.
    """
    waiting = {each.event.number for each in lost if isinstance(each.event, Arrived)}
    if unwritten:
        _revert(player, lost[-unwritten:])
    _forget(player, lost)
    answered = {each.number for each in player.replies}
    player.replies = []
    waiting = (waiting | player.waiting_in_group()) & player.unanswered
    for number in sorted(waiting | answered):
        player.reply(Reply(number, NOT_COORDINATOR))
    player.unanswered.clear()


def _forget(player: Player, lost: list[Waiting]) -> None:
    gone = {id(each.batch) for each in lost}
    player.log = [batch for batch in player.log if id(batch) not in gone]
