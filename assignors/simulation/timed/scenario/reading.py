"""Readers by tables of functions, for traffic and sweeps until their keys are declared in classes.

Use `assignors.documents.keys` for anything new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from assignors.documents.keys import Reader, as_boolean, word_of
from assignors.documents.values import DocumentError, ErrorCode, Place, as_object
from assignors.names.nearest import suggestion
from assignors.simulation.timed.scenario.kinds import as_seed, require_members

E = TypeVar("E", bound=StrEnum)

__all__ = [
    "Nullable",
    "Reader",
    "as_boolean",
    "as_seed",
    "one_of",
    "read_fields",
    "require_members",
    "settings_reader",
]


def read_fields(
    given: Mapping[str, object], readers: Mapping[str, Reader], place: Place
) -> dict[str, Any]:
    """Return the values of the fields that are given; a field without a reader is refused.

    A value that is null stands for the default, unless its reader is `Nullable`.
    """
    for key in given:
        if key not in readers:
            words = f"{key!r} is no field here{suggestion(key, readers)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, (*place, key))
    return {
        key: read(given[key], (*place, key))
        for key, read in readers.items()
        if key in given and (given[key] is not None or isinstance(read, Nullable))
    }


@dataclass(frozen=True, slots=True)
class Nullable:
    """A reader for which null is a value of its own."""

    read: Reader

    def __call__(self, value: object, place: Place) -> Any:  # noqa: ANN401 - as its reader
        """Return what the reader does, and `None` for null."""
        return None if value is None else self.read(value, place)


def settings_reader(kind: type[Any], readers: Mapping[str, Reader]) -> Reader:
    """Return a reader of an object whose fields all have defaults."""
    return lambda value, place: kind(**read_fields(as_object(value, place), readers, place))


def one_of(kinds: type[E]) -> Callable[[object, Place], E]:
    """Return a reader of the values of an enumeration."""
    return word_of(kinds).read
