"""Transactions that commit offsets and do not end: what the coordinator gets to see of them.

A producer commits offsets within a transaction, and stops before it ends it. Until its transaction
is aborted, fetches that ask for stable offsets are refused, so whoever begins with one of these
partitions meanwhile waits. Members that have it already notice nothing.

Source: KIP-447; `OffsetMetadataManager.isOffsetUnstable` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.simulation.timed.faults.events import FaultEvent
from assignors.simulation.timed.protocols.effects import OUTSIDE, Arrived
from assignors.simulation.timed.protocols.kafka.messages import EndTransaction, OffsetCommit
from assignors.simulation.timed.scenario import Fault, Scenario


def transaction(event: FaultEvent, scenario: Scenario, topics: Mapping[str, int]) -> Arrived:
    """Return how such a transaction begins or is aborted. Cost: O(its partitions).

    `topics` are the partition counts of the moment.
    """
    fault, begins = event
    producer_id = scenario.faults.index(fault) + 1
    if not begins:
        return Arrived(OUTSIDE, EndTransaction(producer_id, is_commit=False))
    offsets = tuple(
        (topic, number, 0) for topic in _topics(fault, topics) for number in range(topics[topic])
    )
    return Arrived(OUTSIDE, OffsetCommit("", -1, offsets, producer_id=producer_id))


def _topics(fault: Fault, topics: Mapping[str, int]) -> list[str]:
    return [topic for topic in topics if fault.topic in {None, topic}]
