"""Simulate group histories in rounds: each event is played until the group has settled.

A `Scenario` is the history as data; `generate` draws one from a seed. `rounds` yields every
round of it under an assignor, `play` returns one row of figures for each event, and `simulate_rows`
does the same for a table of scenarios, in several processes if wanted. `scenario_of_group` makes a
scenario of a group as it is and of events in words (`join:5`); `play_events` also yields who
consumes what before and after each.
"""

from assignors.simulation.rounds.explicit_events import scenario_of_group
from assignors.simulation.rounds.outcome import Outcome, PlayedEvent, play, play_events
from assignors.simulation.rounds.random_scenarios import Parameters, SubscriptionShape, generate
from assignors.simulation.rounds.scenario import GroupEvent, GroupEventKind, MemberSpec, Scenario
from assignors.simulation.rounds.scenario_rows import simulate_rows
from assignors.simulation.rounds.settlement import Round, rounds

__all__ = [
    "GroupEvent",
    "GroupEventKind",
    "MemberSpec",
    "Outcome",
    "Parameters",
    "PlayedEvent",
    "Round",
    "Scenario",
    "SubscriptionShape",
    "generate",
    "play",
    "play_events",
    "rounds",
    "scenario_of_group",
    "simulate_rows",
]
