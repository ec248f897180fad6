"""A run with the figures that are measured on request.

They need every message played one by one, and the history kept: a run of many members takes longer
than without them, and more memory.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assignors.simulation.timed.costs.blocked import Blocked
from assignors.simulation.timed.costs.state_bytes import state_figures
from assignors.simulation.timed.costs.waits import Waits
from assignors.simulation.timed.monitors.seen import Seen
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.simulation import Played, simulate


def simulate_with_all_figures(scenario: Scenario) -> Played:
    """Run a scenario, and measure what `simulate` leaves `None` in a result, too.

    The run is the same but for `events`, which counts every message, so that `event_limit` and
    `kept_limit` may end it sooner. Raises what `simulate` raises.
    Cost: that of `simulate` with an observer; memory: that of its history.

    >>> from assignors.simulation.timed.gallery import named
    >>> found = simulate_with_all_figures(named("rolling-restart")).result
    >>> found.join_wait_ms > found.sync_wait_ms > 0 < found.locked_partition_ms
    True
    """
    count_from = scenario.count_from_ms * MILLISECOND
    waits, blocked = Waits(count_from=count_from), Blocked(count_from=count_from)

    def observe(seen: Seen) -> None:
        waits.see(seen)
        blocked.see(seen)

    played = simulate(scenario, keeps_history=True, observe=observe)
    is_whole = played.result.stopped_by is None
    for each in (waits, blocked):
        each.close(scenario.until_ms * MILLISECOND if is_whole else each.last)
    has_tokens = scenario.protocol is GroupProtocol.PUSH
    figures: dict[str, Any] = {
        **waits.figures(played.changes),
        **blocked.figures(),
        **state_figures(
            played.records,
            played.changes if has_tokens else (),
            count_from_ms=scenario.count_from_ms,
        ),
    }
    return replace(played, result=replace(played.result, **figures))
