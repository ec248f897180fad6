"""Cells and tables: as wide as the terminal, at full width in a pipe or a file.

Names come from bytes that anybody may have written. Control characters in them are escaped, and
they are never read as markup, so that no name can move the cursor or change colours.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

NUMBERS_SHOWN = 12
"""Most partition numbers, or other entries of a list, that are shown on a terminal."""

FULL_WIDTH = 1_000_000_000
"""Columns of a table that no terminal limits."""

NONE = "-"
"""The cell of an absent value."""

Fields = Mapping[str, Any]
"""The fields of a JSON document whose shape is known."""


def partitions_cell(partitions: Fields | Sequence[Any] | None) -> str:
    """Return partitions by topic as Kafka's tool writes them, consecutive numbers as ranges.

    >>> partitions_cell({"orders": [0, 1, 2, 5], "users": [3]})
    'orders(0-2,5), users(3)'
    """
    if not partitions:
        return NONE
    pairs = partitions.items() if isinstance(partitions, Mapping) else partitions
    return clean(", ".join(f"{topic}({_runs(numbers)})" for topic, numbers in pairs))


def _runs(numbers: Sequence[int]) -> str:
    """Return consecutive numbers as ranges, `0-2,5`; on a terminal many ranges are cut off."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [f"{a}" if a == b else f"{a}-{b}" for a, b in runs[: most(NUMBERS_SHOWN)]]
    return ",".join([*shown, "..."] if len(runs) > len(shown) else shown)


def names_cell(names: Iterable[str]) -> str:
    """Return names with commas between them."""
    return clean(", ".join(names)) or NONE


SHORT = 1000
"""Numbers below it are shown with three digits, others without their fraction."""


def cell(value: object, *, absent: object = None) -> str:
    """Return a value as text; `absent` is a value that is shown as none."""
    if value is None or value == absent:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < SHORT else f"{value:.0f}"
    return clean(str(value))


def clean(text: str) -> str:
    """Return the text with control characters escaped."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def is_full_width() -> bool:
    """Return whether tables are printed whole: to no terminal, and nobody has exported COLUMNS."""
    return not sys.stdout.isatty() and not os.environ.get("COLUMNS")


def most(count: int) -> int | None:
    """Return the most entries of a list that are shown; `None`, all, at full width."""
    return None if is_full_width() else count


RULE = "─"
"""What lines below headers are made of."""


def rule(width: int, encoding: str) -> str:
    """Return the line below headers, of hyphens where the encoding has nothing better."""
    try:
        RULE.encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return "-" * width
    return RULE * width


def is_rule(line: str) -> bool:
    """Return whether a line is one that `rule` has drawn below headers.

    >>> is_rule("─────────────"), is_rule("-------------"), is_rule(""), is_rule("{}")
    (True, True, False, False)
    """
    return set(line.strip()) in ({RULE}, {RULE, " "}, {"-"}, {"-", " "})


def console_of() -> Console:
    """Return a console that reads no markup, as wide as tables may be."""
    from rich.console import Console  # noqa: PLC0415  # as above

    width = FULL_WIDTH if is_full_width() else None
    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False, width=width)


def dumps(document: object, *, indent: int | None = None) -> str:
    """Return JSON in ASCII: escapes also express what UTF-8 cannot."""
    return json.dumps(document, indent=indent, default=_plain, check_circular=False)


def _plain(value: object) -> object:
    """Return the Python number of a numpy scalar: an assignor's stats may contain some."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)
