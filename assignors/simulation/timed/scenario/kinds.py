"""Kinds of values of a scenario, apart from those of `documents.keys`: assignors, clients, ...

Each is an `Annotated` type, for fields of the classes in this package.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated

from assignors.assignor import Assignor as AnyAssignor
from assignors.documents import schemas
from assignors.documents.keys import NATURAL_MAX, Kind, as_text, integer, number, word_of
from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    Place,
    as_integer,
    as_list,
    as_string,
    described,
)
from assignors.names.assignor_names import names_in
from assignors.names.nearest import suggestion
from assignors.own_assignors.importing import is_import_path
from assignors.registry import ASSIGNORS, assignor_named, registered
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.execution.policy import COUNT_MAX, POLICIES
from assignors.simulation.topic_patterns import require_pattern

SEED_MAX = 2**63 - 1
PPM_MAX = 100_000
PER_SECOND_MAX = 1_000_000
"""One a microsecond, the shortest time there is."""


def require_members(names: Sequence[str]) -> None:
    """Raise `DocumentError` where a group has no members, or two of one name. Cost: O(members)."""
    if not names:
        raise DocumentError(ErrorCode.MISSING, "a group needs a member", ("members",))
    seen: set[str] = set()
    for position, name in enumerate(names):
        if name in seen:
            words = f"two members are named {name!r}"
            raise DocumentError(ErrorCode.REPEATED, words, ("members", position, "name"))
        seen.add(name)


def as_seed(value: object, place: Place) -> int:
    """Return an integer of 64 bits."""
    kind = "an integer of 64 bits"
    found = as_integer(value, place, kind)
    if not -SEED_MAX <= found <= SEED_MAX:
        words = f"expected {kind}, found {described(found)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    return found


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


def assignor_at(name: str, place: Place) -> AnyAssignor:
    """Return an assignor, imported if it is somebody's own.

    Raises `DocumentError` where that cannot be imported here.
    """
    try:
        return assignor_named(name)
    except ValueError as error:
        raise DocumentError(ErrorCode.UNKNOWN, str(error), place) from error


def _names(read: Callable[[object, Place], str]) -> Kind:
    """Return the kind of a list with the names of one assignor or more."""

    def read_it(value: object, place: Place) -> tuple[str, ...]:
        names = tuple(read(each, (*place, i)) for i, each in enumerate(as_list(value, place)))
        if not names:
            raise DocumentError(ErrorCode.MISSING, "a member needs an assignor", place)
        return names

    return Kind(read_it, lambda: schemas.array(schemas.STRING))


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


Assignor = Annotated[str, Kind(as_assignor, lambda: schemas.STRING)]
"""One of the registry."""
Assignors = Annotated[tuple[str, ...], _names(as_assignor)]
MemberAssignors = Annotated[tuple[str, ...], _names(as_member_assignor)]
"""One or more; `package.module:object` too."""
Client = Annotated[str, word_of(DIALECTS, "client")]
"""A client whose bytes are known."""
MODEL = word_of(POLICIES, "execution model")
Model = Annotated[str, MODEL]
Pattern = Annotated[str, Kind(as_pattern, lambda: schemas.STRING)]
Hexadecimal = Annotated[str, Kind(as_hexadecimal, lambda: schemas.STRING)]
SEED = Kind(as_seed, lambda: schemas.INT64)
Seed = Annotated[int, SEED]
Positive = Annotated[int, integer(1, NATURAL_MAX)]
PerSecond = Annotated[int, integer(0, PER_SECOND_MAX)]
FewThousand = Annotated[int, integer(1, COUNT_MAX)]
Ppm = Annotated[int, integer(-PPM_MAX, PPM_MAX)]
Percent = Annotated[float, number(0, 100)]
Share = Annotated[float, number(0, 1)]
LingerMs = Annotated[int, integer(-1, NATURAL_MAX)]
