"""Worlds in a small form: a number for each part of one that other worlds have too.

What is the coordinator's, what is each member's, and how much may still happen are parts. Two
worlds often have most of them in common: so each part is kept once and has a number, and a world is
its numbers, four bytes each. Nothing is lost: `unpack` returns the world.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

from assignors.simulation.timed.exhaustion.world import World


@dataclass(slots=True)
class Parts:
    """Parts that are kept once each, and have a number."""

    numbers: dict[Hashable, int] = field(default_factory=dict)
    values: list[Any] = field(default_factory=list)

    def number_of(self, part: Hashable) -> int:
        """Return the number of a part; a new one is kept."""
        number = self.numbers.get(part)
        if number is None:
            number = self.numbers[part] = len(self.values)
            self.values.append(part)
        return number


@dataclass(slots=True, kw_only=True)
class WorldPacking:
    """The parts of the worlds that a search has met."""

    form: Struct
    coordinators: Parts = field(default_factory=Parts)
    members: Parts = field(default_factory=Parts)
    """Any member's: states have their member's name in them."""
    left: Parts = field(default_factory=Parts)
    """How much may still happen."""

    @classmethod
    def of(cls, members: int) -> WorldPacking:
        """Return the packing of worlds with so many members."""
        return cls(form=Struct(f"{members + 2}I"))

    def pack(self, world: World) -> bytes:
        """Return a world's form: equal for equal worlds alone. Cost: O(members)."""
        return self.form.pack(
            self.coordinators.number_of(
                (
                    world.coordinator,
                    world.log,
                    world.appends,
                    world.timers,
                    world.replicated,
                    world.tail,
                )
            ),
            self.left.number_of((world.faults, world.cuts, world.stops, world.failovers)),
            *[self.member_part(world, member) for member in range(len(world.members))],
        )

    def member_part(self, world: World, member: int) -> int:
        """Return the number of a member's part. Cost: O(1)."""
        part = (
            world.members[member],
            world.does[member],
            world.requests[member],
            world.answers[member],
            world.open[member],
            world.dead[member],
            world.member_timers[member],
            world.starts[member],
        )
        return self.members.number_of(part)

    def unpack(self, form: bytes) -> World:
        """Return the world of a form. Cost: O(members)."""
        first, second, *numbers = self.form.unpack(form)
        coordinator, log, appends, timers, replicated, tail = self.coordinators.values[first]
        faults, cuts, stops, failovers = self.left.values[second]
        parts = self.members.values
        members, does, requests, answers, still_open, dead, member_timers, starts = zip(
            *[parts[number] for number in numbers], strict=True
        )
        return World(
            coordinator=coordinator,
            log=log,
            members=members,
            does=does,
            requests=requests,
            answers=answers,
            open=still_open,
            dead=dead,
            appends=appends,
            timers=timers,
            member_timers=member_timers,
            faults=faults,
            cuts=cuts,
            starts=starts,
            stops=stops,
            failovers=failovers,
            replicated=replicated,
            tail=tail,
        )
