"""How soon a group can have caught up at best, whatever its assignor."""

from __future__ import annotations

import numpy as np

from assignors import assignor_named
from assignors.simulation.traffic.results import LATE_S
from assignors.simulation.traffic.run import moments
from assignors.simulation.traffic.scenario import TrafficScenario


def least_s(scenario: TrafficScenario, seed: int) -> float:
    """Return seconds before which some partition is late under every assignor.

    All members together process no more than their capacities, and a partition is processed by one
    member at a time: all of the largest one, if it does nothing else. Nobody consumes anything in
    the first round. The whole run where that is not enough. Cost: that of a run by count.
    """
    waiting = np.zeros(0)
    together = np.inf
    for moment in moments(scenario, assignor_named("cooperative-sticky"), seed=seed):
        if not moment.at_s:
            waiting, together = moment.lag.copy(), float(moment.lag.sum())
            continue
        arriving, room = moment.rate * scenario.tick_s, moment.capacity * scenario.tick_s
        waiting = np.maximum(waiting + arriving - room.max(), 0)
        together = max(together + float(arriving.sum() - room.sum()), 0)
        in_time = moment.rate * LATE_S
        if together <= in_time.sum() and (waiting <= in_time).all():
            return float(moment.at_s)
    return float(scenario.until_s)
