"""Types of option values: choices, regular expressions, instants, new files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Generic, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from assignors.names.nearest import question

T = TypeVar("T")


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
    """Return the command, each of its choices a `NearChoice`, and ranges called integers."""
    for parameter in command.params:
        if type(parameter.type) is click.Choice:
            parameter.type = NearChoice(parameter.type.choices)
        if isinstance(parameter.type, click.IntRange):
            parameter.type.name = "integer"
    return command


_AGO = re.compile(r"(\d{1,9})\s*(ms|s|m|h|d)")
_MILLISECONDS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_EPOCH_MS = re.compile(r"\d{11,15}")


class Value(click.ParamType[T], Generic[T]):
    """A value that a function reads, which raises `ValueError` with what is wrong."""

    def __init__(
        self,
        name: str,
        read: Callable[[str], T],
        completed: Callable[[str], list[CompletionItem]] = lambda _: [],
    ) -> None:
        """`name` is what help calls the value, `completed` offers values for the shell."""
        self.name = name
        self._read = read
        self._completed = completed

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> T:
        """Return what the text means."""
        if not isinstance(value, str):
            return cast("T", value)  # a default
        try:
            return self._read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the values that begin so."""
        del ctx, param
        return self._completed(incomplete)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r}: {error}") from None


def _instant(text: str) -> int:
    """Return a point in time in milliseconds since 1970; `INSTANT_HELP` has its forms."""
    text = text.strip()
    ago = _AGO.fullmatch(text)
    if ago is not None:
        now_ms = int(datetime.now(tz=UTC).timestamp() * 1000)
        return now_ms - int(ago[1]) * _MILLISECONDS[ago[2]]
    if _EPOCH_MS.fullmatch(text):
        return int(text)
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r}: not {INSTANT_HELP}") from None
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


PATTERN = Value("regex", _pattern)
INSTANT = Value("time", _instant)

INSTANT_HELP = "2026-11-21T03:00 (UTC), 2026-11-21T03:00+01:00, 2h or 1d ago, or epoch milliseconds"
"""The forms of an instant, for help texts and errors."""


NO_DASH = "standard output has the answers: name a file (./- is one of this name)"
"""What refuses `-` where it does not mean standard output."""


class NewFile(click.Path):
    """A file to be written, in a folder that there is: known before the work begins."""

    def __init__(self, *, allow_dash: bool = False) -> None:
        """Take `-`, standard output, where it is allowed."""
        super().__init__(dir_okay=False, writable=True, allow_dash=allow_dash)
        self._takes_dash = allow_dash

    def convert(
        self, value: str | PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | PathLike[str]:
        """Return the name. Raises `click.BadParameter` where no file can get it."""
        if value == "-" and not self._takes_dash:
            self.fail(NO_DASH, param, ctx)
        found = super().convert(value, param, ctx)
        folder = Path(value).parent
        if not folder.is_dir():
            self.fail(f"{folder}: no such folder", param, ctx)
        return found
