"""A scenario on a clock: what `simulate` reads, and `--show` writes."""

from __future__ import annotations

from assignors.documents.keys import schema_of
from assignors.documents.schemas import Schema, constant
from assignors.simulation.timed.scenario import VERSION, Scenario

_WHOLE = schema_of(Scenario)
_VERSION = {**constant(VERSION), "description": "Version of this format."}
SCENARIO: Schema = {
    **_WHOLE,
    "properties": {"version": _VERSION, **_WHOLE["properties"]},
    "required": ["version", *_WHOLE["required"]],
}
