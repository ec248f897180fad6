"""Assignors in aiokafka: `partition_assignment_strategy=[strategy("sticky")]`."""

from assignors.clients.aiokafka.adapter import Strategy, strategy

__all__ = ["Strategy", "strategy"]
