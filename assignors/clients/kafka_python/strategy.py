"""Assignors in kafka-python 3: one line in the consumer's settings.

    from kafka import KafkaConsumer
    from assignors.clients.kafka_python import cooperative_sticky

    consumer = KafkaConsumer(
        "orders", group_id="g", partition_assignment_strategy=[cooperative_sticky()]
    )

`strategy("optimal/sticky")` is the general form: any name of the registry but those of the
broker, `package.module:object`, or an `Assignor`. One strategy object serves one consumer.

The host tells an assignor neither what the consumer owns nor which generation it is in. Both
are read from the coordinator that calls, which is found in the calling frames when the host
first asks; `strategy.bind(consumer)` names it instead. Where neither works, a cooperative
strategy refuses to join: claims from memory are how partitions get two owners.
"""

from __future__ import annotations

import logging
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from kafka import TopicPartition
from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from kafka.coordinator.assignors.abstract import RebalanceProtocol as HostProtocol
from kafka.coordinator.consumer import ConsumerCoordinator
from kafka.errors import KafkaConfigurationError

from assignors.assignor import Assignor, UserData
from assignors.clients.common.client_session import OnNote, OnRound, by_topic, callers, seat
from assignors.clients.common.pending_join import PendingJoin
from assignors.clients.kafka_python.decoding import bytes_of, install
from assignors.leader import REPAIR
from assignors.model import Cluster, Topic
from assignors.options import Options
from wire import TopicPartitions

LOGGER = logging.getLogger("kafka.coordinator.assignors")

AWAITED = "an answer is awaited"
"""As true as `True` for the host, which writes `True` itself when a SyncGroup was refused."""

LOOK_S = 0.05
"""How often to look whether a heartbeat that is due was answered."""

NO_COORDINATOR = (
    "a cooperative strategy must know what its consumer owns: call strategy.bind(consumer) "
    "right after the consumer is made"
)
TWO_CONSUMERS = "a strategy object serves one consumer: make one for each"


