"""The net moves that the general sticky algorithm has made, so that it does not undo them.

For each partition that was moved the net movement: where it came from, where it is. A move
back cancels it. When a partition of the same topic went the other way before, Java moves that
one back instead of adding a second movement; which one, where several did, is the first that
the hash set of them gives.

Source: `AbstractStickyAssignor.PartitionMovements` of Kafka 4.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.jvm.hash_order import HashOrder

Route = tuple[int, int]
"""From one member to another."""


@dataclass(slots=True)
class Movements:
    """Net movements by partition, and for each topic the partitions by route."""

    routes: dict[int, Route] = field(default_factory=dict)
    by_route: dict[tuple[int, Route], HashOrder] = field(default_factory=dict)
    """Topic and route -> partitions; no empty sets."""

    def instead(self, partition: int, topic: int, owner: int, receiver: int) -> int:
        """Return the partition that Java moves to `receiver` when `partition` is to move."""
        source = self.routes[partition][0] if partition in self.routes else owner
        reverse = self.by_route.get((topic, (receiver, source)))
        return partition if reverse is None else int(next(iter(reverse)))  # type: ignore[call-overload]

    def record(self, partition: int, topic: int, java_hash: int, owner: int, receiver: int) -> None:
        """Record that `partition` goes from its owner to the receiver."""
        source = owner
        if partition in self.routes:
            route = self.routes.pop(partition)
            source = route[0]
            moved = self.by_route[topic, route]
            moved.remove(partition, java_hash)
            if not moved.size:
                del self.by_route[topic, route]
            if source == receiver:
                return
        self.routes[partition] = source, receiver
        moved = self.by_route.setdefault((topic, (source, receiver)), HashOrder())
        moved.add(partition, java_hash)
