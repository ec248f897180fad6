"""Assignors as values of options: by a name of the registry, or `package.module:object`."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

from assignors.assignor import Assignor
from assignors.cli.outputs.shown_names import keep_asked_name
from assignors.names.assignor_names import BEST, names_in
from assignors.own_assignors.importing import is_import_path

ASSIGNOR_HELP = f"{', '.join(BEST)}, FAMILY/NAME, or package.module:object for your own."


class AssignorName(click.ParamType[Assignor]):
    """The name of an assignor, as `registry.assignor_named` takes it."""

    name = "name"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Assignor:
        """Return the assignor; a usage error lists the names there are."""
        if isinstance(value, Assignor):
            return value
        try:
            found = _assignor_named(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        typed = keep_asked_name(ctx, found.full_name, names_in(str(value))[0])
        if len(typed) > 1:
            same = " and ".join(dict.fromkeys(typed))
            self.fail(f"{same}: one assignor, {found.full_name}, named twice", param, ctx)
        return found

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so, for the shell."""
        del ctx, param
        return completed_names(incomplete)


class AssignorNames(click.ParamType[tuple[Assignor, ...]]):
    """Two or more names of assignors with commas between them."""

    name = "name,name"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Assignor, ...]:
        """Return the assignors, in order."""
        named = AssignorName()
        found = tuple(named.convert(name, param, ctx) for name in names_in(str(value)))
        if len({assignor.full_name for assignor in found}) < max(len(found), 2):
            self.fail("name two or more different assignors: sticky,java/sticky", param, ctx)
        return found

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that the last one can become, behind those that are complete."""
        del ctx, param
        before, comma, last = incomplete.rpartition(",")
        return completed_names(last, before + comma)


class PortableAssignorNames(click.ParamType[str]):
    """Names of assignors with commas between, checked but kept: other processes look them up again.

    For an option that may be repeated; `portable_names` has the names of all its values.
    """

    name = "name"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the text if there are such assignors."""
        for name in names_in(str(value)):
            AssignorName().convert(name, param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that the last one can become, behind those that are complete."""
        return AssignorNames().shell_complete(ctx, param, incomplete)


class OwnAssignorNames(click.ParamType[str]):
    """Names of assignors outside the registry, with commas between, kept as `portable_names`."""

    name = "path"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the text if all of them can be imported."""
        for name in names_in(str(value)):
            if not is_import_path(name):
                self.fail(f"{name!r} is not package.module:object", param, ctx)
            try:
                _assignor_named(name)
            except ValueError as error:
                self.fail(str(error), param, ctx)
        return str(value)


def portable_names(values: Iterable[str]) -> tuple[str, ...]:
    """Return the names in values of `PortableAssignorNames` or `OwnAssignorNames`, in order.

    >>> portable_names(["range,sticky", "java/range"])
    ('range', 'sticky', 'java/range')
    """
    return tuple(name for value in values for name in names_in(value))


def completed_names(start: str, before: str = "") -> list[CompletionItem]:
    """Return the assignors whose name begins with `start`, short names first.

    >>> [item.value for item in completed_names("co")]
    ['cooperative-sticky']
    """
    from assignors.registry import ASSIGNORS  # noqa: PLC0415 - as below

    return [CompletionItem(before + name) for name in (*BEST, *ASSIGNORS) if name.startswith(start)]


def _assignor_named(name: str) -> Assignor:
    """Return the assignor of this name; `ValueError` where there is none."""
    # All families: commands whose assignors are optional start in 10 ms less without them.
    from assignors.registry import assignor_named  # noqa: PLC0415 - see above

    return assignor_named(name)
