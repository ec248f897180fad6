"""An assignor: its name, the rebalance protocols it supports, and one pure function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum, IntEnum

from assignors.model import Group
from assignors.options import Options
from assignors.rebalance import Rebalance

NO_CHOICE = Options()


class RebalanceProtocol(IntEnum):
    """When members revoke partitions: all before a round, or only those that move."""

    EAGER = 0
    COOPERATIVE = 1


class UserData(Enum):
    """What members write into UserData under an assignor, and so where their claims are."""

    NONE = "none"
    """Nothing: the assignor is not sticky."""
    STICKY = "sticky"
    """All claims and their generation (`StickyAssignor`)."""
    COOPERATIVE = "cooperative"
    """The generation alone; claims are in OwnedPartitions (`CooperativeStickyAssignor`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignor:
    """An assignor as the registry, the command and the simulator know it.

    `assign` is pure: the same group gives the same answer. It raises `ValueError` for a group
    that cannot exist (two topics with one id), never for what members claim; a copy of Kafka's
    assignor raises `JavaFailure` where that one throws. `name` is the protocol name in JoinGroup.
    """

    family: str
    name: str
    assign: Callable[[Group], Rebalance]
    protocols: frozenset[RebalanceProtocol] = frozenset({RebalanceProtocol.EAGER})
    user_data: UserData = UserData.NONE
    """`COOPERATIVE` in place of `NONE` where `protocols` has that: members go on consuming, and a
    leader that does not read what they own would give it away."""
    keeps_lists: bool = False
    """Whether answers have `Rebalance.lists` and `order`: those of the copies of Kafka's do."""
    configure: Callable[[Options], Callable[[Group], Rebalance] | None] | None = None
    """Options -> `assign` under them, `None` where they change nothing; `None`: it has none."""

    def __post_init__(self) -> None:
        """See `user_data`."""
        if self.is_cooperative and self.user_data is UserData.NONE:
            object.__setattr__(self, "user_data", UserData.COOPERATIVE)

    @property
    def full_name(self) -> str:
        """`family/name`, as the registry lists it."""
        return f"{self.family}/{self.name}"

    @property
    def is_cooperative(self) -> bool:
        """Whether members keep consuming during a rebalance under this assignor."""
        return RebalanceProtocol.COOPERATIVE in self.protocols

    def configured(self, options: Options) -> Assignor:
        """Return this assignor under these options; itself where it has none to choose.

        >>> from assignors import OnFailure, assignor_named
        >>> repairing = Options(on_failure=OnFailure.REPAIR)
        >>> assignor_named("java/sticky").configured(repairing).full_name
        'java/sticky'
        """
        if self.configure is None or options == NO_CHOICE:
            return self
        assign = self.configure(options)
        return self if assign is None else replace(self, assign=assign)
