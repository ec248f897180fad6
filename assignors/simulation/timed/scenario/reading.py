"""Readers of a scenario's values: each returns it, or raises with the path of what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from assignors.assignor import Assignor
from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    Place,
    as_int32,
    as_integer,
    as_list,
    as_object,
    as_real,
    as_string,
    as_strings,
    described,
)
from assignors.names.assignor_names import names_in
from assignors.names.nearest import question, suggestion
from assignors.own_assignors.importing import is_import_path
from assignors.registry import ASSIGNORS, assignor_named, registered
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.topic_patterns import require_pattern
from wire import TopicPartitions

SEED_MAX = 2**63 - 1
TEXT_BYTES_MAX = 30_000
"""A string of Kafka's protocol has 32,767 at most, and an id is a name with a UUID behind it."""
UTF8_MAX = 4
"""Bytes of a character."""
PERCENT_MAX = 100
PPM_MAX = 100_000

E = TypeVar("E", bound=StrEnum)
Reader = Callable[[object, Place], Any]


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


def require_members(names: Sequence[str]) -> None:
    """Raise `DocumentError` where a group has no members, or two of one name. Cost: O(members)."""
    if not names:
        raise DocumentError(ErrorCode.MISSING, "a group needs a member", ("members",))
    seen: set[str] = set()
    for number, name in enumerate(names):
        if name in seen:
            words = f"two members are named {name!r}"
            raise DocumentError(ErrorCode.REPEATED, words, ("members", number, "name"))
        seen.add(name)


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


def as_text(value: object, place: Place) -> str:
    """Return a string that fits into requests and records, with what stands behind it in an id."""
    text = as_string(value, place)
    if len(text) > TEXT_BYTES_MAX or len(text.encode()) > TEXT_BYTES_MAX:
        words = f"{len(text)} characters are more than {TEXT_BYTES_MAX} bytes"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
    return text


def as_texts(value: object, place: Place) -> tuple[str, ...]:
    """Return a list of strings, each as `as_text`. Cost: O(total length)."""
    listed = as_strings(value, place)
    if max(map(len, listed), default=0) > TEXT_BYTES_MAX // UTF8_MAX:
        for position, entry in enumerate(listed):
            as_text(entry, (*place, position))
    return listed


def as_natural(value: object, place: Place) -> int:
    """Return an integer of 0 or more, up to 2**31 - 1."""
    number = as_int32(value, place)
    if number < 0:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, f"{number} is negative", place)
    return number


def as_percentage(value: object, place: Place) -> float:
    """Return a number from 0 to 100."""
    number = as_real(value, place)
    if not 0 <= number <= PERCENT_MAX:
        words = f"{number} is not between 0 and {PERCENT_MAX} percent"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
    return number


def as_seed(value: object, place: Place) -> int:
    """Return an integer of 64 bits."""
    kind = "an integer of 64 bits"
    number = as_integer(value, place, kind)
    if not -SEED_MAX <= number <= SEED_MAX:
        words = f"expected {kind}, found {described(number)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    return number


def as_boolean(value: object, place: Place) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        words = f"expected true or false, found {described(value)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    return value


def as_partitions(value: object, place: Place) -> TopicPartitions:
    """Return topics with some of their partitions. Cost: O(partitions)."""
    return {
        as_text(topic, (*place, topic)): tuple(
            as_natural(number, (*place, topic, i))
            for i, number in enumerate(as_list(numbers, (*place, topic)))
        )
        for topic, numbers in as_object(value, place).items()
    }


def one_of(kinds: type[E]) -> Callable[[object, Place], E]:
    """Return a reader of the values of an enumeration."""

    def read(value: object, place: Place) -> E:
        text = as_string(value, place)
        try:
            return kinds(text)
        except ValueError:
            words = f"{text!r} is none of {', '.join(kinds)}{question(text, kinds)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, place) from None

    return read


def as_assignor(value: object, place: Place) -> str:
    """Return the full name of an assignor of the registry, under whatever name it is given.

    None is imported: names come from data.
    """
    name = as_string(value, place)
    names = names_in(name)
    found = registered(name) or (registered(names[0]) if len(names) == 1 else None)
    if found is None:
        words = f"no assignor {name!r}{suggestion(name, ASSIGNORS)}"
        if is_import_path(name):
            words = f"{name!r} is not in the registry; members of classic groups bring their own"
        raise DocumentError(ErrorCode.UNKNOWN, words, place)
    return found.full_name


def as_member_assignor(value: object, place: Place) -> str:
    """Return the name of an assignor that a classic member may have: the registry's, or an own one.

    `package.module:object` stays as it is written, and is not imported: who may let it be imported
    is the caller (`scenario_document.require_allowed`).
    """
    if isinstance(value, str) and is_import_path(value):
        return value
    return as_assignor(value, place)


def assignor_at(name: str, place: Place) -> Assignor:
    """Return an assignor, imported if it is somebody's own.

    Raises `DocumentError` where that cannot be imported here.
    """
    try:
        return assignor_named(name)
    except ValueError as error:
        raise DocumentError(ErrorCode.UNKNOWN, str(error), place) from error


def as_assignors(
    value: object, place: Place, read: Callable[[object, Place], str] = as_assignor
) -> tuple[str, ...]:
    """Return the names of one assignor or more."""
    names = tuple(read(each, (*place, i)) for i, each in enumerate(as_list(value, place)))
    if not names:
        raise DocumentError(ErrorCode.MISSING, "a member needs an assignor", place)
    return names


def as_member_assignors(value: object, place: Place) -> tuple[str, ...]:
    """Return the names of one assignor or more, each as `as_member_assignor`."""
    return as_assignors(value, place, as_member_assignor)


def as_client(value: object, place: Place) -> str:
    """Return the name of a client whose bytes are known."""
    name = as_string(value, place)
    if name not in DIALECTS:
        words = f"no client {name!r}{suggestion(name, DIALECTS)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, place)
    return name


def as_pattern(value: object, place: Place) -> str:
    """Return a regular expression of topic names."""
    text = as_text(value, place)
    try:
        require_pattern(text)
    except re.error as error:
        words = f"{text!r} is no regular expression of a broker: {error}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place) from None
    return text


def as_hexadecimal(value: object, place: Place) -> str:
    """Return bytes in hexadecimal."""
    text = as_string(value, place)
    try:
        return bytes.fromhex(text).hex()
    except ValueError:
        words = f"{text!r} is not hexadecimal"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place) from None


def as_ppm(value: object, place: Place) -> int:
    """Return a number of millionths, up to a tenth either way."""
    number = as_int32(value, place)
    if abs(number) > PPM_MAX:
        words = f"{number} is more than a tenth, {PPM_MAX}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, place)
    return number
