"""Assignors in kafka-python 3: `partition_assignment_strategy=[cooperative_sticky()]`."""

try:
    import kafka  # noqa: F401 - the adapter's first need, with the way to get it
except ModuleNotFoundError as missing:
    words = f"{missing.name} is missing: pip install 'kafka-assignors[kafka-python]'"
    raise ModuleNotFoundError(words, name=missing.name) from None

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
