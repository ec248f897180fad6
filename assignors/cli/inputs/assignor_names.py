"""Assignors as values of options: by a name of the registry, or `package.module:object`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from assignors.cli.inputs.option_types import Value
from assignors.cli.outputs.shown_names import keep_asked_name
from assignors.names.assignor_names import BEST, names_in
from assignors.own_assignors.importing import is_import_path

if TYPE_CHECKING:
    from assignors.assignor import Assignor

ASSIGNOR_HELP = f"{', '.join(BEST)}, FAMILY/NAME, or package.module:object for your own."


def _assignor(text: str) -> Assignor:
    found = _assignor_named(text)
    typed = keep_asked_name(found.full_name, names_in(text)[0])
    if len(typed) > 1:
        same = " and ".join(dict.fromkeys(typed))
        raise ValueError(f"{same}: one assignor, {found.full_name}, named twice")
    return found


def _several(text: str) -> tuple[Assignor, ...]:
    found = tuple(map(_assignor, names_in(text)))
    if len({assignor.full_name for assignor in found}) < max(len(found), 2):
        raise ValueError("name two or more different assignors: sticky,java/sticky")
    return found


def _portable(text: str) -> tuple[str, ...]:
    """Return names with commas between, checked but kept: other processes look them up again."""
    for name in names_in(text):
        _assignor(name)
    return tuple(names_in(text))


def _own(text: str) -> tuple[str, ...]:
    """Return names of assignors outside the registry, if all of them can be imported."""
    for name in names_in(text):
        if not is_import_path(name):
            raise ValueError(f"{name!r} is not package.module:object")
        _assignor_named(name)
    return tuple(names_in(text))


def completed_names(incomplete: str) -> list[CompletionItem]:
    """Return the names that the last one can become, behind those that are complete.

    >>> [item.value for item in completed_names("range,co")]
    ['range,cooperative-sticky']
    """
    from assignors.registry import ASSIGNORS  # noqa: PLC0415 - as below

    before, comma, start = incomplete.rpartition(",")
    known = (name for name in (*BEST, *ASSIGNORS) if name.startswith(start))
    return [CompletionItem(before + comma + name) for name in known]


def _assignor_named(name: str) -> Assignor:
    # All families: commands whose assignors are optional start in 10 ms less without them.
    from assignors.registry import assignor_named  # noqa: PLC0415 - see above

    return assignor_named(name)


ASSIGNOR = Value("name", _assignor, completed_names)
COMPARED = Value("name,name", _several, completed_names)
PORTABLE = Value("name", _portable, completed_names)
"""For an option that may be repeated; `portable_names` has the names of all its values."""
OWN = Value("path", _own)


def portable_names(values: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the names in values of `PORTABLE` or `OWN`, in order."""
    return tuple(chain.from_iterable(values))