class Strategy(AbstractPartitionAssignor):  # type: ignore[misc]  # the host has no types
    """An assignor as kafka-python takes it: an instance, not a class."""

    def __init__(
        self,
        assignor: str | Assignor,
        *,
        rack: str | None = None,
        on_note: OnNote | None = None,
        on_round: OnRound | None = None,
        options: Options = REPAIR,
    ) -> None:
        """See `strategy`."""
        self._seat = seat(
            assignor,
            logger=LOGGER,
            rack=rack,
            on_note=on_note,
            on_round=on_round,
            options=options,
        )
        self._coordinator: weakref.ref[Any] | None = None
        install(self)

    @property
    def name(self) -> str:
        """The protocol's name on the wire."""
        return self._seat.assignor.name

    def __repr__(self) -> str:
        return f"strategy({self._seat.assignor.full_name!r})"

    def bind(self, consumer: object) -> None:
        """Say whose strategy this is; needed only where the host's calls do not tell."""
        self._attach(getattr(consumer, "_coordinator", None))

    def supported_protocols(self) -> list[HostProtocol]:
        """Return the host's names of the assignor's protocols, the better one first."""
        self._look_up()
        return [HostProtocol(protocol) for protocol in sorted(self._protocols(), reverse=True)]

    def metadata(self, topics: Iterable[str]) -> bytes:
        """Return the Subscription bytes to join with.

        Raises `KafkaConfigurationError` where a cooperative strategy cannot know what its
        consumer owns.
        """
        self._look_up()
        coordinator = self._host()
        if coordinator is None and self._seat.assignor.is_cooperative:
            raise KafkaConfigurationError(NO_COORDINATOR)
        was_refused = False
        if coordinator is not None:
            was_refused = coordinator.rejoin_needed is True
            # A round that changed topics or metadata started is forgotten by the host when the
            # poll that started it times out: no heartbeats, no answer, out of the group for ever.
            coordinator.rejoin_needed = AWAITED
            _keep_answer(coordinator)
            self._forget_positions(coordinator)
        generation = -1 if coordinator is None else coordinator.group_metadata().generation_id
        if coordinator is not None and _protocol_of(coordinator) not in {None, *self._names()}:
            self._seat.elsewhere()
        return self._seat.write(
            topics, owned=self._owned(), generation=generation, may_repeat=not was_refused
        )

    def assign(self, cluster: Any, members: Sequence[Any]) -> dict[str, bytes]:  # noqa: ANN401
        """Return everybody's Assignment bytes. Never raises for what members say."""
        self._look_up()
        coordinator = self._host()
        if coordinator is not None:
            _watch(coordinator)
        return self._seat.lead(
            _described(cluster, members),
            {member.member_id: bytes_of(member.metadata) for member in members},
            instance_ids={
                member.member_id: member.group_instance_id
                for member in members
                if member.group_instance_id is not None
            },
            joined=None if coordinator is None else coordinator.group_metadata().generation_id,
        )

    def on_assignment(self, assignment: Any, generation: int) -> None:  # noqa: ANN401
        """Take in what was assigned; once it rests, start a round if nobody else has reason to."""
        self._look_up()
        given = by_topic((found.topic, found.partition) for found in assignment.partitions())
        coordinator = self._host()
        must_watch = self._seat.arrived(given, generation)
        for sibling in _siblings(coordinator, self):
            sibling._seat.arrived(given, generation)  # noqa: SLF001 - of the same class
        if must_watch and coordinator is not None:
            coordinator._manager.call_soon(self._watch_rest, coordinator, generation)  # noqa: SLF001 - no other way

    async def _watch_rest(self, coordinator: Any, generation: int) -> None:  # noqa: ANN401 - as above
        """Wait for the first heartbeat of a round to be answered: then it has rested."""
        beats = coordinator.heartbeat
        wait_s = coordinator.config["heartbeat_interval_ms"] / 1000
        while True:
            await coordinator._net.sleep(wait_s)  # noqa: SLF001 - as above
            if coordinator.rejoin_needed or coordinator._generation.generation_id != generation:  # noqa: SLF001 - as above
                return
            if beats.last_receive > beats.last_reset:
                self._rested(coordinator)
                return
            wait_s = LOOK_S

    def _rested(self, coordinator: Any) -> None:  # noqa: ANN401 - as above
        if self._seat.rested():
            coordinator.request_rejoin()

    def _protocols(self) -> frozenset[int]:
        return frozenset(int(protocol) for protocol in self._seat.assignor.protocols)

    def _names(self) -> set[str]:
        """Return the names of all our strategies of this consumer."""
        return {self.name, *(other.name for other in _siblings(self._host(), self))}

    def _owned(self) -> TopicPartitions:
        """Return what the consumer owns now: nothing where the host gives all up to rejoin."""
        coordinator = self._host()
        if (
            coordinator is None
            or self._seat.membership.kind is not UserData.COOPERATIVE
            or coordinator._rebalance_protocol != HostProtocol.COOPERATIVE  # noqa: SLF001 - no other way
        ):
            return {}
        live = coordinator._subscription.assigned_partitions()  # noqa: SLF001 - as above
        return by_topic((found.topic, found.partition) for found in live)

    def _forget_positions(self, coordinator: Any) -> None:  # noqa: ANN401 - as above
        """Forget partitions that were given up, where an answer may have passed by since.

        The host keeps what it gave up, positions included, until an answer is applied. When that
        never happened somebody else may have consumed meanwhile, and it would go on from where
        it was instead of from what was committed.
        """
        is_eager = coordinator._rebalance_protocol == HostProtocol.EAGER  # noqa: SLF001 - no other way
        if is_eager and self._seat.membership.repeats:
            coordinator._subscription.assign_from_subscribed([])  # noqa: SLF001 - as above

    def _host(self) -> Any:  # noqa: ANN401 - the host's coordinator, or None
        return None if self._coordinator is None else self._coordinator()

    def _look_up(self) -> None:
        """Find the coordinator that is calling, in the frames above."""
        if self._host() is not None:
            self._refuse_another()
            return
        self._attach(_calling_coordinator())

    def _refuse_another(self) -> None:
        found = _calling_coordinator()
        if found is not None and found is not self._host():
            raise KafkaConfigurationError(TWO_CONSUMERS)

    def _attach(self, coordinator: object) -> None:
        if coordinator is None:
            return
        if self._host() not in {None, coordinator}:
            raise KafkaConfigurationError(TWO_CONSUMERS)
        self._coordinator = weakref.ref(coordinator)


