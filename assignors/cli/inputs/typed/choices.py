"""Options and arguments with fixed values: what is none of them gets the nearest one."""

from __future__ import annotations

import click

from assignors.names.nearest import question


class NearChoice(click.Choice[str]):
    """A choice whose error has the nearest value."""

    def get_invalid_choice_message(self, value: object, ctx: click.Context | None) -> str:
        """Return the sentence of an error."""
        text = super().get_invalid_choice_message(value, ctx)
        return text.removesuffix(".") + (question(str(value), self.choices) or ".")


def with_near_choices(command: click.Command) -> click.Command:
    """Return the command, each of its choices a `NearChoice`."""
    for parameter in command.params:
        if type(parameter.type) is click.Choice:
            parameter.type = NearChoice(parameter.type.choices)
    return command
