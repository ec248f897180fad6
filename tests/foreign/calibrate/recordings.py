"""Recordings as files, so that they can be compared again without being played again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from assignors.ownership.changes import Change
from assignors.simulation.timed.scenario import Verb
from tests.foreign.calibrate.plan import TOPIC, cell, plan_of
from tests.foreign.calibrate.real import Recording


def save(recordings: Iterable[Recording], folder: Path, *, repetitions: int, seed: int) -> None:
    """Write each recording to a file of its own. The plan is made again from its seed."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in recordings:
        document = {
            "kind": each.plan.cell.kind,
            "members": each.plan.cell.members,
            "repetitions": repetitions,
            "seed": seed,
            "done": [[verb.value, member, at] for (verb, member), at in each.done.items()],
            "changes": [
                [one.at, one.member_id, list(one.owned.get(TOPIC, ()))] for one in each.changes
            ],
            "generations": each.generations,
            "arrivals": each.arrivals,
            "died": each.died,
        }
        path = folder / f"{each.plan.cell.name}-{seed}.json"
        path.write_text(json.dumps(document), "utf-8")


def load(folder: Path) -> list[Recording]:
    """Read what `save` wrote, in the order of the names."""
    return [_read(json.loads(path.read_text("utf-8"))) for path in sorted(folder.glob("*-*.json"))]


def _read(document: dict[str, Any]) -> Recording:
    chosen = cell(document["kind"], document["members"])
    return Recording(
        plan=plan_of(chosen, repetitions=document["repetitions"], seed=document["seed"]),
        done={(Verb(verb), member): at for verb, member, at in document["done"]},
        changes=[
            Change(at=at, member_id=member, owned={TOPIC: tuple(numbers)} if numbers else {})
            for at, member, numbers in document["changes"]
        ],
        generations=document["generations"],
        arrivals=document["arrivals"],
        died=document["died"],
    )
