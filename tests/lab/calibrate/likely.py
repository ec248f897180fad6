"""Whether few real repetitions may come from the simulated ones, and how often a right model fails.

Three repetitions say little about a median, and a time that waits for a heartbeat is often spread
over a whole interval. So nothing here looks at medians being near. Of each figure most real values
have to lie in the range of the simulated ones (`is_possible`), and of all cells together not too
many real values may lie on one side of their simulated medians (`lean_p`). A busy machine makes
anything later: a real value is outside, or on one side, only if it is so by more than `slack_s`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import comb
from statistics import median, mode

from tests.lab.calibrate.figures import Figures


def is_possible(
    real: Sequence[float],
    simulated: Sequence[float],
    *,
    slack_s: float,
    period_s: float = 0.0,
) -> bool:
    """Return whether no more than half of the real values are below, or above, all simulated ones.

    `period_s` is the heartbeat interval: what just misses a heartbeat waits for the next one, so a
    time that is possible but for one interval is possible.

    >>> is_possible([0.0, 0.5, 1.2], [0.4, 0.9], slack_s=0.05)
    True
    >>> is_possible([1.2, 0.5, 1.2], [0.4, 0.9], slack_s=0.05)
    False
    >>> is_possible([1.0, 0.1, 0.2], [0.7, 0.9], slack_s=0.35, period_s=1.0)
    True
    """
    low, high = min(simulated) - slack_s, max(simulated) + slack_s
    below = sum(value < low and not low <= value + period_s <= high for value in real)
    above = sum(value > high and not low <= value - period_s <= high for value in real)
    return 2 * max(below, above) <= len(real)


def unlikely(
    real: Sequence[Figures],
    simulated: Sequence[Figures],
    *,
    times: Iterable[str],
    slack_s: float,
    period_s: float = 0.0,
) -> dict[str, list[float]]:
    """Return the figures that a right model would not give: name -> the real values.

    Most repetitions have a predicted number of moves. One at least has a predicted number of
    rounds: on a busy machine a late SyncGroup costs a round more, and the time of one. So times are
    compared of those alone that have as many rounds as most predicted ones, where there are two.
    """
    found = {name: [getattr(each, name) for each in real] for name in ("moves", "generations")}
    known = {name: {getattr(each, name) for each in simulated} for name in found}
    hits = {name: sum(value in known[name] for value in values) for name, values in found.items()}
    wrong = {
        "moves": 2 * hits["moves"] <= len(real),
        "generations": not hits["generations"],
    }
    comparable = of_usual_rounds(real, simulated)
    for name in times:
        found[name] = [getattr(each, name) for each in comparable]
        possible = [getattr(each, name) for each in simulated]
        is_unlikely = not is_possible(found[name], possible, slack_s=slack_s, period_s=period_s)
        wrong[name] = len(comparable) > 1 and is_unlikely
    return {name: values for name, values in found.items() if wrong[name]}


def of_usual_rounds(some: Sequence[Figures], simulated: Sequence[Figures]) -> list[Figures]:
    """Return the repetitions that had as many rounds as most simulated ones."""
    usual = mode(each.generations for each in simulated)
    return [each for each in some if each.generations == usual]


def false_alarm(real: int, simulated: int) -> float:
    """Return how often `is_possible` is false of so many values, all of one distribution.

    At most so often: slack and equal values only make it rarer. All orders of the values are
    equally likely; in those that count, the first ones or the last ones are more than half of the
    real ones, and the other real ones stand anywhere.

    >>> round(false_alarm(3, 120), 5), false_alarm(1, 1)
    (0.0008, 1.0)
    """
    outside = real // 2 + 1
    orders = comb(real + simulated, real)
    return min(2 * comb(real + simulated - outside, real - outside) / orders, 1.0)


def lean_p(cells: Sequence[tuple[Sequence[float], Sequence[float]]], *, slack_s: float) -> float:
    """Return how likely so many real values lie on one side of their simulated medians.

    `cells` are (real, simulated) values. Of a right model each real value is above its median once
    in two times at most, and below it too: so often or more, by the binomial law, for the side that
    has more of them, twice.

    >>> lean_p([([1.0, 1.1, 0.9], [0.5, 0.5])], slack_s=0.1)
    0.25
    >>> lean_p([([0.4, 0.6, 0.5], [0.5, 0.5])], slack_s=0.1)
    1.0
    """
    offs = [value - median(simulated) for real, simulated in cells for value in real]
    most = max(sum(off > slack_s for off in offs), sum(off < -slack_s for off in offs))
    chance = sum(comb(len(offs), n) for n in range(most, len(offs) + 1)) * 0.5 ** len(offs)
    return min(2 * chance, 1.0)
