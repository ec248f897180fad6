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
    with _says_how(INSTALL.format(extra)):
        yield


@contextmanager
def imported_by_itself() -> Iterator[None]:
    """Let the error of a missing package that no extra brings say how to install it.

    >>> with imported_by_itself():
    ...     import no_such_package
    Traceback (most recent call last):
    ModuleNotFoundError: no_such_package is missing: pip install no_such_package
    """
    with _says_how("pip install {}"):
        yield


@contextmanager
def _says_how(command: str) -> Iterator[None]:
    """Let the error of a missing package end with a command; `{}` in it is the package's name."""
    try:
        yield
    except ModuleNotFoundError as missing:
        words = f"{missing.name} is missing: {command.format(missing.name)}"
        raise ModuleNotFoundError(words, name=missing.name) from None