def strategy(
    assignor: str | Assignor,
    *,
    rack: str | None = None,
    on_note: OnNote | None = None,
    on_round: OnRound | None = None,
    options: Options = REPAIR,
) -> Strategy:
    """Return a strategy for `partition_assignment_strategy`.

    `assignor` is a name as `assignor_named` takes it, or an `Assignor`. `rack` is this
    member's rack: the host's own `client_rack` does not reach assignors. `on_note` hears
    every oddity of a member, which is logged as well, `on_round` what each round cost that
    this member led. `options` say what a copy of Java's does where Java fails: repair, unless
    told otherwise. Raises `ValueError` for an assignor that does not exist or runs in the broker.
    """
    return Strategy(assignor, rack=rack, on_note=on_note, on_round=on_round, options=options)


def cooperative_sticky(
    *,
    rack: str | None = None,
    on_note: OnNote | None = None,
    on_round: OnRound | None = None,
) -> Strategy:
    """Return the strategy for `optimal/cooperative-sticky`; options as in `strategy`."""
    return strategy("cooperative-sticky", rack=rack, on_note=on_note, on_round=on_round)


def _calling_coordinator() -> object | None:
    """Return the coordinator whose method is on the stack, if there is one."""
    return next((one for one in callers() if isinstance(one, ConsumerCoordinator)), None)


def _watch(coordinator: Any) -> None:  # noqa: ANN401 - as above
    """Start another round when the topics change that are assigned now, and only then.

    The host compares with its last look at the topics it asks for itself. Where others ask for
    more, the next look differs although nothing has changed; where a topic does not exist, it
    looks so often that round follows on round for ever.
    """
    subscription, cluster = coordinator._subscription, coordinator._cluster  # noqa: SLF001 - as above
    seen = coordinator._build_metadata_snapshot(subscription, cluster)  # noqa: SLF001 - as above
    coordinator._metadata_snapshot = coordinator._assignment_snapshot = seen  # noqa: SLF001 - as above


def _keep_answer(coordinator: Any) -> None:  # noqa: ANN401 - as above
    """See to it that the answer to the join that is being made is not thrown away."""
    join = coordinator._join_task  # noqa: SLF001 - no other way
    if join is not None and not isinstance(join, PendingJoin):
        coordinator._join_task = PendingJoin(  # noqa: SLF001 - as above
            join,
            generation=lambda: coordinator._generation,  # noqa: SLF001 - as above
            keep_s=coordinator.config["session_timeout_ms"] / 2000,
        )


def _siblings(coordinator: Any, one: Strategy) -> list[Strategy]:  # noqa: ANN401 - as above
    """Return the other strategies of ours in the same consumer."""
    if coordinator is None:
        return []
    return [
        found
        for found in coordinator._assignors.values()  # noqa: SLF001 - no other way
        if isinstance(found, Strategy) and found is not one
    ]


def _protocol_of(coordinator: Any) -> str | None:  # noqa: ANN401 - as above
    """Return the name of the protocol the coordinator's last generation was made with."""
    name = coordinator._generation.protocol  # noqa: SLF001 - no other way
    return None if name is None else str(name)


def _described(cluster: Any, members: Sequence[Any]) -> Cluster:  # noqa: ANN401 - as above
    """Return the topics that members ask for, as far as the host knows them."""
    wanted = dict.fromkeys(topic for member in members for topic in member.metadata.topics)
    racks = None
    if any(getattr(member.metadata, "rack_id", None) for member in members):
        racks = {broker.node_id: broker.rack for broker in cluster.brokers()}
    topics = {}
    for name in wanted:
        numbers = cluster.partitions_for_topic(name)
        if numbers is not None:
            count = len(numbers)
            replicas = () if not racks else _replica_racks(cluster, name, count, racks)
            topics[name] = Topic(partition_count=count, racks=replicas)
    return Cluster(topics=topics)


def _replica_racks(
    cluster: Any,  # noqa: ANN401 - as above
    topic: str,
    count: int,
    racks: dict[int, str | None],
) -> tuple[tuple[str, ...], ...]:
    """Return the racks of the replicas of each partition."""
    named = [(node_id, rack) for node_id, rack in racks.items() if rack]
    return tuple(
        tuple(
            rack
            for node_id, rack in named
            if cluster.is_replica_node(TopicPartition(topic, number), node_id) is not None
        )
        for number in range(count)
    )
