"""The peers by name, as they stand in tables."""

from __future__ import annotations

from dataclasses import replace

from assignors.arrays import Int32
from tests.benchmarks.weighted.peers.count_sticky import count_sticky
from tests.benchmarks.weighted.peers.dicer import dicer
from tests.benchmarks.weighted.peers.guyozeri import guyozeri
from tests.benchmarks.weighted.peers.kcl import kcl
from tests.benchmarks.weighted.peers.lag_based import lag_based
from tests.benchmarks.weighted.peers.lpt import lpt
from tests.benchmarks.weighted.peers.task import Peer, Task

RUNS = 10
"""So often KCL 3 runs for one row of a table: each run takes 60 % of what is too much."""


def kcl_runs(task: Task) -> Int32:
    """Return who gets what after ten runs of KCL 3."""
    for run in range(RUNS):
        task = replace(task, owner=kcl(replace(task, seed=task.seed * RUNS + run)))
    return task.owner


PEERS: dict[str, Peer] = {
    "sticky by count": count_sticky,
    "lag-based": lag_based,
    "LPT": lpt,
    "guyozeri": guyozeri,
    "KCL 3": kcl,
    "Dicer": dicer,
}
"""One decision of each."""
