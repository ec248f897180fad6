"""Play group histories, one or a hundred thousand, under any assignor.

>>> from assignors import assignor_named
>>> from assignors.simulation import Parameters, generate, play
>>> scenario = generate(7, Parameters(members=4, topics=2, partitions=10, events=2))
>>> all(row.violations == 0 for row in play(scenario, assignor_named("cooperative-sticky")))
True
"""

from assignors.simulation.rounds.generate import Parameters, Shape, generate
from assignors.simulation.rounds.outcome import Outcome, play
from assignors.simulation.rounds.scenario import Event, EventKind, MemberSpec, Scenario
from assignors.simulation.rounds.settlement import Round, rounds

__all__ = [
    "Event",
    "EventKind",
    "MemberSpec",
    "Outcome",
    "Parameters",
    "Round",
    "Scenario",
    "Shape",
    "generate",
    "play",
    "rounds",
]
