"""Cells, tables and the console they are drawn on, for whatever the command shows to people.

Names come from bytes that anybody may have written. They are shown with control characters
spelled out, and never read as markup, so no name can move the cursor or paint the screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NUMBERS_SHOWN = 12
"""Partition numbers shown one by one before a list is cut short."""

NEVER_FOLDED = {"NAME", "BELIEVED", "#PARTITIONS", "STATE", "KIND"}

NONE = "-"

Fields = Mapping[str, Any]
"""What a table shows comes out of JSON documents of known shape."""


def partitions_cell(partitions: Fields | Sequence[Any] | None) -> str:
    """Return partitions by topic as Kafka's tool writes them, runs of numbers folded.

    >>> partitions_cell({"orders": [0, 1, 2, 5], "users": [3]})
    'orders(0-2,5), users(3)'
    """
    if not partitions:
        return NONE
    pairs = partitions.items() if isinstance(partitions, Mapping) else partitions
    return clean(", ".join(f"{topic}({_runs(numbers)})" for topic, numbers in pairs))


def _runs(numbers: Sequence[int]) -> str:
    """Return numbers with neighbours folded, `0-2,5`, cut short when there are many."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [f"{a}" if a == b else f"{a}-{b}" for a, b in runs[:NUMBERS_SHOWN]]
    return ",".join([*shown, "..."] if len(runs) > NUMBERS_SHOWN else shown)


def names_cell(names: Iterable[str]) -> str:
    """Return names with commas between them."""
    return clean(", ".join(names)) or NONE


def cell(value: object, *, absent: object = None) -> str:
    """Return a value as people read it; `absent` is one that stands for none."""
    if value is None or value == absent:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else clean(str(value))


def clean(text: str) -> str:
    """Return the text with characters that a terminal obeys spelled out."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def table_of(*headers: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table; columns in `right` have numbers."""
    from rich import box  # noqa: PLC0415  # rich costs more than most answers: only to draw
    from rich.table import Table  # noqa: PLC0415

    table = Table(box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    table.padding = (0, 1, 0, 0)
    for header in headers:
        is_number = header in right
        table.add_column(
            header,
            justify="right" if is_number else "left",
            no_wrap=header in NEVER_FOLDED,
            overflow="fold",
        )
    return table


def console_of() -> Console:
    """Return a console that takes no name for markup."""
    from rich.console import Console  # noqa: PLC0415  # as above

    return Console(markup=False, highlight=False, emoji=False, soft_wrap=False)
