"""An invalid answer of one's own assignor is a violation, with exit code 1, in every command.

`assign` printed one that gives a partition to all members as if it were right, and `simulate` gave
it a balance gap of -220,580.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from assignors import Assignor, Group, Rebalance
from tests.cli.running import answers, called

HERE = "tests.own_assignors.test_invalid_answers:"


def _to_everybody(group: Group) -> Rebalance:
    return Rebalance(
        assignment={
            member.member_id: {
                topic: (0,) for topic in member.topics if topic in group.cluster.topics
            }
            for member in group.members
        }
    )


EVERYBODY = Assignor(family="own", name="everybody", assign=_to_everybody)
GROUP = json.dumps(
    {"topics": {"t": 3}, "members": [{"id": each, "topics": ["t"]} for each in "abcd"]}
)
FIRST = "assigned-twice t:0 (a, b, c, d), and 2 more"
VIOLATIONS = [
    {"rule": "assigned-twice", "topic": "t", "partition": 0, "members": ["a", "b", "c", "d"]},
    {"rule": "unassigned", "topic": "t", "partition": 1, "members": []},
    {"rule": "unassigned", "topic": "t", "partition": 2, "members": []},
]
OWN = f"{HERE}EVERYBODY"


def asked(*arguments: str) -> tuple[list[dict[str, Any]], int]:
    return answers(*arguments, "-o", "jsonl", given=GROUP)


def drawn(*arguments: str) -> str:
    done = called(*arguments, "-o", "table", given=GROUP, COLUMNS="200")
    assert done.returncode == 1
    return done.stdout.decode()


def numbers(document: object) -> Iterator[float]:
    """Yield every number but those of generations, which may be -1."""
    if isinstance(document, dict):
        for key, value in document.items():
            if "generation" not in key:
                yield from numbers(value)
    elif isinstance(document, list):
        for each in document:
            yield from numbers(each)
    elif isinstance(document, int | float):
        yield document


@pytest.mark.parametrize(
    "command", [("assign", "--assignor", OWN), ("explain", "--partition", "t:0", "--assignor", OWN)]
)
def test_each_broken_rule_is_shown(command: tuple[str, ...]) -> None:
    (document,), code = asked(*command)
    assert (document["violations"], code) == (VIOLATIONS, 1)
    table = drawn(*command)
    assert "3 violations" in table
    assert not any(line.isspace() for line in table.split("\n")), "no line for absent figures"
    assert "a, b, c, d" in table
    (document,), code = asked(*[each.replace(OWN, "sticky") for each in command])
    assert ("violations" in document, code) == (False, 0)


def test_a_column_of_a_comparison_names_the_first() -> None:
    (document,), code = asked("assign", "--compare", f"{OWN},sticky")
    own, sticky = document["compared"]
    assert (own["violations"], own["first_violation"], code) == (3, FIRST, 1)
    assert (sticky["violations"], sticky["first_violation"]) == (0, None)
    assert f"{OWN} breaks {FIRST}" in drawn("assign", "--compare", f"{OWN},sticky")
    (document,), code = asked("assign", "--compare", f"{HERE}RAISES,sticky")
    assert (document["compared"][0]["failure"] is not None, code) == (True, 1)


RAISES = Assignor(family="own", name="raises", assign=lambda group: group.nothing)  # type: ignore[attr-defined]


def test_what_if_has_no_figures_of_an_assignor_that_failed() -> None:
    """Zeros made it look better than what really happened."""
    done = called("replay", "--sample", "--what-if", f"{HERE}RAISES", "-o", "table", COLUMNS="200")
    shown = done.stdout.decode().partition("what if (")[2]
    row = next(line for line in shown.splitlines() if f"{HERE}RAISES" in line)
    assert row.partition(f"{HERE}RAISES")[2].split() == ["-"] * 6
    assert done.returncode == 1


def test_an_answer_with_its_group_is_read_by_check() -> None:
    written = called("assign", "--assignor", OWN, "--with-group", "-o", "jsonl", given=GROUP)
    (document,), code = answers("check", "-o", "jsonl", given=written.stdout)
    assert (document["violations"], code) == (VIOLATIONS, 1)


@pytest.mark.parametrize(
    "command",
    [
        ("what-if", "-", "join:1"),
        ("histories", "--seeds", "3"),
    ],
)
def test_rounds_name_the_first_and_have_no_negative_figure(command: tuple[str, ...]) -> None:
    documents, code = asked(*command, "--assignor", OWN)
    assert code == 1
    for document in documents:
        assert document["violations"] > 0
        assert "assigned-twice" in document["first_violation"]
        assert document["unassigned"] > 0
        assert min(numbers(document)) >= 0
    table = drawn(*command, "--assignor", f"{OWN},sticky")
    assert f"{OWN} breaks assigned-twice" in table
    assert not any(word[0] == "-" and word[1:2].isdigit() for word in table.split())


@pytest.mark.parametrize(
    "command", [("traffic", "steady"), ("simulate", "rolling-restart")], ids=lambda c: c[1]
)
def test_traffic_and_the_clock_name_the_first(command: tuple[str, ...]) -> None:
    documents, code = asked(*command, "--assignor", f"{OWN},sticky")
    own, sticky = documents
    assert code == 1
    assert own["violations"] > 0
    words = ("assigned-twice t00:0 (", "breaks assigned-twice orders:0 (")
    assert any(each in own["first_violation"] for each in words)
    assert (sticky["violations"], sticky["first_violation"]) == (0, None)
    assert any(each in drawn(*command, "--assignor", OWN) for each in words)


def test_on_the_clock_what_nobody_gets_is_a_violation_too() -> None:
    own = "tests.own_assignors.wrapped:FIRST_ALONE"
    (document,), code = asked("simulate", "rolling-restart", "--assignor", own)
    assert code == 1
    assert "breaks unassigned orders:1, and " in document["first_violation"]


def test_what_if_has_it_in_its_error() -> None:
    few = ("replay", "--sample", "--group", "shop.32-migrate", "--min-severity", "critical")
    documents, code = asked(*few, "--what-if", OWN, "--table", "outcomes")
    assert code == 1
    first = documents[0]["row"]
    assert first["error"].startswith("broken rules: ")
    assert "assigned-twice orders:0 (" in str([each["row"]["error"] for each in documents])
    assert asked(*few, "--what-if", "sticky", "--table", "outcomes")[1] == 0
    hidden, _ = asked(*few, "--what-if", OWN, "--table", "outcomes", "--redact")
    assert hidden[0]["row"]["error"] == "broken rules"
