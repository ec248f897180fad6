"""Assignors in aiokafka: one line in the consumer's settings.

    from aiokafka import AIOKafkaConsumer
    from assignors.clients.aiokafka import strategy

    consumer = AIOKafkaConsumer(
        "orders", group_id="g", partition_assignment_strategy=[strategy("sticky")]
    )

aiokafka gives up all partitions before every round: it supports the eager protocol alone. So
under `cooperative-sticky` a member here claims nothing, takes part in groups of cooperative
members, and can lead them, as their claims are decoded (`decoding`).

What aiokafka cannot do: it drops the instance ids of static members before the assignor sees
them, so static members are ordered by member id here; and with more than one strategy it joins once
for each of them, so give it one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from aiokafka.errors import IllegalStateError, KafkaError

from assignors.assignor import Assignor, RebalanceProtocol
from assignors.clients.aiokafka.decoding import (
    DECODERS,
    LOGGER,
    blob_of,
    calling_coordinator,
    refused_topics,
)
from assignors.clients.common.base_strategy import BaseStrategy, named_strategy
from assignors.clients.common.translation import cluster_of, partitions_by_topic
from assignors.model import Cluster, Member


class Strategy(BaseStrategy):
    """An assignor as aiokafka takes it: an instance with four names, nothing on the class.

    Let it be the only one in its consumer's list. An assignor that supports the cooperative
    protocol only raises `ValueError` too.
    """

    _logger = LOGGER
    _decoders = DECODERS
    _misuse = IllegalStateError
    _refused: tuple[str, ...] = ()
    """Topics left out of the last assignment."""
    _question: asyncio.Future[None] | None = None
    """The task that asks whether the round is confirmed: the event loop would not keep it."""

    @staticmethod
    def _refuse_unfit(assignor: Assignor) -> None:
        if RebalanceProtocol.EAGER not in assignor.protocols:
            raise ValueError(
                f"aiokafka gives up everything before each round, and "
                f"{assignor.full_name} is for members that do not"
            )

    def metadata(self, topics: Iterable[str]) -> bytes:
        """Return the Subscription bytes to join with: an eager member claims nothing."""
        coordinator = self._find_coordinator()
        generation = -1 if coordinator is None else int(coordinator.generation)
        return self._session.join(topics, owned={}, generation=generation)

    def assign(self, cluster: Any, members: Mapping[str, Any]) -> dict[str, bytes]:  # noqa: ANN401
        """Return the Assignment bytes of every member, by id. Never raises for what members write.

        Cost: that of `assignors.lead`, and a few per cent for the client's cluster metadata.
        """
        coordinator = self._find_coordinator()
        return self._session.lead(
            partial(_cluster_of, cluster),
            {member_id: blob_of(metadata) for member_id, metadata in members.items()},
            instance_ids={},
            joined=None if coordinator is None else int(coordinator.generation),
        )

    def on_assignment(self, assignment: Any) -> None:  # noqa: ANN401 - aiokafka's type
        """Record the assignment; where this member leads, have its round confirmed."""
        coordinator = self._find_coordinator()
        assigned = partitions_by_topic(
            (found.topic, found.partition) for found in assignment.partitions()
        )
        generation = -1 if coordinator is None else int(coordinator.generation)
        to_confirm = self._session.applied(assigned, generation)
        # Join again once for the same topics: a leader that insists is not asked for ever.
        refused, before = refused_topics(assignment), self._refused
        self._refused = refused
        if coordinator is None:
            return
        if to_confirm:
            self._ask_later(coordinator, generation)
        if refused and refused != before:
            LOGGER.warning("assigned topics outside the subscription, joining again: %s", refused)
            coordinator.request_rejoin()

    def _ask_later(self, coordinator: Any, generation: int) -> None:  # noqa: ANN401 - as above
        """Ask a heartbeat interval from now whether the round is confirmed."""

        def ask() -> None:
            if _is_newest(coordinator, generation):
                self._question = asyncio.ensure_future(self._ask(coordinator, generation))

        delay_s = coordinator._heartbeat_interval_ms / 1000  # noqa: SLF001 - no other way
        asyncio.get_running_loop().call_later(delay_s, ask)

    async def _ask(self, coordinator: Any, generation: int) -> None:  # noqa: ANN401 - as above
        """Ask by a heartbeat like aiokafka's own, and again later where none is answered."""
        try:
            is_answered = await coordinator._do_heartbeat()  # noqa: SLF001 - as above
        except KafkaError:
            return  # aiokafka's own heartbeat meets this as well, and reports it
        if not _is_newest(coordinator, generation):
            return
        if not is_answered:
            self._ask_later(coordinator, generation)
        elif self._session.confirmed():
            coordinator.request_rejoin()
        else:
            self._look_later(coordinator, generation)

    def _look_later(self, coordinator: Any, generation: int) -> None:  # noqa: ANN401 - as above
        """Look whether partitions are to move: the budget is back, or they wait for too long."""

        def look() -> None:
            if not _is_newest(coordinator, generation):
                return
            if self._session.must_move():
                coordinator.request_rejoin()
            else:
                self._look_later(coordinator, generation)

        wait_s = self._session.wait_s(coordinator._session_timeout_ms / 1000)  # noqa: SLF001 - no other way
        if wait_s is not None:
            asyncio.get_running_loop().call_later(wait_s, look)

    @staticmethod
    def _calling_coordinator() -> Any:  # noqa: ANN401 - aiokafka's coordinator, or None
        return calling_coordinator()


strategy = Strategy
"""`strategy("sticky")` makes the object for `partition_assignment_strategy`."""

cooperative_sticky = named_strategy(Strategy, "cooperative-sticky")
"""`cooperative_sticky()` is `strategy("cooperative-sticky")`, with the same options."""


def _is_newest(coordinator: Any, generation: int) -> bool:  # noqa: ANN401 - as above
    """Return whether aiokafka knows of no round after that one."""
    is_waiting = not coordinator._rejoin_needed_fut.done()  # noqa: SLF001 - no other way
    if coordinator._closing.done():  # noqa: SLF001 - as above
        return False
    return is_waiting and int(coordinator.generation) == generation


def _cluster_of(cluster: Any, members: Sequence[Member]) -> Cluster:  # noqa: ANN401 - as above
    """Return the topics that members subscribe to; with racks where a member has one."""
    racks = {broker.nodeId: broker.rack for broker in cluster.brokers() if broker.rack}

    def replicas(topic: str, number: int) -> Sequence[int]:
        partition = getattr(cluster, "_partitions", {}).get(topic, {}).get(number)
        return getattr(partition, "replicas", ())

    return cluster_of(cluster, members, racks, replicas)


__all__ = ["Strategy", "cooperative_sticky", "strategy"]
