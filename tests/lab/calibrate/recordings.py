"""Recordings as files, so that they can be compared again without being played again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from assignors.ownership.changes import Change
from assignors.simulation.timed.scenario import Verb
from tests.lab.calibrate.plan import TOPIC, cell, plan_of
from tests.lab.calibrate.real import Recording


def save(recordings: Iterable[Recording], folder: Path) -> None:
    """Write each recording to a file of its own. The plan is made again from its seed."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in recordings:
        document = {
            "kind": each.plan.cell.kind,
            "members": each.plan.cell.members,
            "repetitions": len(each.plan.verbs) // 2,
            "seed": each.plan.seed,
            "done": [[verb.value, member, at] for (verb, member), at in each.done.items()],
            "changes": [
                [one.at, one.member_id, list(one.owned.get(TOPIC, ()))] for one in each.changes
            ],
            "generations": each.generations,
            "arrivals": each.arrivals,
            "died": each.died,
        }
        path = folder / f"{each.plan.cell.name}-{each.plan.seed}.json"
        path.write_text(json.dumps(document), "utf-8")


def load(folder: Path) -> list[Recording]:
    """Read what `save` wrote, in the order of the cells' names and the seeds."""
    paths = {path.stem.rpartition("-")[::2]: path for path in folder.glob("*-*.json")}
    ordered = sorted(paths, key=lambda name: (name[0], int(name[1])))
    return [_read(json.loads(paths[name].read_text("utf-8"))) for name in ordered]


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
