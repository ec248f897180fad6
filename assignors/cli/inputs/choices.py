"""Options and arguments with fixed values: what is none of them gets the nearest one."""

from __future__ import annotations

from collections.abc import Iterable

import click

from assignors.names.nearest import question


class NearChoice(click.Choice[str]):
    """A choice whose error has the nearest value."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Return the sentence of an error."""
        text = super().get_invalid_choice_message(value, ctx)
        return text.removesuffix(".") + (question(str(value), self.choices) or ".")


class SeveralOf(NearChoice):
    """Choices of an option that may be repeated, and may have some with commas between.

    Each value of the option is a text; `names_listed` has the names of all.
    """

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text. Raises `click.BadParameter` for a name that is none of the choices."""
        for name in _split(value):
            super().convert(name, param, ctx)
        return value


def names_listed(values: Iterable[str]) -> tuple[str, ...]:
    """Return the names in values of `SeveralOf`, each once. Cost: O(their length).

    >>> names_listed(["classic, push", "classic"])
    ('classic', 'push')
    """
    return tuple(dict.fromkeys(name for value in values for name in _split(value)))


def _split(value: str) -> list[str]:
    return [name.strip() for name in value.split(",")]


def with_near_choices(command: click.Command) -> click.Command:
    """Return the command, each of its choices a `NearChoice`."""
    for parameter in command.params:
        if type(parameter.type) is click.Choice:
            parameter.type = NearChoice(parameter.type.choices)
    return command
