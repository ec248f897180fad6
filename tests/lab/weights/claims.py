"""What may be claimed of two assignors: less lag, if every repetition shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any

from tests.lab.weights.contenders import CONTENDERS

REPETITIONS_MIN = 3
"""Fewer show nothing."""

Row = Mapping[str, Any]
"""The figures of a run."""
Runs = Mapping[str, Sequence[Row]]
"""Contender -> its runs, by repetition."""
Ratios = tuple[float, float]
"""The p99 of the delay over that of another assignor in the same world, and that of the lag."""


class Claim(Enum):
    """What all repetitions together show of a pair."""

    LESS = "less"
    MORE = "more"
    NONE = "none"
    TOO_FEW = "too few"


def claim(ratios: Sequence[Ratios]) -> Claim:
    """Return what the ratios of all repetitions show: both have to, in every one."""
    if len(ratios) < REPETITIONS_MIN:
        return Claim.TOO_FEW
    if all(max(each) < 1 for each in ratios):
        return Claim.LESS
    return Claim.MORE if all(min(each) > 1 for each in ratios) else Claim.NONE


def compared(runs: Runs) -> Iterator[tuple[str, str, list[Ratios]]]:
    """Yield each of ours beside each of others, with the ratios of each repetition."""
    for ours in (name for name in runs if CONTENDERS[name].is_ours):
        for other in (name for name in runs if not CONTENDERS[name].is_ours):
            pairs = list(zip(runs[ours], runs[other], strict=True))
            assert all(a["world"] == b["world"] for a, b in pairs), "the same worlds for all"
            yield ours, other, [(_p99(a, b, "late_s"), _p99(a, b, "lag_s")) for a, b in pairs]


def _p99(row: Row, other: Row, name: str) -> float:
    ratio: float = row[name][1] / other[name][1]
    return ratio
