"""What other groups ask of the coordinator: requests at random, each draw from its own stream."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.dice import Dice
from assignors.simulation.timed.execution.port import Request
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.random_streams import exponential, stream
from assignors.simulation.timed.scenario import BrokerConfig

SECOND = 1_000_000
"""In microseconds."""
PARTS = 1 << 32
"""A share is compared with a number below this."""
PURPOSES = ("arrivals", "groups", "checks", "changes", "check times", "replications")


class OtherAsks(NamedTuple):
    """An event: another group asks."""


@dataclass(slots=True, kw_only=True)
class OtherGroups:
    """The load of the other groups, and the times that the broker takes."""

    broker: BrokerConfig
    dice: dict[str, Dice] = field(default_factory=dict)
    """By purpose."""

    @classmethod
    def of(cls, broker: BrokerConfig, seed: int) -> OtherGroups:
        """Return the load of a run."""
        dice = {purpose: stream(seed, "other groups", purpose) for purpose in PURPOSES}
        return cls(broker=broker, dice=dice)

    def next_at(self, after: int) -> int | None:
        """Return when the next request comes after a moment; `None`: none does."""
        others = self.broker.execution.others
        if not others.per_second:
            return None
        at = after + exponential(self.dice["arrivals"], SECOND // others.per_second)
        is_over = others.until_ms is not None and at >= others.until_ms * MILLISECOND
        return None if is_over else at

    def request(self, number: int) -> tuple[Request, int]:
        """Return the next request, and how long its check takes if it needs one."""
        config = self.broker.execution
        others = config.others
        first = config.partitions
        group = first + self.dice["groups"].below(others.groups)
        is_checked = self._happens("checks", others.checks_share)
        is_commit = not self._happens("changes", others.changes_share)
        mean = config.check_us
        if group == first and others.slow_group_check_us is not None:
            mean = others.slow_group_check_us
        takes = self.check_us(mean) if is_checked else 0
        return Request(number, group, None, takes > 0, is_commit), takes

    def check_us(self, mean: int) -> int:
        """Return how long a check takes."""
        return self._time("check times", mean)

    def replication_us(self) -> int:
        """Return how long the next replication takes."""
        return self._time("replications", self.broker.append_us)

    def _happens(self, purpose: str, share: float) -> bool:
        return share > 0 and self.dice[purpose].below(PARTS) < share * PARTS

    def _time(self, purpose: str, mean: int) -> int:
        is_steady = self.broker.execution.is_steady
        return mean if is_steady else exponential(self.dice[purpose], mean)
