"""Assignors in kafka-python 3: `partition_assignment_strategy=[cooperative_sticky()]`."""

from assignors.extras import imported_from

with imported_from("kafka-python"):
    import kafka  # noqa: F401 - the adapter's first need

from assignors.clients.kafka_python.adapter import Strategy, cooperative_sticky, strategy
from assignors.clients.kafka_python.weighted import Weighted, cooperative_weighted, weighted

__all__ = [
    "Strategy",
    "Weighted",
    "cooperative_sticky",
    "cooperative_weighted",
    "strategy",
    "weighted",
]
