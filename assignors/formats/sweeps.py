"""Sweeps of a coordinator's execution models: what `sweep` reads and writes."""

from __future__ import annotations

from dataclasses import replace

from assignors.documents.keys import schema_of
from assignors.documents.schemas import Key, Schema, of_fields, record
from assignors.formats.lines import ERROR, VERSION, answer
from assignors.simulation.timed.execution.measures import Measured
from assignors.simulation.timed.sweeps.rows import Derived
from assignors.simulation.timed.sweeps.sweep import FIELDS, MODEL, Sweep, Version

SWEEP = schema_of(Version, Sweep)

_POINT = (
    Key("model", MODEL.schema(), "Name of the execution model."),
    *(
        Key(name, each.kind.schema(), is_optional=each.default is None)
        for name, each in FIELDS.items()
    ),
)


def _figure(key: Key) -> Key:
    """Return a key that is left out where it would be null."""
    kind = key.type["type"]
    if not isinstance(kind, list):
        return key
    return Key(key.name, {"type": kind[0]}, key.text, is_optional=True)


_FIGURES = tuple(map(_figure, (*of_fields(Measured), *of_fields(Derived))))
MEASURED: Schema = {
    "oneOf": [
        {"title": "measured", **answer(*_POINT, *_FIGURES)},
        {
            "title": "failed",
            **record(
                VERSION, *(replace(key, is_optional=True) for key in _POINT), Key("error", ERROR)
            ),
        },
    ]
}
