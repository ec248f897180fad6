"""Speed beside other assignors is kept: ratios of CPU time on small and medium groups."""

from __future__ import annotations

import pytest

from tests.benchmarks.peers.quick import PAIRS, kept_least, key, least_of, lost, measured
from tests.conformance.peers import GO
from tests.conftest import DEEP, need

BETWEEN = {"U 30 x 300 / 3", "Hb 100 x 1000 / 10"}
"""Groups with smaller and larger ones of their kind beside them: `make deep` has these too."""
SHOWN = [pair for pair in PAIRS if DEEP > 1 or pair[0] not in BETWEEN]


@pytest.fixture(scope="module", autouse=True)
def peers() -> None:
    """The program in Go, and kafka-python."""
    pytest.importorskip("kafka")
    for tool in GO.missing_tools():
        need(tool)


@pytest.mark.slow
def test_no_ratio_to_a_peer_is_lost() -> None:
    least = kept_least()
    assert {key(pair) for pair in PAIRS} == least.keys(), (
        "store them: python -m tests.benchmarks.peers.quick --store"
    )
    assert not lost(measured(SHOWN, least=least), least)


@pytest.mark.slow
def test_a_leader_that_does_everything_twice_loses_its_ratios() -> None:
    pairs = [pair for pair in PAIRS if pair == ("U 100 x 1000 / 10", "franz-go", "full", "full")]
    least = least_of(measured(pairs, least={}))  # of this machine, whatever is kept
    ratios = measured(pairs, least=least, ourselves="ours-twice")
    assert len(lost(ratios, least)) == len(pairs) == 1
