"""The ratios to cheap peers on small and medium groups, beside those that are kept.

    python -m tests.benchmarks.peers.quick            measures, and fails if a ratio is lost
    python -m tests.benchmarks.peers.quick --store    measures, and keeps the ratios

Times differ between machines and with what else runs, so nothing but ratios are compared: our CPU
time and a peer's, each the least of several processes that took turns. A ratio is lost if it is
more than a quarter below the kept one; it is measured again, and again, before that is said. On
another kind of processor than the kept ones are from, ratios themselves differ: there a ratio is
lost if less than half of it is left.
Java is left out: how far a JVM has compiled what it runs changes its time by more than that.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from tests.benchmarks.peers.contenders import BY_NAME, Stage, same_bytes
from tests.benchmarks.peers.group_files import write_workload
from tests.benchmarks.peers.measure import pinned, processor, timed
from tests.benchmarks.peers.results import FOLDER

FILE = FOLDER / "ratios.json"
LOSS, LOSS_ELSEWHERE = 0.25, 0.5
EVENT = "leave"
ROUNDS = 2
AGAIN = 6
"""How many more rounds a ratio gets that seems lost."""
SECONDS = 0.15

Pair = tuple[str, str, Stage, Stage]
"""Workload, peer, the peer's stage, and our stage."""
FULL: tuple[tuple[Stage, Stage], ...] = (("full", "full"),)
STAGES: tuple[tuple[Stage, Stage], ...] = (("assign", "assign"), *FULL)
PAIRS: tuple[Pair, ...] = (
    *(
        (workload, "franz-go", theirs, ours)
        for workload in (
            *("U 3 x 12 / 1", "U 30 x 300 / 3", "U 100 x 1000 / 10", "U 1000 x 10000 / 100"),
            *("Hb 100 x 1000 / 10", "Hc 500 x 3000 / 60", "Hd 1000 x 10000 / 100"),
        )
        for theirs, ours in STAGES
    ),
    *(
        (workload, "kafka-python", theirs, ours)
        for workload in ("U 3 x 12 / 1", "U 30 x 300 / 3", "U 100 x 1000 / 10")
        for theirs, ours in FULL
    ),
)


class Turns:
    """The least CPU time of everybody on one workload so far."""

    def __init__(self, folder: Path, workload: str, *, ourselves: str) -> None:
        for _ in write_workload(folder, workload, (EVENT,)):
            pass
        self._folder = folder
        self._ourselves = ourselves
        self._least: dict[tuple[str, Stage], float] = {}

    def play(self, pairs: Iterable[Pair], *, rounds: int) -> dict[Pair, float]:
        """Give everybody some more turns; return the ratios."""
        chosen = list(pairs)
        turns = [turn for pair in chosen for turn in self._turns(pair)]
        for _ in range(rounds):
            for name, stage in dict.fromkeys(turns):
                spent = timed(BY_NAME[name], self._folder, stage, EVENT, seconds=SECONDS)
                self._least[name, stage] = min(spent, self._least.get((name, stage), spent))
        ratios = {}
        for pair in chosen:
            here, there = (self._least[turn] for turn in self._turns(pair))
            ratios[pair] = there / here
        return ratios

    def _turns(self, pair: Pair) -> tuple[tuple[str, Stage], tuple[str, Stage]]:
        _, peer, theirs, ours = pair
        assert same_bytes(peer) == "ours"
        return (self._ourselves, ours), (peer, theirs)


def measured(
    pairs: Iterable[Pair] = PAIRS,
    *,
    least: Mapping[str, float],
    ourselves: Literal["ours", "ours-twice"] = "ours",
) -> dict[str, float]:
    """Return the ratios of pairs; those that seem lost, below `least`, are measured longer."""
    ratios: dict[str, float] = {}
    chosen = list(pairs)
    for workload in dict.fromkeys(pair[0] for pair in chosen):
        of_workload = [pair for pair in chosen if pair[0] == workload]
        with tempfile.TemporaryDirectory() as folder, pinned(max(os.sched_getaffinity(0))):
            turns = Turns(Path(folder), workload, ourselves=ourselves)
            found = turns.play(of_workload, rounds=ROUNDS)
            for _ in range(AGAIN):
                doubtful = [pair for pair in found if found[pair] < least.get(key(pair), 0.0)]
                found.update(turns.play(doubtful, rounds=1))
        ratios.update({key(pair): ratio for pair, ratio in found.items()})
    return ratios


def lost(ratios: Mapping[str, float], least: Mapping[str, float]) -> list[str]:
    """Return a line for each ratio that is lost."""
    return [
        f"{name}: {ratio:.3g}x, {least[name]:.3g}x at least"
        for name, ratio in ratios.items()
        if ratio < least.get(name, 0.0)
    ]


def least_of(ratios: Mapping[str, float], loss: float = LOSS) -> dict[str, float]:
    """Return what has to be left of ratios.

    >>> least_of({"a": 1.0, "b": 8.0})
    {'a': 0.75, 'b': 6.0}
    """
    return {name: (1 - loss) * ratio for name, ratio in ratios.items()}


def key(pair: Pair) -> str:
    """Return what a pair is called in the file.

    >>> key(("U 3 x 12 / 1", "franz-go", "full", "full"))
    'U 3 x 12 / 1: franz-go full / our full'
    """
    workload, peer, theirs, ours = pair
    return f"{workload}: {peer} {theirs} / our {ours}"


def kept_least() -> dict[str, float]:
    """Return what has to be left of the kept ratios on this machine."""
    kept: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    loss = LOSS if kept["processor"] == processor() else LOSS_ELSEWHERE
    return least_of(kept["ratios"], loss)


def main(arguments: list[str]) -> None:
    """Compare or store."""
    least = {} if arguments == ["--store"] or not FILE.exists() else kept_least()
    ratios = measured(least=least)
    for name, ratio in ratios.items():
        print(f"{name:60} {ratio:9.3g}x  {f'least {least[name]:.3g}x' if name in least else ''}")
    if arguments == ["--store"]:
        rounded = {name: float(f"{ratio:.3g}") for name, ratio in ratios.items()}
        kept = {"processor": processor(), "ratios": rounded}
        FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    elif lines := lost(ratios, least):
        sys.exit("lost:\n" + "\n".join(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
