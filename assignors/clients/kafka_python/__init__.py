"""Assignors in kafka-python 3: `partition_assignment_strategy=[cooperative_sticky()]`."""

from assignors.clients.kafka_python.adapter import Strategy, cooperative_sticky, strategy

__all__ = ["Strategy", "cooperative_sticky", "strategy"]
