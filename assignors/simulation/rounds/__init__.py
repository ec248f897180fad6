"""Simulate group histories in rounds: each event is played until the group has settled.

A `Scenario` is the history as data; `generate` draws one from a seed. `rounds` yields every
round of it under an assignor, `play` returns one row of figures for each event, and `simulate_rows`
does the same for a table of scenarios, in several processes if wanted.
"""

from assignors.simulation.rounds.outcome import Outcome, play
from assignors.simulation.rounds.processes import simulate_rows
from assignors.simulation.rounds.random_scenarios import Parameters, SubscriptionShape, generate
from assignors.simulation.rounds.scenario import GroupEvent, GroupEventKind, MemberSpec, Scenario
from assignors.simulation.rounds.settlement import Round, rounds

__all__ = [
    "GroupEvent",
    "GroupEventKind",
    "MemberSpec",
    "Outcome",
    "Parameters",
    "Round",
    "Scenario",
    "SubscriptionShape",
    "generate",
    "play",
    "rounds",
    "simulate_rows",
]
