"""What the execution models say commits take, with two constants found at one server setting.

The service time is that which makes the model as fast as the broker where it is saturated, and the
replication time that which gives the median at one low rate; it stands for everything on the way of
a commit that nobody else waits for: the network, the local append, the high watermark. Both are
found at Kafka's defaults (`FITTED`). Every other setting, rate and percentile is a prediction.

The model has one worker, whatever `group.coordinator.threads` says (`WORKERS`): what saturates is
the machine. Its two processors run the broker's network and request threads and the load too.

At the rate that saturates it every connection has a request waiting: there the model's load is
clients that ask again as soon as they are answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assignors.simulation.timed.execution.load import MICRO, Load
from assignors.simulation.timed.execution.measures import measure
from assignors.simulation.timed.execution.policy import POLICIES, Settings
from tests.lab.execution.commits import ADAPTIVE, CONNECTIONS, SATURATING, Server
from tests.lab.execution.recordings import Row, server_of

FITTED = Server()
FITTED_RATE = 1000
WORKERS = 1
REQUESTS = 12_000
MEDIAN, TAIL = "500", "990"
"""Keys of the measured distribution: per mille."""
NEAR = 0.1
NEAR_US = 200
"""A time is near within 10 % or a fifth of a millisecond: threads are woken no more precisely."""
LIMIT = 0.9
"""A rate that the model or the broker answers less of than this is over its limit."""


class Constants(NamedTuple):
    """What is fitted."""

    service_us: int
    replication_us: int


class Comparison(NamedTuple):
    """One rate at one server setting: what was measured, and what is predicted."""

    server: Server
    rate: int
    real: Mapping[str, float]
    """`per_second`, and in microseconds `p50_us` and `p99_us`."""
    predicted: Mapping[str, float]
    misses: tuple[str, ...]


def fit(rows: Sequence[Row]) -> Constants:
    """Find both constants at the fitted setting. Cost: two plays of the model."""
    at_fitted = {row["rate"]: row for row in rows if server_of(row) == FITTED}
    saturated = at_fitted[SATURATING]
    service_us = round(WORKERS * MICRO / (saturated["answered"] / saturated["seconds"]))
    real_us = at_fitted[FITTED_RATE]["per_mille_us"][MEDIAN]
    first = Constants(service_us, max(1, real_us - service_us))
    missing = real_us - predict(FITTED, FITTED_RATE, first)["p50_us"]
    return first._replace(replication_us=max(1, round(first.replication_us + missing)))


def predict(
    server: Server, rate: int, constants: Constants, *, requests: int = REQUESTS, seed: int = 1
) -> dict[str, float]:
    """Return what the model says of a rate. Cost: about 60 us a request."""
    load = Load(
        requests=requests,
        per_second=rate,
        clients=CONNECTIONS if rate == SATURATING else None,
        groups=server.groups,
        service_us=constants.service_us,
        replication_us=constants.replication_us,
        linger_us=None if server.linger_ms == ADAPTIVE else server.linger_ms * 1000,
        seed=seed,
    )
    settings = Settings(workers=WORKERS, partitions=server.partitions)
    found = measure(POLICIES["two-stage"], load, settings)
    return {
        "per_second": round(found.throughput_per_second, 1),
        "p50_us": round(found.p50_ms * 1000),
        "p99_us": round(found.p99_ms * 1000),
    }


def compare(rows: Iterable[Row], constants: Constants, *, requests: int) -> list[Comparison]:
    """Put beside each measured row what is predicted of it. Cost: a play of the model for each."""
    found = []
    for row in rows:
        server, rate = server_of(row), int(row["rate"])
        real = {
            "per_second": round(row["answered"] / row["seconds"], 1),
            "p50_us": row["per_mille_us"][MEDIAN],
            "p99_us": row["per_mille_us"][TAIL],
        }
        predicted = predict(server, rate, constants, requests=requests)
        misses = tuple(each for each in real if not _is_near(each, rate, real, predicted))
        found.append(Comparison(server, rate, real, predicted, misses))
    return found


def is_over(rate: int, figures: Mapping[str, float]) -> bool:
    """Return whether a rate is more than is answered: then times only grow, and say nothing."""
    return rate == SATURATING or figures["per_second"] < LIMIT * rate


def compared(rate: int, figures: Mapping[str, float]) -> int:
    """Return how many measured figures of a rate are compared."""
    return 1 if is_over(rate, figures) else len(figures)


def _is_near(
    name: str, rate: int, real: Mapping[str, float], predicted: Mapping[str, float]
) -> bool:
    if name == "per_second":
        return abs(predicted[name] - real[name]) <= NEAR * real[name]
    if is_over(rate, real) or is_over(rate, predicted):
        return is_over(rate, real) == is_over(rate, predicted)
    return abs(predicted[name] - real[name]) <= max(NEAR * real[name], NEAR_US)
