"""The known name that is nearest to one that somebody typed.

Everything that refuses a name (an assignor, a topic, a key of a document, a table) ends its
sentence with what is here, so that a typing error costs one look.
"""

from __future__ import annotations

from collections.abc import Iterable

LISTED_MAX = 40
"""Known names that a sentence lists; of more it names none."""

COMPARED_MAX = 20_000
"""Known names that are compared, about 10 us each; further ones are left out."""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like `name`, `None` if none is like it.

    Upper and lower case are the same. Cost: O(known names), on errors alone.

    >>> nearest("Stikcy", ["range", "sticky"]), nearest("orders", ["payments"])
    ('sticky', None)
    """
    from difflib import get_close_matches  # noqa: PLC0415 - only a wrong name pays for the import

    folded: dict[str, str] = {}
    for each in _in_order(known):
        folded.setdefault(each.casefold(), str(each))  # the value of an enumeration
        if len(folded) == COMPARED_MAX:
            break
    found = get_close_matches(name.casefold(), folded, n=1)
    return folded[found[0]] if found else None


def question(name: str, known: Iterable[str]) -> str:
    """Return a question after the nearest known name; empty where none is near.

    >>> question("ordes", ["orders", "payments"])
    "; did you mean 'orders'?"
    """
    found = nearest(name, known)
    return "" if found is None else f"; did you mean {found!r}?"


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that refuses `name`: the nearest known name, else those known.

    Empty where nothing is near and there is nothing, or too much, to list.

    >>> "no topic 'ordes'" + suggestion("ordes", ["orders", "payments"])
    "no topic 'ordes'; did you mean 'orders'?"
    >>> "no topic 'x'" + suggestion("x", {"payments", "orders"})
    "no topic 'x'; known: orders, payments"
    """
    names = _in_order(known)
    listed = f"; known: {', '.join(names)}" if 0 < len(names) <= LISTED_MAX else ""
    return question(name, names) or listed


def _in_order(known: Iterable[str]) -> list[str]:
    """Return the names; those of a set sorted, as its order hangs on the hash seed."""
    return sorted(known) if isinstance(known, set | frozenset) else list(known)
