"""Each search of a case is made once."""

from __future__ import annotations

from functools import cache

from assignors.simulation.timed.clients import cases
from assignors.simulation.timed.clients.models import Model
from assignors.simulation.timed.clients.search import Explored
from assignors.simulation.timed.clients.world import Case, World


@cache
def exhausted(model: Model, case: Case) -> Explored[World]:
    """Try every order of everything."""
    return cases.exhausted(model, case)
