"""One point of a sweep: an execution model, the load that it gets, and its settings.

As plain data a point is one flat object: `{"model": "blocking", "check_us": 2000, "groups": 50}`.
Its fields are those of `execution.load.Load` and of `execution.policy.Settings`; what is absent or
null has its default.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from assignors.documents.keys import BOOLEAN, Kind, integer, number, word_of
from assignors.documents.values import DocumentError, ErrorCode, Place
from assignors.names.nearest import suggestion
from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.policy import POLICIES, Settings

MINUTE_US = 60_000_000
MANY = 1_000_000
SEED_MAX = 2**63 - 1
LIMITS: dict[str, tuple[int, int]] = {
    "per_second": (1, 100_000_000),
    "workers": (1, 10_000),
    "partitions": (1, 10_000),
    "seed": (0, SEED_MAX),
    "picks": (0, SEED_MAX),
}
"""Field -> its least and its greatest value, where it has limits of its own."""
NOT_GIVEN = frozenset({"linger", "has_timeout"})
"""Settings that follow from the load."""
MODEL = word_of(POLICIES, "execution model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A load under an execution model."""

    model: str
    """Name of the execution model."""
    load: Load = field(default_factory=Load)
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class PointField:
    """A field of a point."""

    type: type[Any]
    """`int`, `float`, `bool`, or a `StrEnum`."""
    default: Any
    kind: Kind
    """How its value is read, and its schema."""


def _fields_of(kind: type[Any]) -> dict[str, PointField]:
    hints = get_type_hints(kind)
    return {
        each.name: _field(each.name, hints[each.name], each.default)
        for each in fields(kind)
        if each.name not in NOT_GIVEN
    }


def _field(name: str, hint: Any, default: object) -> PointField:  # noqa: ANN401 - a type
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (one for one in get_args(hint) if one is not type(None))
    if hint is bool:
        kind = BOOLEAN
    elif issubclass(hint, StrEnum):
        kind = word_of(hint)
    elif hint is float:
        kind = number(0, 1)
    else:
        kind = integer(*(0, MINUTE_US) if name.endswith("_us") else LIMITS.get(name, (1, MANY)))
    return PointField(type=hint, default=default, kind=kind)


OF_LOAD, OF_SETTINGS = _fields_of(Load), _fields_of(Settings)
FIELDS: Mapping[str, PointField] = {**OF_LOAD, **OF_SETTINGS}
"""Name -> field of a point, beside its model."""
KINDS: Mapping[str, Kind] = {"model": MODEL, **{name: each.kind for name, each in FIELDS.items()}}
"""Field -> the kind of its value, the model's among them."""


def kind_of(name: str, place: Place) -> Kind:
    """Return the kind of a field. Raises `DocumentError` for a name that is none."""
    if name not in KINDS:
        words = f"{name!r} is no field here{suggestion(name, KINDS)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, name))
    return KINDS[name]


def read_values(given: Mapping[str, object], place: Place = ()) -> dict[str, Any]:
    """Return the values of the fields that are given, and not null. Raises `DocumentError`."""
    kinds = {name: kind_of(name, place) for name in given}
    return {
        name: kinds[name].read(value, (*place, name))
        for name, value in given.items()
        if value is not None
    }


def point_from_document(given: Mapping[str, object]) -> Point:
    """Return the point of a flat object. Raises `DocumentError` with the path of what is wrong.

    >>> point_from_document({"model": "blocking", "check_us": 2000}).load.check_us
    2000
    """
    if given.get("model") is None:
        raise DocumentError(ErrorCode.MISSING, "'model' is missing", ("model",))
    values = read_values(given)
    return Point(
        model=values["model"],
        load=Load(**{name: values[name] for name in OF_LOAD if name in values}),
        settings=Settings(**{name: values[name] for name in OF_SETTINGS if name in values}),
    )


def values_of(point: Point) -> dict[str, Any]:
    """Return the point as a flat object, with every field."""
    return {
        "model": point.model,
        **{name: getattr(point.load, name) for name in OF_LOAD},
        **{name: getattr(point.settings, name) for name in OF_SETTINGS},
    }
