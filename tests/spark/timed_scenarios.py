"""The timed scenarios that every engine runs, good and bad ones."""

from __future__ import annotations

from typing import Any

from assignors.cli.outputs.forms import dumps
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario_document import document_from_scenario

DDL = "factor int, scenario string, seed bigint, protocol string"


def scenario_rows() -> list[dict[str, Any]]:
    """Two scenarios under two protocols and three seeds, and rows that are none."""
    written = dumps(document_from_scenario(named("scale-out")))
    rows = [
        {"factor": factor, "scenario": scenario, "seed": seed, "protocol": protocol}
        for factor, scenario in enumerate(("crash", written))
        for protocol in ("classic", "consumer")
        for seed in range(3)
    ]
    rows.append({**rows[0], "scenario": "{}"})
    rows.append({**rows[0], "protocol": "share"})
    return rows
