"""The templates of the report have no way around the escaping of text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import TemplateAssertionError, nodes
from markupsafe import Markup

from assignors.replay.report import templating
from assignors.replay.report.templating import own_code, without_line_ends

FOLDER = Path(templating.__file__).parent / "templates"
TEMPLATES = sorted(FOLDER.glob("*.html"))

UNQUOTED = re.compile(r"""<[^<>]*=\s*\{\{""")
"""An attribute whose value is printed without quotes: a space in it would end it."""


def test_all_templates_are_seen() -> None:
    assert {path.name for path in TEMPLATES} == {
        *("base.html", "chart.html", "group.html", "overview.html", "page.html"),
        *("simulation.html", "table.html"),
    }


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_prints_every_value_escaped_and_in_quotes(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = templating._environment().parse(source)
    # `{% autoescape false %}` is one of the first; the others are made by extensions.
    ways = (nodes.ScopedEvalContextModifier, nodes.EvalContextModifier, nodes.MarkSafe)
    assert not list(tree.find_all(ways))
    assert {one.name for one in tree.find_all(nodes.Filter)} <= {
        "code_parts",
        "length",
        "shortened",
        "shortened_name",
    }
    assert not UNQUOTED.findall(source)


def test_the_filter_that_switches_escaping_off_does_not_exist() -> None:
    with pytest.raises(TemplateAssertionError, match="safe"):
        templating._environment().from_string("{{ name|safe }}")


def test_text_is_declared_to_be_markup_in_one_place() -> None:
    calls = [
        (path.name, line.strip())
        for path in FOLDER.parent.glob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "Markup(" in line
    ]
    assert [name for name, _ in calls] == ["templating.py"], calls


def test_values_in_text_and_attributes_are_escaped() -> None:
    hostile = "\"'><script>\u202e{{7*7}}"
    template = templating._environment().from_string('<b title="{{ name }}">{{ name }}</b>')
    escaped = "&#34;&#39;&gt;&lt;script&gt;\\u202e{{7*7}}"
    assert template.render(name=hostile) == f'<b title="{escaped}">{escaped}</b>'


def test_code_that_would_end_its_element_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    loader = templating._environment().loader
    assert loader is not None
    assert isinstance(own_code("page.css"), Markup)
    monkeypatch.setattr(loader, "get_source", lambda *_: ("p { content: '</style>' }", None, None))
    with pytest.raises(AssertionError, match=r"page\.css"):
        own_code("page.css")


@pytest.mark.parametrize(
    ("text", "compact"),
    [
        ("a b", "a b"),
        ("one\n  line", "one line"),
        ("<p>\n  text\n</p>", "<p>text</p>"),
        ("\n  ", ""),
        ("</b> <i>", "</b> <i>"),
        ('"\n  width="', '" width="'),
    ],
)
def test_line_ends_of_templates_are_not_printed(text: str, compact: str) -> None:
    assert without_line_ends(text) == compact
