"""Sweeps of a coordinator's execution models: what `simulate --sweep` reads and writes."""

from __future__ import annotations

from dataclasses import replace

from assignors.documents.schemas import (
    BOOLEAN,
    Key,
    Schema,
    array,
    constant,
    nullable,
    of_fields,
    one_of,
    record,
)
from assignors.formats.lines import ERROR, VERSION, answer
from assignors.formats.scenarios import closed
from assignors.simulation.timed.execution.measures import Measured
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.sweeps import sweep
from assignors.simulation.timed.sweeps.points import FIELDS, Field
from assignors.simulation.timed.sweeps.rows import Derived

MODEL = one_of(POLICIES)


def _of_field(each: Field) -> Schema:
    if each.kind is bool:
        return BOOLEAN
    if each.choices:
        return one_of(each.choices)
    kind = "integer" if each.kind is int else "number"
    return {"type": kind, "minimum": each.low, "maximum": each.high}


def _filled(of: Schema) -> Schema:
    return {**array(of), "minItems": 1}


def _optional(name: str, of: Schema, text: str = "") -> Key:
    return Key(name, nullable(of), text, is_optional=True)


def _sweep() -> Schema:
    fields = {name: _of_field(each) for name, each in FIELDS.items()}
    base = [_optional(name, of) for name, of in fields.items()]
    over = [
        Key(name, _filled(nullable(of)), is_optional=True)
        for name, of in fields.items()
        if name not in sweep.NOT_SWEPT
    ]
    seeds: Schema = {"type": "integer", "minimum": 1, "maximum": sweep.POINTS_MAX}
    return closed(
        record(
            Key("version", constant(sweep.VERSION), "Version of this format."),
            _optional("models", _filled(MODEL), "Execution models; all of them by default."),
            _optional("base", closed(record(*base)), "Field -> the value that all points have."),
            _optional("over", closed(record(*over)), "Field -> the values that it takes."),
            _optional("seeds", seeds, "How often each point is played."),
        )
    )


SWEEP = _sweep()

_MODEL = Key("model", MODEL, "Name of the execution model.")
_POINT = (
    _MODEL,
    *(
        Key(name, _of_field(each), is_optional=each.default is None)
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
