"""Packages that an extra brings: where one is missing, the error says what to install."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

INSTALL = "pip install 'kafka-assignors[{}]'"
"""How to install an extra."""


@contextmanager
def imported_from(extra: str) -> Iterator[None]:
    """Let the error of a missing package name the extra that brings it.

    >>> with imported_from("spark"):
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: no_such_package is missing: pip install 'kafka-assignors[spark]'
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        words = f"{missing.name} is missing: {INSTALL.format(extra)}"
        raise ModuleNotFoundError(words, name=missing.name) from None
