"""Simulate what happens to consumer groups, one group or a hundred thousand, under any assignor.

`rounds` counts time in rebalance rounds: each event is played until the group has settled. `timed`
plays a group on a clock, message by message, and execution models of a coordinator under load.
`traffic` has records that arrive at different rates, and lag. `simulate_group`, `simulate_rounds`,
`simulate_timed`, `simulate_coordinators` and `simulate_traffic` return a whole table in one call;
`arrow` and `spark` run the same on Arrow batches and on DataFrames.

>>> from assignors import assignor_named
>>> from assignors.simulation import Parameters, generate, play
>>> scenario = generate(7, Parameters(members=4, topics=2, partitions=10, events=2))
>>> all(row.violations == 0 for row in play(scenario, assignor_named("cooperative-sticky")))
True
"""

from assignors.simulation.result_tables import (
    simulate_coordinators,
    simulate_group,
    simulate_rounds,
    simulate_timed,
    simulate_traffic,
)
from assignors.simulation.rounds import (
    GroupEvent,
    GroupEventKind,
    MemberSpec,
    Outcome,
    Parameters,
    PlayedEvent,
    Scenario,
    SubscriptionShape,
    generate,
    play,
    play_events,
    scenario_of_group,
    simulate_rows,
)

__all__ = [
    "GroupEvent",
    "GroupEventKind",
    "MemberSpec",
    "Outcome",
    "Parameters",
    "PlayedEvent",
    "Scenario",
    "SubscriptionShape",
    "generate",
    "play",
    "play_events",
    "scenario_of_group",
    "simulate_coordinators",
    "simulate_group",
    "simulate_rounds",
    "simulate_rows",
    "simulate_timed",
    "simulate_traffic",
]
