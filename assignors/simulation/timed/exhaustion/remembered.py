"""What may happen next in worlds of a consumer group, remembered by the parts that it depends on.

There a member's move reads and changes the coordinator's part of a world, the member's own, and how
much may still happen: the coordinator answers nobody else in it, and nothing is left waiting. A
timer of the coordinator changes the coordinator's part alone, and of members it reads who lives. So
each move is found once (`moves`), by these parts, and in every other world that has them too it is
put together from their numbers. Millions of worlds are made of some ten thousand parts.

What is wrong with a moment has to do with all members, so that is looked up each time, by what
monitors see of each part. Independent moves of other members follow only where the last fault has
happened: before that none are taken at once, after it all have been.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.timed.exhaustion.merging import merge_world
from assignors.simulation.timed.exhaustion.moves import (
    Move,
    coordinator_moves,
    followed,
    member_moves,
)
from assignors.simulation.timed.exhaustion.packing import Parts, WorldPacking
from assignors.simulation.timed.exhaustion.reduction import independent_moves
from assignors.simulation.timed.exhaustion.steps import judged
from assignors.simulation.timed.exhaustion.world import (
    MEMBERS_MAX,
    Findings,
    Model,
    World,
    seen_of_coordinator,
    seen_of_members,
)
from assignors.simulation.timed.protocols.kafka.coordinator import WaitingCoordinator
from assignors.simulation.timed.protocols.effects import Reply

NOBODY = -1
"""In place of a member's row: the coordinator's own moves are nobody's."""


class PackedMove(NamedTuple):
    """A move, and the form of the world it leads to."""

    world: bytes
    is_fault: bool
    found: Findings
    """(monitor, what is wrong) with its steps, and with the moments after them."""


class Look(NamedTuple):
    """What monitors see of the parts that one step may change: numbers."""

    coordinator: int
    member: int


class Change(NamedTuple):
    """What a move makes of the parts that it depends on: their numbers."""

    coordinator: int
    left: int
    member: int
    is_fault: bool
    looks: tuple[Look, ...]
    """Of the moments after its steps, those that look different than before."""
    found: Findings
    """What is wrong with its steps."""


class PartFacts(NamedTuple):
    """What of a member's part others have to do with."""

    look: int
    lives_as: str | None
    """Its member id, `None` where no process runs."""


