"""A mapping that is made when somebody first reads it.

What members claim and are given stays in arrays or lists of numbers from one round to the next; a
leader writes its bytes of those. Names for it cost as much as the rest of a round, and most are
never read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from typing import Any, TypeVar

V = TypeVar("V")


class LazyMapping(Mapping[str, V]):
    """A mapping whose entries `_make` returns; it is called once at most.

    >>> class Squares(LazyMapping[int]):
    ...     def __init__(self, end: int) -> None:
    ...         self.end, self._named = end, None
    ...
    ...     def _make(self) -> dict[str, int]:
    ...         return {str(number): number * number for number in range(self.end)}
    >>> Squares(3)
    {'0': 0, '1': 1, '2': 4}
    """

    __slots__ = ("_named",)

    _named: Mapping[str, V] | None
    """What `_make` has returned. `__init__` sets it to `None` itself: thousands are made, and a
    call of this class's would cost half of what making one does."""

    @abstractmethod
    def _make(self) -> Mapping[str, V]:
        """Return the entries, in the order in which the mapping has them."""

    def __getitem__(self, name: str) -> V:
        """Return a value; `KeyError` for a name that is none."""
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def keys(self) -> KeysView[str]:
        """Return the names; those of what `_make` returned, as in the two below: they are fast."""
        return self._read().keys()

    def values(self) -> ValuesView[V]:
        """Return the values."""
        return self._read().values()

    def items(self) -> ItemsView[str, V]:
        """Return names and values."""
        return self._read().items()

    def __repr__(self) -> str:
        return repr(self._read())

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Copy and pickle as the dictionary that it is read as."""
        return dict, (self._read(),)

    def _read(self) -> Mapping[str, V]:
        named = self._named
        if named is None:
            named = self._named = self._make()
        return named
