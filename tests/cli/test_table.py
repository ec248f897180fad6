"""Tables at any width: no line is too long, no word is cut, what is left out is named."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from assignors.cli.outputs.table import Table
from tests.cli.running import GROUP
from tests.cli.test_tables import table
from tests.wire.test_frames import OTHER, TEXT

HEADERS = ("LINE", "VERSION", "TOPICS", "OWNED", "RACK", "NOTES")
# Without "_", behind which a word may be broken.
WORDS = st.lists(st.text("abc(0)", min_size=1, max_size=9), min_size=1, max_size=12).map(" ".join)
CELLS = st.tuples(st.integers(1, 999).map(str), st.just("3"), WORDS, WORDS, WORDS, WORDS)


def printed(drawn: Table, width: int) -> list[str]:
    """The lines of a table on a terminal of that width."""
    screen = io.StringIO()
    Console(file=screen, width=width, markup=False).print(drawn)
    return [line.rstrip() for line in screen.getvalue().splitlines()]


@given(st.lists(CELLS, min_size=1, max_size=4), st.integers(60, 160))
def test_no_line_is_too_long_and_no_word_is_cut(rows: list[tuple[str, ...]], width: int) -> None:
    drawn = Table.of(*HEADERS, right=("LINE", "VERSION"), title="line 1")
    for cells in rows:
        drawn.add_row(*cells)
    lines = printed(drawn, width)
    assert max(map(len, lines)) <= width
    (left_out,) = [line for line in lines if line.startswith("not shown")] or [""]
    shown = [place for place, header in enumerate(HEADERS) if header not in left_out]
    assert {"LINE", "TOPICS", "OWNED", "NOTES"} <= {HEADERS[place] for place in shown}
    words = [word for line in lines for word in line.split()]
    for cells in rows:
        for place in shown:
            assert set(cells[place].split()) <= set(words)
    # Each word of what is shown stands there as often as it was given.
    given_words = [word for cells in rows for place in shown for word in cells[place].split()]
    assert all(words.count(word) >= given_words.count(word) for word in given_words)


NAMES = ["range", "java/cooperative-sticky", "java/sticky", "server/uniform", "cooperative-sticky"]
LONG = {
    "topics": {"orders.payments.eu-west-1": 24, "users": 12},
    "members": [
        {
            "id": f"consumer-billing-{number}-2f9b7a53-aa7e-4a35-b54a-6bb7d5e1d07{number}",
            "topics": ["orders.payments.eu-west-1", "users"],
        }
        for number in range(3)
    ],
}
CASES = {
    "decode": (["decode", "subscription"], f"{TEXT.hex()}\n{OTHER.hex()}\nzz\n"),
    "assign": (["assign", "--assignor", "java/sticky"], json.dumps(LONG) + "\nx\n"),
    "check": (["check"], json.dumps({**LONG, "assignment": {}}) + "\n"),
    "explain": (["explain", "--partition", "users:3"], json.dumps(LONG)),
    "explained claims": (["explain", "--partition", "t:3"], json.dumps(GROUP)),
    "assignors": (["assignors"], ""),
    "simulate": (
        ["histories", "--seeds", "1", "--events", "0", "--members", "2"]
        + [word for name in NAMES for word in ("--assignor", name)],
        "",
    ),
}


@pytest.mark.parametrize("columns", [80, 140])
@pytest.mark.parametrize("name", CASES)
def test_answers_fit_the_terminal(name: str, columns: int) -> None:
    arguments, text = CASES[name]
    lines = table(*arguments, given=text, columns=columns).splitlines()
    assert max(map(len, lines)) <= columns
    whole = " ".join(lines)
    for header in ("CONSUMER-ID", "#PARTITIONS", "GENERATION", "PROTOCOLS"):
        if any(header[:5] in line for line in lines):
            assert header in whole


@pytest.mark.parametrize("columns", [80, 140])
def test_parts_of_long_names_are_whole(columns: int) -> None:
    shown = table("assign", "--assignor", "java/sticky", given=json.dumps(LONG), columns=columns)
    for part in ("consumer-", "billing-1-", "2f9b7a53-", "aa7e-", "b54a-", "6bb7d5e1d071"):
        assert part in shown
    wide = table("decode", "subscription", given=TEXT.hex(), columns=140)
    narrow = table("decode", "subscription", given=f"{TEXT.hex()}\n{OTHER.hex()}", columns=60)
    assert "USER-DATA" in wide.split("\n")[1]
    assert "USER-DATA" not in narrow.split("\n")[1]
    assert "not shown at 60 columns: " in narrow


def test_names_of_assignors_are_broken_behind_their_signs() -> None:
    arguments, _ = CASES["simulate"]
    head = table(*arguments, columns=80).split("\n\n")[1].split("events")[0].split()
    assert {"java/", "cooperative-", "sticky", "server/", "uniform"} <= set(head)
