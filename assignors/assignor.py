"""What an assignor is: a name, what it speaks, and one pure function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, IntEnum

from assignors.model import Group
from assignors.options import Options
from assignors.rebalance import Rebalance


class RebalanceProtocol(IntEnum):
    """How members let go of partitions: all before the round, or only what must move."""

    EAGER = 0
    COOPERATIVE = 1


class UserData(Enum):
    """What a member's UserData says under an assignor, and so where its claims stand."""

    NONE = "none"
    """Nothing: the assignor keeps nothing where it was."""
    STICKY = "sticky"
    """All claims and their generation (`StickyAssignor`)."""
    COOPERATIVE = "cooperative"
    """The generation alone; claims stand in OwnedPartitions (`CooperativeStickyAssignor`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignor:
    """An assignor as the registry, the command and the simulator know it.

    `assign` is pure: it raises `ValueError` for a group that cannot be described, never for
    what a member says, unless it copies a reference that fails there (`JavaFailure`). `name` is
    the protocol name on the wire.
    """

    family: str
    name: str
    assign: Callable[[Group], Rebalance]
    protocols: frozenset[RebalanceProtocol] = frozenset({RebalanceProtocol.EAGER})
    user_data: UserData = UserData.NONE
    keeps_lists: bool = False
    """Whether answers have `Rebalance.lists` and `order`: those of a copied reference do."""
    configure: Callable[[Options], Callable[[Group], Rebalance]] | None = None
    """What `assign` is under other options than the default; `None` where there are none."""

    @property
    def full_name(self) -> str:
        """`family/name`, as the registry lists it."""
        return f"{self.family}/{self.name}"

    @property
    def is_cooperative(self) -> bool:
        """Whether members keep their partitions through a round under this assignor."""
        return RebalanceProtocol.COOPERATIVE in self.protocols

    def configured(self, options: Options) -> Assignor:
        """Return this assignor under these options."""
        if self.configure is None or options == Options():
            return self
        return replace(self, assign=self.configure(options))
