"""Import an assignor by `package.module:object`."""

from __future__ import annotations

from importlib import import_module

from assignors.assignor import Assignor
from assignors.names.nearest import suggestion
from assignors.own_assignors.answers import checked

OURS = "assignors."
"""What modules of this package begin with: their answers are right by their own tests."""


def is_import_path(name: str) -> bool:
    """Return whether a name is written as `package.module:object` is. Imports nothing.

    >>> is_import_path("shop.weighted:WEIGHTED"), is_import_path("java/range")
    (True, False)
    """
    module_name, _, attribute = name.partition(":")
    return all(part.isidentifier() for part in (*module_name.split("."), attribute))


def imported(path: str) -> Assignor:
    """Return the `Assignor` that `package.module:object` names, its answers checked.

    Raises `ValueError` for what cannot be imported, whatever the module raises, and for an object
    that is no `Assignor`. Importing runs the module.
    """
    module_name, _, attribute = path.partition(":")
    try:
        module = import_module(module_name)
    except Exception as error:
        words = str(error) if isinstance(error, ImportError | ValueError) else _words(error)
        if module_name.endswith(".py"):
            words = f"a module is named without .py: {module_name.removesuffix('.py')}:{attribute}"
        raise ValueError(f"cannot import {path!r}: {words}") from error
    if not hasattr(module, attribute):
        here = [name for name, value in vars(module).items() if isinstance(value, Assignor)]
        words = f"module {module_name!r} has no attribute {attribute!r}"
        raise ValueError(f"cannot import {path!r}: {words}{suggestion(attribute, here)}")
    found = getattr(module, attribute)
    if not isinstance(found, Assignor):
        words = f"{path!r} is {type(found).__name__}, not an assignors.Assignor"
        if callable(found):
            words += "; wrap it: Assignor(family='own', name='...', assign=...)"
        raise ValueError(words)
    return found if module_name.startswith(OURS) else checked(found, path)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
