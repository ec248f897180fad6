"""The table of claims: every row names tests that are there."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from assignors.simulation.timed.clients.cases import CASES
from assignors.simulation.timed.clients.claims import CLAIMS, Claim
from assignors.simulation.timed.clients.models import MODELS, Model
from tests.simulation.timed.clients.searched import exhausted

TESTS = {
    node.name
    for path in sorted(Path(__file__).parent.glob("test_*.py"))
    for node in ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef)
}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.text[:40])
def test_every_claim_is_computed_by_a_test(claim: Claim) -> None:
    assert claim.evidence
    assert set(claim.evidence) <= TESTS


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_commit_that_races_a_new_generation_is_refused_unless_partitions_decide(
    model: Model,
) -> None:
    """The member keeps all its partitions; the commit is on its way when it is granted one more."""
    refused = [
        any((1, False) in world.results for world in exhausted(model, CASES[case]).reached)
        for case in ("grow", "grow, fenced by partition")
    ]
    assert refused == [True, False]
