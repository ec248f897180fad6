"""Assignors in kafka-python 3: one line in the consumer's settings.

    from kafka import KafkaConsumer
    from assignors.clients.kafka_python import cooperative_sticky

    consumer = KafkaConsumer(
        "orders", group_id="g", partition_assignment_strategy=[cooperative_sticky()]
    )

`strategy("optimal/sticky")` is the general form: any name of the registry but those of the
broker, `package.module:object`, or an `Assignor`. One strategy object serves one consumer.

kafka-python passes an assignor neither what its consumer owns nor the generation it is in. Both are
read from the coordinator that calls, which is found in the calling frames;
`strategy.bind(consumer)` names it instead. Where neither works, a cooperative strategy refuses to
join: claims from memory give partitions two owners.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from kafka.coordinator.assignors.abstract import RebalanceProtocol as ClientProtocol
from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.errors import KafkaConfigurationError

from assignors.assignor import UserData
from assignors.clients.common.base_strategy import (
    BaseStrategy,
    calling_objects,
    named_strategy,
)
from assignors.clients.common.translation import cluster_of, partitions_by_topic
from assignors.clients.kafka_python.decoding import DECODERS, LOGGER, source_of
from assignors.clients.kafka_python.pending_join import PendingJoin
from assignors.model import Cluster, Member
from wire import TopicPartitions

JOIN_SENT = "a join was sent"
"""As true as `True` for kafka-python, which sets `True` itself when a SyncGroup was refused."""

HEARTBEAT_POLL_S = 0.05
"""How often to look whether a heartbeat that is due was answered."""

NO_COORDINATOR = (
    "a cooperative strategy must know what its consumer owns: call strategy.bind(consumer) "
    "right after the consumer is made"
)


class Strategy(BaseStrategy, AbstractPartitionAssignor):  # type: ignore[misc]  # has no types
    """An assignor as kafka-python takes it: an instance, not a class."""

    _logger = LOGGER
    _decoders = DECODERS
    _misuse = KafkaConfigurationError

    def bind(self, consumer: object) -> None:
        """Name the `KafkaConsumer` that this strategy serves, where it cannot be found by itself.

        Raises `KafkaConfigurationError` if the strategy serves another one.
        """
        self._attach(getattr(consumer, "_coordinator", None))

    def supported_protocols(self) -> list[ClientProtocol]:
        """Return kafka-python's names of the assignor's protocols, cooperative first."""
        self._find_coordinator()
        protocols = sorted(map(int, self._session.assignor.protocols), reverse=True)
        return [ClientProtocol(protocol) for protocol in protocols]

    def metadata(self, topics: Iterable[str]) -> bytes:
        """Return the Subscription bytes to join with.

        Raises `KafkaConfigurationError` where a cooperative strategy cannot know what its
        consumer owns.
        """
        coordinator = self._find_coordinator()
        if coordinator is None:
            if self._session.assignor.is_cooperative:
                raise KafkaConfigurationError(NO_COORDINATOR)
            return self._session.join(topics, owned={}, generation=-1)
        was_refused = coordinator.rejoin_needed is True
        # A round that began because topics or metadata changed is forgotten by kafka-python when
        # the poll that began it times out: no heartbeats, no answer, out of the group for ever.
        coordinator.rejoin_needed = JOIN_SENT
        _keep_join_answer(coordinator)
        self._forget_positions(coordinator)
        if _last_protocol(coordinator) not in {None, *self._names()}:
            self._session.not_chosen()
        return self._session.join(
            topics,
            owned=self._owned(coordinator),
            generation=coordinator.group_metadata().generation_id,
            may_repeat=not was_refused,
        )

    def assign(self, cluster: Any, members: Sequence[Any]) -> dict[str, bytes]:  # noqa: ANN401
        """Return the Assignment bytes of every member, by id. Never raises for what members write.

        Cost: that of `assignors.lead`, and a few per cent for the client's cluster metadata.
        """
        coordinator = self._find_coordinator()
        if coordinator is not None:
            _watch_assigned_topics(coordinator)
        return self._session.lead(
            partial(_cluster_of, cluster),
            {member.member_id: source_of(member.metadata) for member in members},
            instance_ids={
                member.member_id: member.group_instance_id
                for member in members
                if member.group_instance_id is not None
            },
            joined=None if coordinator is None else coordinator.group_metadata().generation_id,
        )

    def on_assignment(self, assignment: Any, generation: int) -> None:  # noqa: ANN401
        """Record the assignment; where this member leads, have its round confirmed."""
        coordinator = self._find_coordinator()
        assigned = partitions_by_topic(
            (found.topic, found.partition) for found in assignment.partitions()
        )
        to_confirm = self._session.applied(assigned, generation)
        for other in _others_of(coordinator, self):
            other._session.applied(assigned, generation)  # noqa: SLF001 - of the same class
        if to_confirm and coordinator is not None:
            coordinator._manager.call_soon(self._await_heartbeat, coordinator, generation)  # noqa: SLF001 - no other way

    async def _await_heartbeat(self, coordinator: Any, generation: int) -> None:  # noqa: ANN401 - as above
        """Wait until the first heartbeat of a round is answered: that confirms the round.

        From then on, as long as no other round begins, start one where partitions are to move.
        """
        beats = coordinator.heartbeat
        wait_s = coordinator.config["heartbeat_interval_ms"] / 1000
        while True:
            await coordinator._net.sleep(wait_s)  # noqa: SLF001 - as above
            if not _is_newest(coordinator, generation):
                return
            if beats.last_receive > beats.last_reset:
                break
            wait_s = HEARTBEAT_POLL_S
        self._confirm(coordinator)
        session_s = coordinator.config["session_timeout_ms"] / 1000
        while (wait_for_moves_s := self._session.wait_s(session_s)) is not None:
            await coordinator._net.sleep(wait_for_moves_s)  # noqa: SLF001 - as above
            if not _is_newest(coordinator, generation):
                return
            if self._session.must_move():
                coordinator.request_rejoin()
                return

    def _confirm(self, coordinator: Any) -> None:  # noqa: ANN401 - as above
        if self._session.confirmed():
            coordinator.request_rejoin()

    @staticmethod
    def _calling_coordinator() -> Any:  # noqa: ANN401 - as above
        return next(
            (one for one in calling_objects() if isinstance(one, ConsumerCoordinator)), None
        )

    def _names(self) -> set[str]:
        """Return the names of all our strategies of this consumer."""
        return {self.name, *(other.name for other in _others_of(self._known_coordinator(), self))}

    def _owned(self, coordinator: Any) -> TopicPartitions:  # noqa: ANN401 - as above
        """Return what the consumer owns now: nothing where it gives up everything to rejoin."""
        if (
            self._session.membership.kind is not UserData.COOPERATIVE
            or coordinator._rebalance_protocol != ClientProtocol.COOPERATIVE  # noqa: SLF001 - no other way
        ):
            return {}
        live = coordinator._subscription.assigned_partitions()  # noqa: SLF001 - as above
        return partitions_by_topic((found.topic, found.partition) for found in live)

    def _forget_positions(self, coordinator: Any) -> None:  # noqa: ANN401 - as above
        """Forget partitions that were given up, where an answer may have been missed since.

        kafka-python keeps what it gave up, positions included, until an answer is applied. When
        that never happened somebody else may have consumed meanwhile, and it would go on from
        where it was instead of from what was committed.
        """
        is_eager = coordinator._rebalance_protocol == ClientProtocol.EAGER  # noqa: SLF001 - no other way
        if is_eager and self._session.membership.repeats:
            coordinator._subscription.assign_from_subscribed([])  # noqa: SLF001 - as above


strategy = Strategy
"""`strategy("sticky")` makes the object for `partition_assignment_strategy`."""

cooperative_sticky = named_strategy(Strategy, "cooperative-sticky")
"""`cooperative_sticky()` is `strategy("cooperative-sticky")`, with the same options."""


def _is_newest(coordinator: Any, generation: int) -> bool:  # noqa: ANN401 - as above
    """Return whether kafka-python knows of no round after that one."""
    known = coordinator._generation.generation_id  # noqa: SLF001 - no other way
    return not coordinator.rejoin_needed and known == generation


def _watch_assigned_topics(coordinator: Any) -> None:  # noqa: ANN401 - as above
    """Start another round when topics of this assignment change, and only then.

    kafka-python compares with its last look at the topics that its own consumer subscribes to.
    Where other members subscribe to more, the next look differs although nothing has changed;
    where a topic does not exist, it looks so often that rounds follow each other for ever.
    """
    subscription, cluster = coordinator._subscription, coordinator._cluster  # noqa: SLF001 - as above
    seen = coordinator._build_metadata_snapshot(subscription, cluster)  # noqa: SLF001 - as above
    coordinator._metadata_snapshot = coordinator._assignment_snapshot = seen  # noqa: SLF001 - as above


def _keep_join_answer(coordinator: Any) -> None:  # noqa: ANN401 - as above
    """Keep the answer to the join that is under way from being discarded between two polls."""
    join = coordinator._join_task  # noqa: SLF001 - no other way
    if join is not None and not isinstance(join, PendingJoin):
        coordinator._join_task = PendingJoin(  # noqa: SLF001 - as above
            join,
            generation=lambda: coordinator._generation,  # noqa: SLF001 - as above
            keep_s=coordinator.config["session_timeout_ms"] / 2000,
        )


def _others_of(coordinator: Any, one: Strategy) -> list[Strategy]:  # noqa: ANN401 - as above
    """Return the other strategies of ours in the same consumer."""
    if coordinator is None:
        return []
    return [
        found
        for found in coordinator._assignors.values()  # noqa: SLF001 - no other way
        if isinstance(found, Strategy) and found is not one
    ]


def _last_protocol(coordinator: Any) -> str | None:  # noqa: ANN401 - as above
    """Return the name of the protocol that the coordinator's last generation used."""
    name = coordinator._generation.protocol  # noqa: SLF001 - no other way
    return None if name is None else str(name)


def _cluster_of(cluster: Any, members: Sequence[Member]) -> Cluster:  # noqa: ANN401 - as above
    """Return the topics that members subscribe to; with racks where a member has one."""
    racks = {broker.node_id: broker.rack for broker in cluster.brokers() if broker.rack}

    def replicas(topic: str, number: int) -> Sequence[int]:
        # `is_replica_node` answers for one broker at a time: partitions times brokers.
        partition = cluster._partitions[topic].get(number)  # noqa: SLF001 - as above
        return getattr(partition, "replica_nodes", None) or ()

    return cluster_of(cluster, members, racks, replicas)


__all__ = ["Strategy", "cooperative_sticky", "strategy"]
