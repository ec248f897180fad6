"""Copies of states, and keys by which equal states are found equal.

States of coordinators and members are dataclasses of plain values. Those that are frozen, and all
values that are no containers, are shared between copies. Functions, settings and what a dataclass
leaves out of its comparison (`field(compare=False)`) are no part of a key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import fields, is_dataclass
from enum import IntEnum
from functools import cache
from typing import Any, TypeVar

from assignors.assignor import Assignor
from assignors.model import Cluster
from assignors.simulation.timed.scenario import MemberConfig

V = TypeVar("V")
SETTINGS = (Assignor, Cluster)
"""Classes of what never changes in a case."""


class _Kind(IntEnum):
    """How a value is copied and compared."""

    ATOM = 0
    DICT = 1
    COUNTER = 2
    SET = 3
    LIST = 4
    TUPLE = 5
    STATE = 6
    """A dataclass that changes."""
    FROZEN = 7
    """A dataclass that does not."""
    CONFIG = 8
    IGNORED = 9


def cloned(value: V) -> V:
    """Return a copy that may be changed without changing `value`. Cost: O(its size)."""
    made: Any = value
    kind = _kind(_class(made))
    if kind in {_Kind.DICT, _Kind.COUNTER}:
        made = copy(value)
        for key, each in made.items():
            made[key] = cloned(each)
    elif kind is _Kind.LIST:
        made = [cloned(each) for each in made]
    elif kind is _Kind.SET:
        made = copy(value)
    elif kind is _Kind.STATE:
        was, made = made, object.__new__(type(made))
        for name in _all_fields(_class(made)):
            setattr(made, name, cloned(getattr(was, name)))
    return made  # type: ignore[no-any-return]


def key_of(value: Any) -> Hashable:  # noqa: ANN401 - of any class
    """Return what is equal for equal states, whatever the order of their dicts and sets.

    Cost: O(size of the state).

    >>> key_of({"a": [1], "b": {2}}) == key_of({"b": {2}, "a": [1]})
    True
    """
    key: Callable[[Any], Hashable] = _KEYS[_kind(_class(value))]
    return key(value)


def shared_parts(value: Any, parts: dict[Hashable, Any]) -> Hashable:  # noqa: ANN401 - as above
    """Let a state consist of parts that equal ones have too; return its key, made so as well.

    `parts` has what was met so far. Neither `value` nor any part may change afterwards. A state of
    a few kilobytes so takes as much as is new in it. Cost: O(size of the state).

    >>> one, other, parts = Counter(a=1), Counter(a=1), {}
    >>> shared_parts(one, parts) is shared_parts(other, parts)
    True
    """
    key = key_of(value)
    if _kind(_class(value)) is _Kind.STATE:
        keys: list[Hashable] = [type(value).__name__]
        for name in _compared_fields(_class(value)):
            part = getattr(value, name)
            keys.append(shared_parts(part, parts))
            if _kind(_class(part)) in _SHARED:
                setattr(value, name, parts.setdefault((type(part), keys[-1]), part))
        key = tuple(keys)
    kept: Hashable = parts.setdefault(key, key)
    return kept


def _state_key(value: Any) -> Hashable:  # noqa: ANN401 - of any class
    names = _compared_fields(_class(value))
    return (type(value).__name__, *[key_of(getattr(value, name)) for name in names])


def _list_key(value: Iterable[object]) -> Hashable:
    return tuple([key_of(each) for each in value])


_KEYS: dict[_Kind, Callable[[Any], Hashable]] = {
    _Kind.ATOM: lambda value: value,
    _Kind.COUNTER: lambda value: frozenset((each, n) for each, n in value.items() if n),
    _Kind.DICT: lambda value: frozenset([(each, key_of(what)) for each, what in value.items()]),
    _Kind.SET: frozenset,
    _Kind.LIST: _list_key,
    _Kind.TUPLE: _list_key,
    _Kind.STATE: _state_key,
    _Kind.FROZEN: _state_key,
    _Kind.CONFIG: lambda value: value.name,
    _Kind.IGNORED: lambda _: None,
}

_SHARED = frozenset({_Kind.DICT, _Kind.COUNTER, _Kind.SET, _Kind.LIST, _Kind.STATE})
"""Kinds of parts of a state that are copied with it, and so are worth sharing."""

_KINDS: tuple[tuple[type, _Kind], ...] = (
    *((each, _Kind.ATOM) for each in (type(None), str, int, bytes)),
    (Counter, _Kind.COUNTER),
    (dict, _Kind.DICT),
    (Mapping, _Kind.DICT),
    (AbstractSet, _Kind.SET),
    (list, _Kind.LIST),
    (tuple, _Kind.TUPLE),
    (MemberConfig, _Kind.CONFIG),
    *((each, _Kind.IGNORED) for each in SETTINGS),
)
"""The first class that fits decides."""


def _class(value: object) -> Any:  # noqa: ANN401 - a class, which mypy does not take for hashable
    return type(value)


@cache
def _kind(kind: Any) -> _Kind:  # noqa: ANN401 - a class
    for base, found in _KINDS:
        if issubclass(kind, base):
            return found
    if is_dataclass(kind):
        is_frozen = kind.__dataclass_params__.frozen  # type: ignore[union-attr]
        return _Kind.FROZEN if is_frozen else _Kind.STATE
    return _Kind.IGNORED


@cache
def _all_fields(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - as above
    return tuple(each.name for each in fields(kind))


@cache
def _compared_fields(kind: Any) -> tuple[str, ...]:  # noqa: ANN401 - as above
    return tuple(each.name for each in fields(kind) if each.compare and each.name != "out")
