"""Assignors in aiokafka: `partition_assignment_strategy=[strategy("sticky")]`."""

from assignors.extras import imported_from

with imported_from("aiokafka"):
    import aiokafka  # noqa: F401 - the adapter's first need

from assignors.clients.aiokafka.adapter import Strategy, cooperative_sticky, strategy
from assignors.clients.aiokafka.weighted import Weighted, weighted

__all__ = ["Strategy", "Weighted", "cooperative_sticky", "strategy", "weighted"]
