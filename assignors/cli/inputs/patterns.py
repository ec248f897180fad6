"""Option values: regular expressions and instants."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import click

_AGO = re.compile(r"(\d{1,9})\s*(ms|s|m|h|d)")
_MILLISECONDS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_EPOCH_MS = re.compile(r"\d{11,15}")


class Pattern(click.ParamType[re.Pattern[str]]):
    """A regular expression."""

    name = "regex"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> re.Pattern[str]:
        """Return the compiled expression; a usage error says where it is wrong."""
        try:
            return re.compile(str(value))
        except re.error as error:
            self.fail(f"{value!r}: {error}", param, ctx)


class Instant(click.ParamType[int]):
    """A point in time, in milliseconds since 1970: what `INSTANT_HELP` says."""

    name = "time"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the milliseconds; a usage error names the forms that are read."""
        text = str(value).strip()
        ago = _AGO.fullmatch(text)
        if ago is not None:
            now_ms = int(datetime.now(tz=UTC).timestamp() * 1000)
            return now_ms - int(ago[1]) * _MILLISECONDS[ago[2]]
        if _EPOCH_MS.fullmatch(text):
            return int(text)
        try:
            at = datetime.fromisoformat(text)
        except ValueError:
            self.fail(f"{text!r}: not {INSTANT_HELP}", param, ctx)
        return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1000)


INSTANT_HELP = "2026-11-21T03:00 (UTC), 2026-11-21T03:00+01:00, 2h or 1d ago, or epoch milliseconds"
"""The forms of an instant, for help texts and errors."""
