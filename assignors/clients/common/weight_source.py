"""Where a leader's weights come from: samples of offsets, or a function of the user's.

Both are refreshed in the background, and a round reads what was found last: it never waits. That
is not a matter of speed. kafka-python 3 computes an assignment in the thread of its event loop,
where a question to the broker raises (dpkp/kafka-python#3112); in any client a leader that waits
keeps the whole group waiting. Only the member that leads refreshes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assignors.assignor import UserData
from assignors.claims import read_claim
from assignors.clients.common.move_batches import monotonic_ms
from assignors.group_bytes.capacities import capacities_of
from assignors.model import Group
from assignors.weighting import Balance, Weighting
from assignors.workload import (
    BALANCE,
    HALF_LIFE_S,
    HORIZON_S,
    NumberedPartitions,
    Sample,
    Snapshot,
    Workload,
    after,
    weighting_at,
    weights_of,
)
from assignors.workload.numbered import Float64
from assignors.workload.snapshot import MAX_AGE_S

REFRESH_S = 30.0
"""How long after one refresh the next one begins."""

FINEST = float(1 << 20)
"""Weights with fractions are scaled so that the largest is about this."""

WeightsOf = Callable[[Mapping[str, int]], Mapping[str, Sequence[float | None]]]
"""Topic -> partition count in; topic -> what each partition weighs out. It may block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightOptions:
    """How weights are made and used. Times are in seconds."""

    horizon_s: float = HORIZON_S
    """The work of a partition is its rate times so long, plus its lag."""
    refresh_s: float = REFRESH_S
    half_life_s: float = HALF_LIFE_S
    """A rate measured so long ago counts half of one measured now, or less where rates change."""
    max_age_s: float = MAX_AGE_S
    """Weights that are older move nothing."""
    balance: Balance = BALANCE

    def __post_init__(self) -> None:
        """Raise `ValueError` for a time that is not above 0."""
        for name in ("horizon_s", "refresh_s", "half_life_s", "max_age_s"):
            value = getattr(self, name)
            if not 0 < value < float("inf"):
                raise ValueError(f"{name}: {value} is not above 0")


class WeightSource:
    """What one member knows of the weights. `weighting` is called in a round: it only reads.

    Where the member leads, its client's loop calls `sampled` or `ask` every `refresh_s`. References
    are replaced, never what they refer to, so that the threads need no lock.
    """

    def __init__(
        self,
        options: WeightOptions,
        *,
        kind: UserData,
        weights: WeightsOf | None,
        logger: logging.Logger,
        clock: Callable[[], int] = monotonic_ms,
    ) -> None:
        """Take weights from samples, or from `weights` where that is given.

        `kind` is where members write what they own.
        """
        self.options = options
        self.snapshot: Snapshot | None = None
        self.partition_counts: Mapping[str, int] = {}
        """The topics of the group that was led last: those that are sampled."""
        self._capacities: Sequence[int] = ()
        """Of the members of that group."""
        self._kind = kind
        self._is_new: bool | None = None
        """Whether nobody owned anything when this member led first, and it led all rounds since."""
        self._weights = weights
        self._logger = logger
        self._clock = clock
        self._workload: Workload | None = None
        self._asked: tuple[NumberedPartitions, Float64] | None = None
        self._asking: threading.Thread | None = None
        self._has_failed = False

    def now_ms(self) -> int:
        """Return the time of a clock that never goes back."""
        return self._clock()

    @property
    def needs_samples(self) -> bool:
        """Whether weights come from offsets, not from a function of the user's."""
        return self._weights is None

    def weighting(self, group: Group) -> Weighting:
        """Return the weighting of a round. No input or output, no waiting. Cost: O(M + P).

        In a new group all partitions weigh the same until the first weights are found: nothing was
        balanced by weight before, and members that start a moment later must not wait for them.
        """
        counts = {name: topic.partition_count for name, topic in group.cluster.topics.items()}
        capacities = capacities_of(group.members)
        self.partition_counts = counts
        self._capacities = tuple(capacities.values()) or (1,) * len(group.members)
        snapshot = self.snapshot
        if self._is_new is None:
            self._is_new = snapshot is None and self._owns_nothing(group)
        found = weighting_at(
            snapshot,
            self._clock(),
            partition_counts=counts,
            capacities=capacities,
            balance=self.options.balance,
            max_age_s=self.options.max_age_s,
        )
        return replace(found, must_hold=None) if self._is_new and snapshot is None else found

    def led_by_another(self) -> None:
        """Record a round that another member led: it may have balanced by weight."""
        self._is_new = False

    def _owns_nothing(self, group: Group) -> bool:
        """Return whether no member owns anything, as far as they say."""
        claims = (read_claim(member, self._kind) for member in group.members)
        return all(claim.is_known and not claim.owned for claim in claims)

    def sampled(
        self,
        *,
        log_end: Mapping[str, Sequence[int | None]],
        committed: Mapping[str, Sequence[int | None]],
        at_ms: int,
    ) -> None:
        """Take offsets that were asked for at this time. Cost: O(P log P)."""
        sample = Sample.of(at_ms, log_end=log_end, committed=committed)
        if not sample.log_end.size:
            return  # the client does not know the topics yet
        if np.isnan(sample.log_end).all() and np.isnan(sample.committed).all():
            self.failed(ValueError("no offset could be read"))
            return
        options = self.options
        self._workload = after(self._workload, sample, half_life_s=options.half_life_s)
        found = self._workload.weights(horizon_s=options.horizon_s, capacities=self._capacities)
        self._keep(found, at_ms)

    def failed(self, error: BaseException) -> None:
        """Record that a refresh failed: what is known stays, until it is too old."""
        level = logging.DEBUG if self._has_failed else logging.WARNING
        self._has_failed = True
        self._logger.log(level, "weights were not refreshed: %r", error, exc_info=error)

    def ask(self) -> None:
        """Call the user's function in a thread of its own, if it is not running already."""
        if self._weights is None or not self.partition_counts:
            return
        if self._asking is not None and self._asking.is_alive():
            return
        counts = dict(self.partition_counts)
        self._asking = threading.Thread(target=self._ask, args=(self._weights, counts), daemon=True)
        self._asking.start()

    def _ask(self, weights: WeightsOf, partition_counts: dict[str, int]) -> None:
        began_ms = self._clock()
        try:
            found = weights(dict(partition_counts))
            if not isinstance(found, Mapping):
                raise TypeError(f"expected topic -> weights, found {found!r}")  # noqa: TRY301
            partitions = NumberedPartitions.of(partition_counts)
            values = partitions.values(found)
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises
            self.failed(error)
            return
        if self._asked is not None:
            known = self._asked[0].realigned(self._asked[1], partitions)
            values = np.where(np.isnan(values), known, values)
        self._asked = partitions, values
        self._keep(weights_of(partitions, _with_fractions(values)), began_ms)

    def _keep(self, weights: Mapping[str, tuple[int, ...]], at_ms: int) -> None:
        """Keep weights for the next rounds, if there are any."""
        if weights:
            self.snapshot = Snapshot(at_ms=at_ms, weights=weights)
        if self._has_failed:
            self._logger.info("weights are refreshed again")
        self._has_failed = False


def _with_fractions(values: Float64) -> Float64:
    """Return values so large that rounding them to whole numbers keeps their proportions."""
    known = values[np.isfinite(values)]
    if not len(known) or (known == np.rint(known)).all():
        return values
    return values * max(1.0, FINEST / float(known.max()))
