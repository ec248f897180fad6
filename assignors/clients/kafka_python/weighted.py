"""Assignment by weight in kafka-python, with weights from the leader's own client.

    from kafka import KafkaConsumer
    from assignors.clients.kafka_python import cooperative_weighted

    consumer = KafkaConsumer(
        "orders", group_id="g", partition_assignment_strategy=[cooperative_weighted(capacity=4)]
    )

kafka-python computes an assignment in the thread of its event loop, where a question to the broker
raises (dpkp/kafka-python#3112). So offsets are read before, in the background: by a task of
that loop, between the client's other requests, as long as this member leads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka.coordinator.base import MemberState
from kafka.errors import KafkaConfigurationError

from assignors.clients.common.base_strategy import named_strategy
from assignors.clients.common.weighted_strategy import WeightedStrategy
from assignors.clients.kafka_python.adapter import NO_COORDINATOR, Strategy
from assignors.clients.kafka_python.offset_samples import read_offsets


class Weighted(WeightedStrategy, Strategy):
    """An assignor by weight as kafka-python takes it."""

    _refreshing: Any = None
    """The future of the task that refreshes the weights."""

    def metadata(self, topics: Iterable[str]) -> bytes:
        """Return the Subscription bytes to join with.

        Raises `KafkaConfigurationError` where the strategy cannot know its consumer: then it
        could not read offsets, either.
        """
        if self._find_coordinator() is None:
            raise KafkaConfigurationError(NO_COORDINATOR)
        return super().metadata(topics)

    def on_assignment(self, assignment: Any, generation: int) -> None:  # noqa: ANN401 - kafka-python's
        """Record the assignment; where this member leads, begin to refresh the weights."""
        super().on_assignment(assignment, generation)
        coordinator = self._known_coordinator()
        if coordinator is None or not self._keep_leader(generation):
            return
        if self._refreshing is None or self._refreshing.is_done:
            self._refreshing = coordinator._manager.call_soon(self._refresh, coordinator)  # noqa: SLF001 - no other way

    async def _refresh(self, coordinator: Any) -> None:  # noqa: ANN401 - as above
        """Refresh the weights from now on, as long as this member leads."""
        while self._needs_weights(coordinator):
            await self._refresh_once(coordinator, read_offsets)
            await coordinator._net.sleep(self._source.options.refresh_s)  # noqa: SLF001 - as above

    def _needs_weights(self, coordinator: Any) -> bool:  # noqa: ANN401 - as above
        return self._is_leading and coordinator.state is not MemberState.UNJOINED


weighted = named_strategy(Weighted, "weighted")
"""`weighted(...)` makes the object for the eager protocol; the options are those of `Weighted`."""

cooperative_weighted = named_strategy(Weighted, "cooperative-weighted")
"""`cooperative_weighted(...)` makes the object for the cooperative protocol."""
