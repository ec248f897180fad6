"""Who consumes though the coordinator has removed its member.

Such a process was frozen or cut off, did not poll in time, or another one has taken its instance
id. Nobody can prevent that a partition then has two consumers, so these windows are declared: two
consumers of a partition outside of them are a fault of the protocol, which the monitor
`double-consumption` finds: it excuses whom the coordinator has removed, and nobody else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.timed.scenario import MemberConfig

UUID_SIZE = 37
"""A hyphen and a UUID: what a member id has behind the name that it is made from."""


class Zombie(NamedTuple):
    """A member that consumed after the coordinator had removed it; microseconds."""

    member: str
    from_us: int
    until_us: int


@dataclass(slots=True, kw_only=True)
class Zombies:
    """Which processes consume though the coordinator has removed their members."""

    by_id: dict[str, list[int]] = field(default_factory=dict)
    """What a member id begins with -> the members that may have it."""
    since: dict[str, int] = field(default_factory=dict)
    """Member name -> when it became a zombie."""
    removed: dict[str, str] = field(default_factory=dict)
    """Member name -> the id with which it was removed last, whether it consumed or not."""
    over: list[Zombie] = field(default_factory=list)

    @classmethod
    def of(cls, members: Iterable[MemberConfig]) -> Zombies:
        """Return no zombies yet, of a run with these members. Cost: O(members)."""
        found = cls()
        for number, each in enumerate(members):
            for name in {each.name, each.instance_id or each.name}:
                found.by_id.setdefault(name, []).append(number)
        return found

    def candidates(self, member_id: str) -> list[int]:
        """Return the numbers of the members that may have this id."""
        return self.by_id.get(member_id[:-UUID_SIZE], [])

    def end(self, at: int, name: str) -> None:
        """End a member's window, if it has one: it consumes nothing any more."""
        since = self.since.pop(name, None)
        if since is not None:
            self.over.append(Zombie(name, since, at))

    def close(self, at: int) -> list[Zombie]:
        """Return all windows of a run that ends at `at`, in the order in which they ended."""
        return [*self.over, *(Zombie(name, since, at) for name, since in self.since.items())]
