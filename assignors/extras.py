"""Packages that are not always there: where one is missing, the error says what to install."""

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


@contextmanager
def imported_by_itself() -> Iterator[None]:
    """Let the error of a missing package that no extra brings say how to install it.

    >>> with imported_by_itself():
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: no_such_package is missing: pip install no_such_package
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        words = f"{missing.name} is missing: pip install {missing.name}"
        raise ModuleNotFoundError(words, name=missing.name) from None