@dataclass(slots=True, kw_only=True)
class RememberedMoves:
    """The moves of a consumer group met so far, by the numbers of the parts they depend on."""

    model: Model
    packing: WorldPacking
    start: World
    of_members: dict[tuple[int, int, int], tuple[Change, ...]] = field(default_factory=dict)
    """The coordinator's part, what is left, and the member's part -> its moves."""
    of_coordinators: dict[tuple[int, int, tuple[str | None, ...]], tuple[Change, ...]] = field(
        default_factory=dict
    )
    """The coordinator's part, what is left, and who lives -> the coordinator's moves."""
    at_once: dict[int, tuple[int, Findings]] = field(default_factory=dict)
    """A member's part -> what its independent moves make of it, and what is wrong with these."""
    facts: dict[int, PartFacts] = field(default_factory=dict)
    """By the number of a member's part."""
    looks: Parts = field(default_factory=Parts)
    """What monitors see of members, and what these really do."""
    shown: dict[int, tuple[int, int]] = field(default_factory=dict)
    """A member's look -> a state that has it, and what it really does: numbers of the model."""
    coordinators: dict[int, int] = field(default_factory=dict)
    """What monitors see of a coordinator -> a state of which they see that."""
    judged: dict[tuple[int, ...], Findings] = field(default_factory=dict)
    """What monitors see of the coordinator and each member -> what is wrong with that moment."""

    @staticmethod
    def are_possible(model: Model, start: World) -> bool:
        """Return whether the moves of a case depend on no more than this.

        A coordinator that may be lost keeps records that wait, and fails all members at once.
        """
        is_consumer = isinstance(model.coordinators.values[start.coordinator], WaitingCoordinator)
        return is_consumer and model.is_reduced and not start.failovers

    def __call__(self, form: bytes) -> Iterator[PackedMove]:
        """Yield every move of a world. Cost: O(its moves times members)."""
        coordinator, left, *members = self.packing.form.unpack(form)
        facts = [self.facts.get(number) or self._facts(number) for number in members]
        looks = [each.look for each in facts]
        for row, number in enumerate(members):
            key = (coordinator, left, number)
            changes = self.of_members.get(key)
            if changes is None:
                changes = self.of_members[key] = self._changes_of_member(form, row)
            for change in changes:
                yield self._moved(change, row, left, members, looks)
        living = (coordinator, left, tuple([each.lives_as for each in facts]))
        changes = self.of_coordinators.get(living)
        if changes is None:
            changes = self.of_coordinators[living] = self._changes_of_coordinator(form)
        for change in changes:
            yield self._moved(change, NOBODY, left, members, looks)

    def _moved(
        self, change: Change, row: int, left: int, members: list[int], looks: list[int]
    ) -> PackedMove:
        """Return a change as a move of a world with these members."""
        after, found = [*members], change.found
        if row != NOBODY:
            after[row] = change.member
        for look in change.looks:
            found += self._wrong(look, row, looks)
        form = self.packing.form.pack(change.coordinator, change.left, *after)
        if change.left != left and not any(self.packing.left.values[change.left]):
            for other, number in enumerate(after):
                if other != row:
                    after[other], wrong = self._taken_at_once(form, other, number)
                    found += wrong
            form = self.packing.form.pack(change.coordinator, change.left, *after)
        return PackedMove(form, change.is_fault, found)

    def _wrong(self, look: Look, row: int, looks: Sequence[int]) -> Findings:
        """Return what is wrong with the moment after a step."""
        members = [look.member if each == row else seen for each, seen in enumerate(looks)]
        key = (look.coordinator, *members)
        found = self.judged.get(key)
        if found is None:
            shown = [self.shown[each] for each in members]
            world = self.start._replace(
                coordinator=self.coordinators[look.coordinator],
                members=tuple(state for state, _ in shown),
                does=tuple(does for _, does in shown),
            )
            found = self.judged[key] = judged(self.model, world)
        return found

    # What is met first

    def _changes_of_member(self, form: bytes, row: int) -> tuple[Change, ...]:
        world = self.packing.unpack(form)
        found = member_moves(self.model, world, row)
        return tuple(self._change(world, row, move) for move in found)

    def _changes_of_coordinator(self, form: bytes) -> tuple[Change, ...]:
        world = self.packing.unpack(form)
        found = coordinator_moves(self.model, world)
        return tuple(self._change(world, NOBODY, move) for move in found)

    def _change(self, before: World, row: int, move: Move) -> Change:
        """Return what a move makes of the parts of a world, with its own independent moves."""
        whole = followed(self.model, move, () if row == NOBODY else (row,))
        effects = [effect for step in whole.steps for effect in step.effects]
        replies = [effect.number for effect in effects if isinstance(effect, Reply)]
        assert all(number % MEMBERS_MAX == row for number in replies), "nobody else is answered"
        _, _, *were = self.packing.form.unpack(self.packing.pack(before))
        coordinator, left, *are = self.packing.form.unpack(self.packing.pack(whole.world))
        are_same = [one == other for one, other in zip(were, are, strict=True)]
        assert all(are_same[:row] + are_same[row + 1 :]), "it changes no other member"
        seen, looks = self._look(before, row), []
        for step in whole.steps:
            now = self._look(step.world, row)
            if now != seen:
                looks.append(now)
            seen = now
        member = NOBODY if row == NOBODY else are[row]
        found = tuple(each for step in whole.steps for each in step.found)
        return Change(coordinator, left, member, move.is_fault, tuple(looks), found)

    def _taken_at_once(self, form: bytes, row: int, number: int) -> tuple[int, Findings]:
        """Return what a member's independent moves make of its part. Monitors see none of them."""
        known = self.at_once.get(number)
        if known is None:
            world = self.packing.unpack(form)
            steps = independent_moves(self.model, world, (row,))
            if steps:
                world = merge_world(self.model, steps[-1].world)
            found = tuple(each for step in steps for each in step.found)
            known = self.at_once[number] = (self.packing.member_part(world, row), found)
        return known

    def _look(self, world: World, row: int) -> Look:
        """Return what monitors see of the coordinator, and of a member if there is one."""
        coordinator = seen_of_coordinator(self.model, world.coordinator)
        self.coordinators.setdefault(coordinator, world.coordinator)
        if row == NOBODY:
            return Look(coordinator, NOBODY)
        return Look(coordinator, self._look_of_member(world.members[row], world.does[row]))

    def _look_of_member(self, state: int, does: int) -> int:
        (seen,) = seen_of_members(self.model, (state,))
        look = self.looks.number_of((seen, does))
        self.shown.setdefault(look, (state, does))
        return look

    def _facts(self, number: int) -> PartFacts:
        state, does, *_ = self.packing.members.values[number]
        member = self.model.members.values[state]
        lives_as = member.member_id if member.is_up else None
        facts = self.facts[number] = PartFacts(self._look_of_member(state, does), lives_as)
        return facts
