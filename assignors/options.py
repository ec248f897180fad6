"""Options of the assignors: which JDK, what to do where Kafka fails, and how long to search.

Every `Assignor` takes them (`Assignor.configured`) and ignores those of other families.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from assignors.names.sequences import as_number, take

Jdk = Literal[17, 25]


class OnFailure(StrEnum):
    """What a copy does where Kafka's assignor throws an exception."""

    RAISE = "raise"
    """Raise `JavaFailure`, with the exception's name and message."""
    REPAIR = "repair"
    """Leave out what made it fail, answer without it, and say so in a note `repaired`."""


class Prefer(StrEnum):
    """Which of the last two aims of the optimal assignors comes first."""

    MOVES = "moves"
    """The fewest moves, and of these the least spread of topics."""
    SPREAD = "spread"
    """The least spread of topics, and of these the fewest moves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be chosen: `jdk` and `on_failure` for java and server, the others for optimal."""

    jdk: Jdk = 17
    """The JDK whose hash tables are copied. It decides answers of `server/uniform` alone."""
    on_failure: OnFailure = OnFailure.RAISE
    limit: int | None = None
    """Steps after which the optimal assignors stop searching, `None`: when nothing is better.

    A step takes about a microsecond. Where the limit is reached all is assigned, and
    `Rebalance.stats` has `limit_reached`, and how far from the best the answer is at most:
    `balance_gap_max`, `racks_gap_max`, `moves_gap_max` and `spread_gap_max`.
    """
    prefer: Prefer = Prefer.MOVES

    @property
    def are_of_search(self) -> bool:
        """Whether something is chosen for the optimal assignors."""
        return self.limit is not None or self.prefer is not Prefer.MOVES

    def __post_init__(self) -> None:
        """Raise `ValueError` for what cannot be chosen, and a limit that is no natural number."""
        if self.jdk not in get_args(Jdk):
            raise ValueError(f"jdk: expected one of {get_args(Jdk)}, found {self.jdk!r}")
        take(self, on_failure=OnFailure(self.on_failure), prefer=Prefer(self.prefer))
        if self.limit is None:
            return
        if type(self.limit) is not int:
            take(self, limit=as_number(self.limit, "limit"))
        if self.limit < 0:
            raise ValueError(f"limit: {self.limit} is negative")
