"""One point of a sweep: an execution model, the load that it gets, and its settings.

As plain data a point is one flat object: `{"model": "blocking", "check_us": 2000, "groups": 50}`.
Its fields are those of `coordinator.load.Load` and of `coordinator.state.Settings`; what is absent
or null has its default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    Place,
    as_integer,
    as_real,
    as_string,
    described,
)
from assignors.names.nearest import question, suggestion
from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.policy import Settings
from assignors.simulation.timed.scenario.execution import as_model
from assignors.simulation.timed.scenario.reading import as_boolean

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A load under an execution model."""

    model: str
    """Name of the execution model."""
    load: Load = field(default_factory=Load)
    settings: Settings = field(default_factory=Settings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field of a point."""

    name: str
    kind: type[Any]
    """`int`, `float`, `bool`, or an enumeration whose values are strings."""
    default: Any
    low: int = 0
    high: int = MANY

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of an enumeration; none of other fields."""
        return tuple(each.value for each in self.kind) if issubclass(self.kind, Enum) else ()

    def read(self, value: object, place: Place) -> Any:  # noqa: ANN401 - of the field's kind
        """Return the value. Raises `DocumentError` for one that the field cannot have."""
        if self.choices:
            return self._chosen(as_string(value, place), place)
        if self.kind is bool:
            return as_boolean(value, place)
        number = as_real(value, place) if self.kind is float else as_integer(value, place)
        if not self.low <= number <= self.high:
            words = f"{described(number)} is not between {self.low} and {self.high}"
            raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
        return self.kind(number)

    def _chosen(self, text: str, place: Place) -> Any:  # noqa: ANN401 - of the field's kind
        if text not in self.choices:
            words = f"{text!r} is none of {', '.join(self.choices)}{question(text, self.choices)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, place)
        return self.kind(text)


def _fields_of(kind: type[Any]) -> dict[str, Field]:
    hints = get_type_hints(kind)
    return {
        each.name: _field(each.name, hints[each.name], each.default)
        for each in fields(kind)
        if each.name not in NOT_GIVEN
    }


def _field(name: str, hint: Any, default: object) -> Field:  # noqa: ANN401 - a type
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (one for one in get_args(hint) if one is not type(None))
    low, high = LIMITS.get(name, (1, MANY))
    if name.endswith("_us"):
        low, high = 0, MINUTE_US
    if hint is float:
        low, high = 0, 1
    return Field(name=name, kind=hint, default=default, low=low, high=high)


OF_LOAD, OF_SETTINGS = _fields_of(Load), _fields_of(Settings)
FIELDS: dict[str, Field] = {**OF_LOAD, **OF_SETTINGS}
"""Name -> field of a point, beside its model."""


READERS: dict[str, Callable[[object, Place], Any]] = {
    "model": as_model,
    **{name: each.read for name, each in FIELDS.items()},
}
"""Field -> what reads its value, or raises `DocumentError`."""


def reader_of(name: str, place: Place) -> Callable[[object, Place], Any]:
    """Return the reader of a field. Raises `DocumentError` for a name that is none."""
    if name not in READERS:
        words = f"{name!r} is no field here{suggestion(name, READERS)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, name))
    return READERS[name]


def read_values(given: Mapping[str, object], place: Place = ()) -> dict[str, Any]:
    """Return the values of the fields that are given, and not null. Raises `DocumentError`."""
    readers = {name: reader_of(name, place) for name in given}
    return {
        name: readers[name](value, (*place, name))
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
    return point_of(read_values(given))


def point_of(values: Mapping[str, Any]) -> Point:
    """Return the point that has these values, which are read."""
    return Point(
        model=values["model"],
        load=Load(**{name: values[name] for name in OF_LOAD if name in values}),
        settings=Settings(**{name: values[name] for name in OF_SETTINGS if name in values}),
    )


def values_of(point: Point) -> dict[str, Any]:
    """Return the point as a flat object, with every field."""
    values = {
        **{name: getattr(point.load, name) for name in OF_LOAD},
        **{name: getattr(point.settings, name) for name in OF_SETTINGS},
    }
    return {"model": point.model, **{name: plain(value) for name, value in values.items()}}


def plain(value: object) -> Any:  # noqa: ANN401 - plain data
    """Return a value as JSON has it."""
    return value.value if isinstance(value, Enum) else value
