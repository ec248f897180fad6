"""Assignors in aiokafka: `partition_assignment_strategy=[strategy("sticky")]`."""

try:
    import aiokafka  # noqa: F401 - the adapter's first need, with the way to get it
except ModuleNotFoundError as missing:
    words = f"{missing.name} is missing: pip install 'kafka-assignors[aiokafka]'"
    raise ModuleNotFoundError(words, name=missing.name) from None

from assignors.clients.aiokafka.adapter import Strategy, strategy
from assignors.clients.aiokafka.weighted import Weighted, weighted

__all__ = ["Strategy", "Weighted", "strategy", "weighted"]
