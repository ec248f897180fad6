"""What counts as many, or as long: the numbers from which on something is a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from assignors.documents.values import DocumentError, ErrorCode, Place, as_int32
from assignors.names.nearest import suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """What counts as many, or as long. Times are in milliseconds."""

    loop_generations: int = 5
    """Generations in a row with the same members and subscriptions."""
    loop_window_ms: int = 1_800_000
    """The time that counts for a loop."""
    probing_ms: int = 60_000
    """Rebalances of Kafka Streams that are so far apart are probing ones: the least that
    `probing.rebalance.interval.ms` may be."""
    instance_changes: int = 4
    """So often a group instance id goes to another member within `instance_window_ms`."""
    instance_window_ms: int = 600_000
    """The time that counts for it."""
    retention_ms: int = 86_400_000
    """An offset that is removed sooner after its last commit, from an empty group, did not expire:
    a tool removed it. `offsets.retention.minutes` was a day in old brokers and is seven now."""
    passing_ms: int = 1_000
    """Uneven or unassigned for less than this is no finding: a leader that knows no topics yet
    assigns nothing at first, and a broker computes the target of an epoch a moment later."""
    storm_generations: int = 10
    """So many generations within `storm_window_ms` are a storm."""
    storm_window_ms: int = 60_000
    """The time that counts for a storm."""
    claims_missed: int = 2
    """So many rebalances a member must have been able to claim something, and never did."""
    balance_gap: int = 1
    """The sum of squared loads is so much above the best possible."""
    needless_moves: int = 1
    """So many moves more than a balanced assignment needs."""
    uneven_load_percent: int = 50
    """The busiest member has so many percent more records a second than necessary."""


T = TypeVar("T", bound=Thresholds)


def thresholds_from_document(
    document: Mapping[str, object],
    given: T = Thresholds(),  # type: ignore[assignment]
    place: Place = (),
) -> T:
    """Return `given` (else the defaults) with the thresholds of a JSON object instead.

    Counts are 1 or more: from 0 on, every generation would be a finding.

    Raises `DocumentError` with its path for a name that is none, and a number that cannot be.

    >>> thresholds_from_document({"loop_generations": 8}).loop_generations
    8
    >>> thresholds_from_document({"loop_generation": 8})
    Traceback (most recent call last):
    assignors.documents.values.DocumentError: no threshold 'loop_generation'; did you mean \
'loop_generations'? at loop_generation
    """
    wanted = {}
    names = [field.name for field in fields(given)]
    for name, value in document.items():
        here = (*place, name)
        if name not in names:
            words = f"no threshold {name!r}{suggestion(name, names)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, here)
        wanted[name] = as_int32(value, here)
        least = 0 if name.endswith("_ms") else 1
        if wanted[name] < least:
            words = f"{wanted[name]} is less than {least}"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, here)
    return replace(given, **wanted)
