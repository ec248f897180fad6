"""Packages that a command or an option needs and an extra brings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import click

from assignors.extras import INSTALL


@contextmanager
def needed_by(what: str, extra: str) -> Iterator[None]:
    """Raise `click.UsageError` with what to install where an import finds no package."""
    try:
        yield
    except ModuleNotFoundError as missing:
        words = f"{what} needs {missing.name}: {INSTALL.format(extra)}"
        raise click.UsageError(words) from None


def require_package(package: str, what: str, extra: str) -> None:
    """Raise `click.UsageError` with what to install where there is no such package."""
    with needed_by(what, extra):
        import_module(package)
