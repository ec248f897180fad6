"""The network: how long messages take, and how a scenario writes it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from assignors.simulation.timed.scenario.reading import Reader, as_natural, settings_reader


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """How long a message takes: at least `least_us`, and more by an exponential law."""

    least_us: int = 0
    """What every message takes."""
    mean_us: int = 1000
    """The mean of what comes on top of `least_us`."""
    handling_us: int = 0
    """All members are on one machine, which handles one thing for them after the other, an answer,
    a callback or a heartbeat that is due, each in so long; a thread that has read an answer goes on
    with its callback. 0: no member waits for another one, and each handles everything at once."""


READERS: dict[str, Reader] = {
    **dict.fromkeys((each.name for each in fields(NetworkConfig)), as_natural),
}
"""Field -> what reads it; a field that is not named here is a natural number."""

read_network = settings_reader(NetworkConfig, READERS)
