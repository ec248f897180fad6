"""The part of a strategy by weight that is the same for every client: its options.

Only the member that leads needs weights. It refreshes them from the first round that it leads until
a round is over that another member led, or until it has left the group.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from fractions import Fraction
from typing import Any

from assignors.assignor import Assignor
from assignors.clients.common.base_strategy import BaseStrategy
from assignors.clients.common.client_session import OnNote, OnRound
from assignors.clients.common.offset_samples import Offsets
from assignors.clients.common.weight_source import (
    REFRESH_S,
    WeightOptions,
    WeightsOf,
    WeightSource,
)
from assignors.registry import assignor_named
from assignors.weighting import Balance
from assignors.weighting.token_bucket import TimedBudget
from assignors.workload import BALANCE, HALF_LIFE_S, HORIZON_S
from assignors.workload.snapshot import MAX_AGE_S
from wire.protocol.capacity import capacity_bytes

ReadOffsets = Callable[[Any, Mapping[str, int]], Awaitable[tuple[Offsets, Offsets]]]
"""Coordinator and partition counts in; log ends and committed offsets out."""

PARTS = 1_000_000
"""Tolerance and trigger are exact to so many parts."""


class WeightedStrategy(BaseStrategy):
    """An assignor of family `weighted`, and where its weights come from."""

    def __init__(
        self,
        assignor: str | Assignor,
        *,
        capacity: int | None = None,
        weights: WeightsOf | None = None,
        horizon_s: float = HORIZON_S,
        half_life_s: float = HALF_LIFE_S,
        refresh_s: float = REFRESH_S,
        max_age_s: float = MAX_AGE_S,
        tolerance: float = float(BALANCE.tolerance),
        trigger: float = float(BALANCE.trigger),
        move_batch: int | None = None,
        batch_every_s: float = 60.0,
        rack_id: str | None = None,
        on_note: OnNote | None = None,
        on_round: OnRound | None = None,
    ) -> None:
        """Make a strategy object for one consumer.

        `capacity` is what this member can carry beside the others, in any unit that all use; a
        member without one counts as the usual one. A partition weighs its rate times `horizon_s`
        plus its lag, in records, from offsets that the member that leads reads every `refresh_s`; a
        rate of `half_life_s` ago counts half, or less where rates change. Or `weights` says what
        partitions weigh: a function from topic -> partition count to topic -> numbers, called as
        often, in a thread of its own; it may block. Weights older than `max_age_s` move nothing.
        Members come down to `tolerance` above their fair use where one is above it by more than
        `trigger`, with `move_batch` moves (`None`: any number) each `batch_every_s`. The rest is as
        in `strategy`.
        Raises `ValueError` for what cannot be.
        """
        if capacity is not None:
            capacity_bytes(capacity)  # says what is wrong with it before the member joins
        options = WeightOptions(
            horizon_s=horizon_s,
            half_life_s=half_life_s,
            refresh_s=refresh_s,
            max_age_s=max_age_s,
            balance=Balance(tolerance=_exact(tolerance), trigger=_exact(trigger)),
        )
        self._led_generation = -1
        """The newest generation that this member led."""
        found = assignor if isinstance(assignor, Assignor) else assignor_named(assignor)
        self._source = WeightSource(
            options, kind=found.user_data, weights=weights, logger=self._logger
        )
        super().__init__(
            found,
            rack_id=rack_id,
            on_note=on_note,
            on_round=on_round,
            weighting=self._source.weighting,
            budget=TimedBudget(cost=move_batch, every_ms=_ms(batch_every_s)),
            capacity=capacity,
        )

    async def _refresh_once(self, coordinator: Any, read_offsets: ReadOffsets) -> None:  # noqa: ANN401 - the client's type
        """Refresh the weights; whatever goes wrong, no weights is better than no group."""
        source = self._source
        try:
            if source.needs_samples:
                at_ms = source.now_ms()
                log_end, committed = await read_offsets(coordinator, source.partition_counts)
                if self._needs_weights(coordinator):
                    source.sampled(log_end=log_end, committed=committed, at_ms=at_ms)
            else:
                source.ask()
        except Exception as error:  # noqa: BLE001 - as above
            source.failed(error)

    def _needs_weights(self, coordinator: Any) -> bool:  # noqa: ANN401 - as above
        """Return whether this member leads a group, as far as its client knows."""
        raise NotImplementedError

    def _keep_leader(self, generation: int) -> bool:
        """Record who led the round of this generation; return whether it was this member."""
        if self._session.is_applied:
            self._led_generation = generation
        else:
            self._source.led_by_another()
        return self._session.is_applied

    @property
    def _is_leading(self) -> bool:
        """Whether no round is over that another member led."""
        return self._session.membership.generation <= self._led_generation


def _exact(number: float) -> Fraction:
    """Return a number as it was meant: 0.05 is 1/20. `ValueError` for NaN and infinity."""
    try:
        return Fraction(number).limit_denominator(PARTS)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"expected a number, found {number!r}") from None


def _ms(seconds: float) -> int:
    """Return whole milliseconds; `ValueError` for what is not above 0."""
    if not 0 < seconds < float("inf"):
        raise ValueError(f"batch_every_s: {seconds} is not above 0")
    return max(1, round(seconds * 1000))
