"""Lists, sets and numpy's numbers where the data has tuples and integers: taken, or refused.

`Member(topics="orders")` means one topic to whoever writes it, and six letters to Python: refused.
`Member(topics=["orders"])` can only mean one thing: taken, as the tuple it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from operator import index
from typing import Any, TypeVar

from wire.text import utf16_key

T = TypeVar("T")


def as_names(value: Any, what: str) -> tuple[str, ...]:  # noqa: ANN401 - whatever was given
    """Return names as a tuple, those of a set in order; `ValueError` for anything else.

    >>> as_names(["orders"], "topics")
    ('orders',)
    >>> as_names("orders", "topics")
    Traceback (most recent call last):
    ValueError: topics: 'orders' is one name, not several: ('orders',)
    """
    if isinstance(value, str):
        raise ValueError(f"{what}: {value!r} is one name, not several: ({value!r},)")
    names = as_entries(value, str, what)
    return tuple(sorted(names, key=utf16_key)) if isinstance(value, AbstractSet) else names


def as_entries(value: Any, kind: type[T], what: str) -> tuple[T, ...]:  # noqa: ANN401 - as above
    """Return entries of one type as a tuple; `ValueError` for what is none of it."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueError(f"{what}: expected a tuple of {kind.__name__}, found {value!r}")
    entries = tuple(value)
    for entry in entries:
        if not isinstance(entry, kind):
            raise ValueError(f"{what}: expected {kind.__name__}, found {entry!r}")
    return entries


def as_partitions(value: Any, what: str) -> Mapping[str, tuple[int, ...]]:  # noqa: ANN401 - as above
    """Return partitions by topic, the numbers as tuples of `int`; `ValueError` for anything else.

    >>> as_partitions({"orders": [0, 1]}, "owned")
    {'orders': (0, 1)}
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{what}: expected topic -> partition numbers, found {value!r}")
    return {topic: as_numbers(numbers, f"{what}[{topic!r}]") for topic, numbers in value.items()}


def as_numbers(value: Any, what: str) -> tuple[int, ...]:  # noqa: ANN401 - as above
    """Return numbers as a tuple, those of a set in order; `ValueError` for anything else."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ValueError(f"{what}: expected a tuple of numbers, found {value!r}")
    numbers = tuple(as_number(number, what) for number in value)
    return tuple(sorted(numbers)) if isinstance(value, AbstractSet) else numbers


def as_number(value: Any, what: str) -> int:  # noqa: ANN401 - as above
    """Return an integer, also one of numpy's; `ValueError` for anything else, `True` too."""
    try:
        if not isinstance(value, bool):
            return index(value)
    except TypeError:
        pass
    raise ValueError(f"{what}: expected an integer, found {value!r}")


def take(instance: object, **values: object) -> None:
    """Set fields of a frozen dataclass that is being made."""
    for name, value in values.items():
        object.__setattr__(instance, name, value)
