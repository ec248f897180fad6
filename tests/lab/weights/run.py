"""Plays each contender in worlds of several seeds on a real broker, and writes the page.

    python -m tests.lab.weights.run                                # alone on its machine
    python -m tests.lab.weights.run --repetitions 1 --seconds 20   # to try it

A repetition is one world, the same for all contenders; who begins rotates.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from tests.interop.broker import Broker
from tests.interop.install import BROKER
from tests.lab.calibrate.run import processor
from tests.lab.weights.contenders import CONTENDERS
from tests.lab.weights.figures import figures
from tests.lab.weights.page import RESULTS
from tests.lab.weights.play import SETTINGS, Run, play
from tests.lab.weights.world import World

REPETITIONS = 3
WARM_S = 4.0
"""A short run before all others, which is not kept: the broker's code gets compiled."""


def main() -> None:
    """Play, save, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--seconds", type=float, default=World.seconds, help="of each run")
    parser.add_argument("--seed", type=int, default=1, help="of the first repetition")
    parser.add_argument("--contenders", nargs="*", default=list(CONTENDERS), choices=CONTENDERS)
    chosen = parser.parse_args()
    began, before = time.monotonic(), os.getloadavg()[0]
    rows = ",\n".join(json.dumps(figures(run)) for run in _play(chosen))
    machine = {
        "date": f"{datetime.now(tz=UTC):%Y-%m-%d}",
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "kafka": next(BROKER.made().glob("kafka-clients-*.jar")).stem.rpartition("-")[2],
        "load_before": round(before, 2),
        "load_after": round(os.getloadavg()[0], 2),
        "seconds": round(time.monotonic() - began),
    }
    document = f'{{"machine": {json.dumps(machine)}, "runs": [\n{rows}\n]}}\n'
    RESULTS.write_text(document, "utf-8")


def _play(chosen: argparse.Namespace) -> Iterator[Run]:
    names: list[str] = chosen.contenders
    with Broker(SETTINGS) as broker, tempfile.TemporaryDirectory(prefix="weights-") as scratch:
        play(names[0], World(seed=0, seconds=WARM_S), broker, group="warm", folder=Path(scratch))
        for repetition in range(chosen.repetitions):
            world = World(seed=chosen.seed + repetition, seconds=chosen.seconds)
            turn = repetition * max(1, len(names) // chosen.repetitions) % len(names)
            for place, name in enumerate((*names[turn:], *names[:turn])):
                run = _run(name, world, broker, group=f"run-{repetition}-{place}", folder=scratch)
                print(f"{repetition}: {name}, {run.rounds} rounds, {run.machine}", flush=True)
                yield run


def _run(name: str, world: World, broker: Broker, *, group: str, folder: str) -> Run:
    """Play a run; once more where a program or the group does not get ready."""
    try:
        return play(name, world, broker, group=group, folder=Path(folder))
    except TimeoutError as error:
        print(f"{group}: {name}: {error}; once more", flush=True)
        return play(name, world, broker, group=f"{group}-again", folder=Path(folder))


if __name__ == "__main__":
    main()
