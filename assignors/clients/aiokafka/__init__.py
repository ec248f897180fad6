"""Assignors in aiokafka: `partition_assignment_strategy=[strategy()]`."""

from assignors.clients.aiokafka.strategy import Strategy, strategy

__all__ = ["Strategy", "strategy"]
