"""The records of a run: how many are written, how fast members process them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from assignors.documents.values import Place, as_object
from assignors.simulation.timed.scenario.reading import Reader, as_natural, settings_reader

CATCHING_UP = 2
"""So many times as fast as records are written a member processes them, where nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessingConfig:
    """Records as an even flow; without it nobody commits anything."""

    records_per_second: int = 0
    """Written to each partition, from the beginning of the run on."""
    topics: dict[str, int] = field(default_factory=dict)
    """For some topics another rate than `records_per_second`."""
    processed_per_second: int = 0
    """What a member processes of one partition at most; 0: twice as many as are written."""

    @property
    def is_on(self) -> bool:
        """Whether there are any records."""
        return self.records_per_second > 0 or any(self.topics.values())

    def rates(self, topic: str) -> tuple[int, int]:
        """Return how many records of a partition are written and processed in a second."""
        written = self.topics.get(topic, self.records_per_second)
        return written, self.processed_per_second or CATCHING_UP * written


def read_rates(value: object, place: Place) -> dict[str, int]:
    """Return the rate of each topic. Cost: O(topics)."""
    rates = as_object(value, place)
    return {topic: as_natural(rate, (*place, topic)) for topic, rate in rates.items()}


READERS: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(ProcessingConfig)), as_natural),
    "topics": read_rates,
}
"""Field -> what reads it; a field that is not named here is a natural number."""

read_processing = settings_reader(ProcessingConfig, READERS)
