"""A sweep as a document: which models, and which loads, as every combination of some values.

    {"version": 1, "models": ["blocking", "two-stage"], "base": {"per_second": 5000},
     "over": {"check_us": [0, 500, 2000], "workers": [2, 4]}, "seeds": 3}

`base` has what all points share, `over` the values of each field that is swept. Without `models` it
is all of them. Points come in the order of `over`, the last field fastest; then by model, and then
by seed, which counts up from that of `base`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    as_int32,
    as_list,
    as_object,
    described,
)
from assignors.names.nearest import suggestion
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.scenario.execution import as_model
from assignors.simulation.timed.sweeps.points import (
    SEED_MAX,
    plain,
    read_values,
    reader_of,
)

VERSION = 1
KEYS = ("version", "models", "base", "over", "seeds")
NOT_SWEPT = {"model": "models", "seed": "seeds"}
"""Field of a point -> the key of a sweep that has its values."""
POINTS_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """A sweep."""

    models: tuple[str, ...] = tuple(POLICIES)
    """Execution models that get each load."""
    base: Mapping[str, Any] = field(default_factory=dict)
    """Field of a point -> the value that it has everywhere."""
    over: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Field of a point -> the values that it takes."""
    seeds: int = 1
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
    given = as_object(document, ())
    for key in given:
        if key not in KEYS:
            words = f"{key!r} is no key of a sweep{suggestion(key, KEYS)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, (key,))
    _require_version(given)
    base = as_object({} if given.get("base") is None else given["base"], ("base",))
    if "model" in base:
        words = "'model' is not for all points: 'models' has them"
        raise DocumentError(ErrorCode.UNKNOWN, words, ("base", "model"))
    shared = {name: plain(value) for name, value in read_values(base, ("base",)).items()}
    sweep = Sweep(
        models=_models(given.get("models")),
        base=shared,
        over=_over({} if given.get("over") is None else given["over"]),
        seeds=_seeds(given.get("seeds"), shared.get("seed", 0)),
    )
    if sweep.count > POINTS_MAX:
        words = f"{sweep.count:,} points; {POINTS_MAX:,} are possible"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("over",))
    return sweep


def _require_version(given: Mapping[str, object]) -> None:
    version = given.get("version")
    if version is None:
        raise DocumentError(ErrorCode.MISSING, "'version' is missing", ("version",))
    if version != VERSION or isinstance(version, bool):
        words = f"version {described(version)}; this release reads {VERSION}"
        raise DocumentError(ErrorCode.UNKNOWN, words, ("version",))


def _models(value: object) -> tuple[str, ...]:
    """Return names of models, each once; all of them where none is given."""
    if value is None:
        return tuple(POLICIES)
    listed = enumerate(as_list(value, ("models",)))
    names = tuple(dict.fromkeys(as_model(each, ("models", place)) for place, each in listed))
    if not names:
        raise DocumentError(ErrorCode.MISSING, "a sweep needs a model", ("models",))
    return names


def _over(value: object) -> dict[str, tuple[Any, ...]]:
    """Return the values of each field; null among them is its default."""
    found = {}
    for name, values in as_object(value, ("over",)).items():
        read, place = reader_of(name, ("over",)), ("over", name)
        if name in NOT_SWEPT:
            words = f"{name!r} is not swept: {NOT_SWEPT[name]!r} has that"
            raise DocumentError(ErrorCode.UNKNOWN, words, place)
        listed = as_list(values, place)
        if not listed:
            raise DocumentError(ErrorCode.MISSING, "a field that is swept needs values", place)
        found[name] = tuple(
            None if each is None else plain(read(each, (*place, at)))
            for at, each in enumerate(listed)
        )
    return found


def _seeds(value: object, first: int) -> int:
    if value is None:
        return 1
    seeds = as_int32(value, ("seeds",))
    if not 1 <= seeds <= min(POINTS_MAX, SEED_MAX - first):
        words = f"{seeds} is not between 1 and {POINTS_MAX}, or leads beyond 64 bits"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("seeds",))
    return seeds
