"""The description of the vectors names everything that is in them."""

from __future__ import annotations

import re

import pytest

from assignors.cli.commands.conform import conform
from assignors.conformance.vectors import FORMAT, Judge, Operation
from tests.conformance import page
from tests.conformance.published import FILES, FOLDER, lines

README = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_file_of_vectors_is_listed() -> None:
    data = [path.name for path in FOLDER.iterdir() if path.name.endswith((".jsonl", ".jsonl.gz"))]
    assert len(data) >= len(FILES)
    assert [name for name in sorted(data) if f"`{name}`" not in README] == []


def test_every_category_is_described() -> None:
    categories = {line["category"] for file in FILES for line in lines(file)[1:]}
    table = README.partition("## Categories")[2].partition("\n## ")[0]
    described = {
        name
        for row in re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
        for name in row.split(", ")
    }
    described |= {category for category in categories if category.startswith("peer-")}
    assert "peer-*" in described
    assert categories <= described


def test_every_rule_and_operation_and_option_is_described() -> None:
    for judge in Judge:
        assert f"| `{judge}` |" in README
    for operation in Operation:
        assert f'"{operation}"' in README
    options = {
        flag for option in conform.params for flag in option.opts if flag.startswith("--")
    } - {"--command", "--output"}
    assert len(options) >= 4
    assert {option for option in options if f"| `{option}" not in README} == set()
    assert f'"format": {FORMAT}' in README


def test_every_key_of_a_line_is_described() -> None:
    keys = {key for file in FILES for line in lines(file)[1:] for key in line}
    keys |= {
        key
        for file in FILES
        for line in lines(file)[1:]
        for part in ("in", "out")
        for key in line.get(part, {})
    }
    keys |= {key for file in FILES for key in lines(file)[0]} - {"title"}
    spelled = README.replace('"', "`")
    versions = {"v0", "v1", "v2", "v3"}
    assert {key for key in keys - versions if f"`{key}`" not in spelled} == set()


@pytest.mark.parametrize("target", re.findall(r"\]\((?!https?://|#)([^)#\s]+)", README))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (FOLDER / target).exists()


def test_the_results_page_is_what_the_stored_results_say() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), "python -m tests.conformance.page"
