"""Traffic of groups: what `traffic` reads and writes."""

from __future__ import annotations

from dataclasses import replace

from assignors.documents.keys import schema_of
from assignors.documents.schemas import (
    INTEGER,
    STRING,
    Key,
    Schema,
    constant,
    of_fields,
    record,
)
from assignors.formats.lines import ERROR, VERSION, answer
from assignors.simulation.traffic.results import TrafficResult
from assignors.simulation.traffic.scenario import VERSION as FORMAT
from assignors.simulation.traffic.scenario import TrafficScenario


def _traffic() -> Schema:
    version = record(Key("version", constant(FORMAT), "Version of this format."))
    keys = schema_of(TrafficScenario)
    return {
        **keys,
        "properties": {**version["properties"], **keys["properties"]},
        "required": ["version", *keys["required"]],
    }


TRAFFIC = _traffic()

_RUN = (
    Key("scenario", STRING, "Name of the scenario."),
    Key("seed", INTEGER, "Seed of the run."),
    Key("assignor", STRING, "Name of the assignor."),
)
_FIGURES = of_fields(TrafficResult)
SIMULATED: Schema = {
    "oneOf": [
        {"title": "simulated", **answer(*_RUN, *_FIGURES)},
        {
            "title": "failed",
            **record(
                VERSION, *(replace(key, is_optional=True) for key in _RUN), Key("error", ERROR)
            ),
        },
    ]
}
