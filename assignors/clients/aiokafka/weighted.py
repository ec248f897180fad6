"""Assignment by weight in aiokafka, with weights from the leader's own client.

    from aiokafka import AIOKafkaConsumer
    from assignors.clients.aiokafka import weighted

    consumer = AIOKafkaConsumer(
        "orders", group_id="g", partition_assignment_strategy=[weighted(capacity=4)]
    )

aiokafka gives up all partitions before every round, so only the eager assignor is here: a move
saves state in a member, not a pause. Offsets are read by a task of the client's own event loop.
"""

from __future__ import annotations

import asyncio
from typing import Any

from assignors.clients.aiokafka.adapter import Strategy
from assignors.clients.aiokafka.offset_samples import read_offsets
from assignors.clients.common.base_strategy import named_strategy
from assignors.clients.common.weighted_strategy import WeightedStrategy


class Weighted(WeightedStrategy, Strategy):
    """An assignor by weight as aiokafka takes it. Let it be the only one in its consumer's list."""

    _refreshing: asyncio.Task[None] | None = None
    """The task that refreshes the weights."""

    def on_assignment(self, assignment: Any) -> None:  # noqa: ANN401 - aiokafka's type
        """Record the assignment; where this member leads, begin to refresh the weights."""
        super().on_assignment(assignment)
        coordinator = self._known_coordinator()
        if coordinator is None or not self._keep_leader(int(coordinator.generation)):
            return
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.ensure_future(self._refresh(coordinator))

    async def _refresh(self, coordinator: Any) -> None:  # noqa: ANN401 - as above
        """Refresh the weights from now on, as long as this member leads."""
        while self._needs_weights(coordinator):
            await self._refresh_once(coordinator, read_offsets)
            await asyncio.wait({coordinator._closing}, timeout=self._source.options.refresh_s)  # noqa: SLF001 - no other way

    def _needs_weights(self, coordinator: Any) -> bool:  # noqa: ANN401 - as above
        is_member = int(coordinator.generation) >= 0 and not coordinator._closing.done()  # noqa: SLF001 - as above
        return self._is_leading and is_member


weighted = named_strategy(Weighted, "weighted")
"""`weighted(...)` makes the object for the client; the options are those of `Weighted`."""
