"""Assignors in aiokafka: one line in the consumer's settings.

    from aiokafka import AIOKafkaConsumer
    from assignors.clients.aiokafka import strategy

    consumer = AIOKafkaConsumer(
        "orders", group_id="g", partition_assignment_strategy=[strategy("sticky")]
    )

The host gives up all partitions before every round: it speaks the eager protocol alone. So
under `cooperative-sticky` a member here claims nothing, takes part in groups of cooperative
members, and can lead them, as the bytes of their claims are kept (`aiokafka_decoding`).

What the host cannot do: it drops the instance ids of static members before the assignor sees
them, so static members rank by member id here; and with more than one strategy it joins once
for each of them, so give it one.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from aiokafka.errors import IllegalStateError, KafkaError

from assignors.assignor import Assignor, RebalanceProtocol
from assignors.clients.aiokafka.decoding import bytes_of, calling_coordinator, install, refused_of
from assignors.clients.common.client_session import OnNote, OnRound, by_topic, seat
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.leader import REPAIR
from assignors.model import Cluster, Topic
from assignors.options import Options

LOGGER = logging.getLogger("aiokafka.coordinator.assignors")

TWO_CONSUMERS = "a strategy object serves one consumer: make one for each"


class Strategy:
    """An assignor as aiokafka takes it: an instance with four names, nothing on the class."""

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
        if RebalanceProtocol.EAGER not in self._seat.assignor.protocols:
            raise ValueError(
                f"aiokafka gives up everything before each round, and "
                f"{self._seat.assignor.full_name} is for members that do not"
            )
        self._coordinator: weakref.ref[Any] | None = None
        self._refused: tuple[str, ...] = ()
        self._asking: asyncio.Future[None] | None = None
        """Whether the round rests: the loop itself would not keep the task."""
        install(self)

    @property
    def name(self) -> str:
        """The protocol's name on the wire."""
        return self._seat.assignor.name

    def __repr__(self) -> str:
        return f"strategy({self._seat.assignor.full_name!r})"

    def metadata(self, topics: Iterable[str]) -> bytes:
        """Return the Subscription bytes to join with: an eager member claims nothing."""
        coordinator = self._look_up()
        generation = -1 if coordinator is None else int(coordinator.generation)
        return self._seat.write(topics, owned={}, generation=generation)

    def assign(self, cluster: Any, members: Mapping[str, Any]) -> dict[str, bytes]:  # noqa: ANN401
        """Return everybody's Assignment bytes. Never raises for what members say."""
        coordinator = self._look_up()
        blobs = {member_id: bytes_of(metadata) for member_id, metadata in members.items()}
        return self._seat.lead(
            _described(cluster, members, blobs),
            blobs,
            instance_ids={},
            joined=None if coordinator is None else int(coordinator.generation),
        )

    def on_assignment(self, assignment: Any) -> None:  # noqa: ANN401 - the host's type
        """Take in what was assigned; once it rests, start a round if nobody else has reason to."""
        coordinator = self._look_up()
        given = by_topic((found.topic, found.partition) for found in assignment.partitions())
        generation = -1 if coordinator is None else int(coordinator.generation)
        must_watch = self._seat.arrived(given, generation)
        # Once for the same topics: a leader that insists is not asked for ever.
        refused, before = refused_of(assignment), self._refused
        self._refused = refused
        if coordinator is None:
            return
        if must_watch:
            self._ask_later(coordinator, generation)
        if refused and refused != before:
            LOGGER.warning("given topics nobody asked for here, joining again: %s", refused)
            coordinator.request_rejoin()

    def _ask_later(self, coordinator: Any, generation: int) -> None:  # noqa: ANN401 - as above
        """Ask a heartbeat interval from now whether the round rests."""

        def ask() -> None:
            if _is_newest(coordinator, generation):
                self._asking = asyncio.ensure_future(self._ask(coordinator, generation))

        delay_s = coordinator._heartbeat_interval_ms / 1000  # noqa: SLF001 - no other way
        asyncio.get_running_loop().call_later(delay_s, ask)

    async def _ask(self, coordinator: Any, generation: int) -> None:  # noqa: ANN401 - as above
        """Ask by a heartbeat like the host's own, and later again where none is answered."""
        try:
            is_answered = await coordinator._do_heartbeat()  # noqa: SLF001 - as above
        except KafkaError:
            return  # its own heartbeat meets this as well, and tells the application
        if not _is_newest(coordinator, generation):
            return
        if not is_answered:
            self._ask_later(coordinator, generation)
        elif self._seat.rested():
            coordinator.request_rejoin()

    def _look_up(self) -> Any:  # noqa: ANN401 - the host's coordinator, or None
        """Return the coordinator that is calling, found in the frames above."""
        known = None if self._coordinator is None else self._coordinator()
        found = calling_coordinator()
        if found is None:
            return known
        if known is not None and found is not known:
            raise IllegalStateError(TWO_CONSUMERS)
        self._coordinator = weakref.ref(found)
        return found


def strategy(
    assignor: str | Assignor,
    *,
    rack: str | None = None,
    on_note: OnNote | None = None,
    on_round: OnRound | None = None,
    options: Options = REPAIR,
) -> Strategy:
    """Return a strategy for `partition_assignment_strategy`, the only one in its list.

    `assignor` is a name as `assignor_named` takes it, or an `Assignor`. `rack` is this
    member's rack; `on_note` hears every oddity of a member, which is logged as well,
    `on_round` what each round cost that this member led. Raises `ValueError` for an assignor
    that does not exist, runs in the broker, or is cooperative alone.
    """
    return Strategy(assignor, rack=rack, on_note=on_note, on_round=on_round, options=options)


def _is_newest(coordinator: Any, generation: int) -> bool:  # noqa: ANN401 - as above
    """Return whether the host knows of no round after that one."""
    is_waiting = not coordinator._rejoin_needed_fut.done()  # noqa: SLF001 - no other way
    return is_waiting and int(coordinator.generation) == generation


def _described(
    cluster: Any,  # noqa: ANN401 - the host's type
    members: Mapping[str, Any],
    blobs: Mapping[str, bytes],
) -> Cluster:
    """Return the topics that members ask for, as far as the host knows them."""
    wanted = dict.fromkeys(
        topic for metadata in members.values() for topic in metadata.subscription
    )
    racks = {broker.nodeId: broker.rack for broker in cluster.brokers() if broker.rack}
    if racks and not any(member_from_bytes("", blob).rack_id for blob in blobs.values()):
        racks = {}
    topics = {}
    for name in wanted:
        numbers = cluster.partitions_for_topic(name)
        if numbers is not None:
            count = len(numbers)
            replicas = _replica_racks(cluster, name, count, racks) if racks else ()
            topics[name] = Topic(partition_count=count, racks=replicas)
    return Cluster(topics=topics)


def _replica_racks(
    cluster: Any,  # noqa: ANN401 - as above
    topic: str,
    count: int,
    racks: Mapping[int, str],
) -> tuple[tuple[str, ...], ...]:
    """Return the racks of the replicas of each partition, as far as the host tells."""
    partitions = getattr(cluster, "_partitions", {}).get(topic, {})
    return tuple(
        tuple(
            racks[node_id]
            for node_id in getattr(partitions.get(number), "replicas", ())
            if node_id in racks
        )
        for number in range(count)
    )


__all__ = ["Strategy", "strategy"]
