"""A sweep as a document: which models, and which loads, as every combination of some values.

    {"version": 1, "models": ["blocking", "two-stage"], "base": {"per_second": 5000},
     "over": {"check_us": [0, 500, 2000], "workers": [2, 4]}, "seeds": 3}

`base` has what all points share, `over` the values of each field that is swept. Without `models` it
is all of them. Points come in the order of `over`, the last field fastest; then by model, and then
by seed, which counts up from that of `base`.

A point is one flat object: `{"model": "blocking", "check_us": 2000, "groups": 50}`. Its fields are
those of `execution.load.Load` and of `execution.policy.Settings`; what is absent or null has its
default.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Annotated, Any

from assignors.documents.keys import Kind, integer, keys_of, read_several, word_of
from assignors.documents.schemas import Key, Schema, array, constant, nullable, record
from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    Place,
    as_list,
    as_object,
    described,
)
from assignors.names.nearest import suggestion
from assignors.simulation.timed.execution.load import SEED_MAX, Load
from assignors.simulation.timed.execution.policy import POLICIES, Settings

MODEL = word_of(POLICIES, "execution model")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A load under an execution model."""

    model: str
    """Name of the execution model."""
    load: Load = field(default_factory=Load)
    settings: Settings = field(default_factory=Settings)


OF_LOAD = keys_of(Load)
OF_SETTINGS = {name: key for name, key in keys_of(Settings).items() if name != "linger"}
"""Without the linger, which follows from the load."""
FIELDS = {**OF_LOAD, **OF_SETTINGS}
"""Name -> field of a point, apart from its model."""
KINDS: Mapping[str, Kind] = {"model": MODEL, **{name: each.kind for name, each in FIELDS.items()}}
"""Field -> the kind of its value, the model's among them."""


def kind_of(name: str, place: Place) -> Kind:
    """Return the kind of a field. Raises `DocumentError` for a name that is none."""
    if name not in KINDS:
        words = f"{name!r} is no key here{suggestion(name, KINDS)}"
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


VERSION = 1
NOT_SWEPT = {"model": "models", "seed": "seeds"}
"""Field of a point -> the key of a sweep that has its values."""
POINTS_MAX = 1_000_000


def _version(value: object, place: Place) -> int:
    if value != VERSION or isinstance(value, bool):
        words = f"version {described(value)}; this release reads {VERSION}"
        raise DocumentError(ErrorCode.UNKNOWN, words, place)
    return VERSION


def _models(value: object, place: Place) -> tuple[str, ...]:
    """Return names of models, each once."""
    listed = enumerate(as_list(value, place))
    names = tuple(dict.fromkeys(MODEL.read(each, (*place, number)) for number, each in listed))
    if not names:
        raise DocumentError(ErrorCode.MISSING, "a sweep needs a model", place)
    return names


def _base(value: object, place: Place) -> dict[str, Any]:
    given = as_object(value, place)
    if "model" in given:
        words = "'model' is not for all points: 'models' has them"
        raise DocumentError(ErrorCode.UNKNOWN, words, (*place, "model"))
    return read_values(given, place)


def _over(value: object, place: Place) -> dict[str, tuple[Any, ...]]:
    """Return the values of each field; null among them is its default."""
    found = {}
    for name, values in as_object(value, place).items():
        kind, where = kind_of(name, place), (*place, name)
        if name in NOT_SWEPT:
            words = f"{name!r} is not swept: {NOT_SWEPT[name]!r} has that"
            raise DocumentError(ErrorCode.UNKNOWN, words, where)
        listed = as_list(values, where)
        if not listed:
            raise DocumentError(ErrorCode.MISSING, "a field that is swept needs values", where)
        found[name] = tuple(
            None if each is None else kind.read(each, (*where, at))
            for at, each in enumerate(listed)
        )
    return found


def _closed(*keys: Key) -> Schema:
    return {**record(*keys), "additionalProperties": False}


def _filled(of: Schema) -> Schema:
    return {**array(of), "minItems": 1}


VERSIONS = Kind(_version, lambda: constant(VERSION))
MODELS = Kind(_models, lambda: _filled(MODEL.schema()))
BASE = Kind(
    _base,
    lambda: _closed(
        *(
            Key(name, nullable(each.kind.schema()), is_optional=True)
            for name, each in FIELDS.items()
        )
    ),
)
OVER = Kind(
    _over,
    lambda: _closed(
        *(
            Key(name, _filled(nullable(each.kind.schema())), is_optional=True)
            for name, each in FIELDS.items()
            if name not in NOT_SWEPT
        )
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A key of the document."""

    version: Annotated[int, VERSIONS]
    """Version of this format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A sweep."""

    models: Annotated[tuple[str, ...], MODELS] = tuple(POLICIES)
    """Execution models that get each load; all of them by default."""
    base: Annotated[Mapping[str, Any], BASE] = field(default_factory=dict)
    """Field of a point -> the value that it has everywhere."""
    over: Annotated[Mapping[str, tuple[Any, ...]], OVER] = field(default_factory=dict)
    """Field of a point -> the values that it takes."""
    seeds: Annotated[int, integer(1, POINTS_MAX)] = 1
    """How often each point is played."""

    @property
    def count(self) -> int:
        """How many points there are."""
        return prod(map(len, self.over.values())) * len(self.models) * self.seeds

    def point(self, number: int) -> dict[str, Any]:
        """Return a point as a flat object; its number is below `count`."""
        rest, seed = divmod(number, self.seeds)
        rest, model = divmod(rest, len(self.models))
        swept = {}
        for name, values in reversed([*self.over.items()]):
            rest, place = divmod(rest, len(values))
            swept[name] = values[place]
        first = self.base.get("seed", 0)
        return {"model": self.models[model], **self.base, **swept, "seed": first + seed}

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield the points as flat objects."""
        return map(self.point, range(self.count))


def sweep_from_document(document: object) -> Sweep:
    """Return the sweep of a document. Raises `DocumentError` with the path of what is wrong.

    >>> sweep_from_document({"version": 1, "over": {"groups": [10, 100, 1000]}}).count
    18
    """
    sweep: Sweep = read_several((Version, Sweep), document)[1]
    if sweep.seeds > SEED_MAX - sweep.base.get("seed", 0):
        words = f"{sweep.seeds} from the first seed on lead beyond 64 bits"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("seeds",))
    if sweep.count > POINTS_MAX:
        words = f"{sweep.count:,} points; {POINTS_MAX:,} are possible"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("over",))
    return sweep
