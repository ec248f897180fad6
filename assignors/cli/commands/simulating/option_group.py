"""Options of a command that belong together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def option_group(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return a decorator that adds these options to a command, in this order."""

    def added(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return added
