"""The same scenario gives the same run in every process: nothing hangs on the hash seed.

Sets of names are gone through in another order in each process, so whatever such an order decides
differs from one run of the command to the next, and from one machine to the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from assignors.simulation.timed.gallery import GALLERY
from tests.cli.running import ROOT

MIXED = (
    "migration-and-back",
    "mixed-clients",
    "new-topic-for-a-pattern",
    "nine-steps",
    "stale-claims",
    "subscription-change",
    "zombie-of-kip-447",
)
"""Scenarios in which most of what there is happens: protocols, clients, faults, commits, topics."""

PLAYED = """\
import sys
from hashlib import sha256
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.offsets_topic import log_entries
from assignors.simulation.timed.simulation import simulate

for name in sys.argv[1:]:
    for protocol in GALLERY[name].expected:
        played = simulate(named(name, seed=11, protocol=protocol), keeps_history=True)
        records = played.records if protocol.value != "push" else ()
        log = [*log_entries(records, group="g", starts_at_ms=0)]
        said = played.changes, log, played.violations, played.result
        print(name, protocol.value, sha256(repr(said).encode()).hexdigest())
print(hash("whatever"))
"""


def printed(seed: str, names: tuple[str, ...]) -> list[str]:
    """Return what a process with this hash seed prints: a line a run, and a string's hash."""
    done = subprocess.run(
        [sys.executable, "-c", PLAYED, *names],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "names", [MIXED, pytest.param(tuple(GALLERY), marks=pytest.mark.deep)], ids=["some", "all"]
)
def test_a_run_is_the_same_in_every_process(names: tuple[str, ...]) -> None:
    with ThreadPoolExecutor() as pool:
        one, other = pool.map(printed, ("0", "1"), (names, names))
    assert one.pop() != other.pop(), "the seeds were not applied"
    assert len(one) == sum(len(GALLERY[name].expected) for name in names)
    assert one == other
