"""The Jinja templates of the report, set up so that no text can become markup.

Names in a report come from bytes that anybody may have written. Three settings protect the page:

* Autoescape is on, so a template escapes every value that it prints, in content and in attributes.
* The filter `safe`, which switches that off for one value, is removed: a template that uses it
  fails. `own_code` is the only place where text is declared to be markup.
* Before it is escaped, `printable` replaces every character that cannot be seen (controls,
  characters that change the direction of writing, lone surrogates) by its escape sequence. A name
  then looks like what it is, and the page is valid UTF-8.

Templates are indented for people. `CompactWhitespace` removes that white space when a template is
compiled, because it would nearly double the size of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from jinja2.lexer import Token, TokenStream
from markupsafe import Markup

from assignors.replay.report.formats import TEXT_MAX, shortened, shortened_name, visible


def render(template: str, /, **values: object) -> str:
    """Return a template of this package, filled with `values`.

    Raises `jinja2.UndefinedError` where the template uses a value that is not given. Cost:
    linear in the text, and about 50 ms to compile the templates, once a process.
    """
    return _environment().get_template(template).render(values)


def own_code(name: str) -> Markup:
    """Return a style sheet or script of this package, to be printed without being escaped.

    The browser takes it verbatim up to the first end tag, so it must not contain one.
    """
    loader = _environment().loader
    assert loader is not None
    code, _, _ = loader.get_source(_environment(), name)
    assert "</" not in code, f"{name}: the browser would read only the part before '</'"
    return Markup(code)  # noqa: S704 - a file of this package, not text from records


def printable(value: object) -> object:
    r"""Return what a template prints for a value, before it is escaped.

    `None` prints nothing, a float one decimal at most; text is cut after `TEXT_MAX` characters.

    >>> [printable(value) for value in (None, 7, 2.0, 2.25, "orders\x1b[2J")]
    ['', 7, '2', '2.2', 'orders\\x1b[2J']
    """
    if type(value) is str:  # text, and no Markup: that is a subclass
        is_plain = len(value) <= TEXT_MAX and value.isprintable()
        return value if is_plain else visible(shortened(value))
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return "" if value is None else value


def code_parts(value: str | None) -> list[str]:
    """Return the parts of a text between its backticks: every second one is code.

    >>> code_parts("use `range`, not")
    ['use ', 'range', ', not']
    """
    parts = (value or "").split("`")
    # A backtick without a second one is no beginning of code.
    return parts if len(parts) % 2 else [value or ""]


class CompactWhitespace(Extension):
    """Removes line ends and indentation from the text of templates when they are compiled."""

    def filter_stream(self, stream: TokenStream) -> Iterable[Token]:
        """Yield the tokens of a template, those of text without their line ends."""
        for token in stream:
            if token.type == "data":
                yield Token(token.lineno, token.type, without_line_ends(token.value))
            else:
                yield token


AT_TAG = re.compile(r"^\s*\n\s*|(?<=>)\s*\n\s*|\s*\n\s*(?=<)|\s*\n\s*$")
LINE_END = re.compile(r"\s*\n\s*")


def without_line_ends(text: str) -> str:
    r"""Return the text with nothing for a line end beside a tag or at either end, else a space.

    >>> without_line_ends("\n  <p>one\n  line</p>\n")
    '<p>one line</p>'
    """
    return LINE_END.sub(" ", AT_TAG.sub("", text))


@cache
def _environment() -> Environment:
    """Return the environment of the templates: made once, never changed."""
    made = Environment(
        loader=PackageLoader("assignors.replay.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=printable,
        extensions=[CompactWhitespace],
    )
    del made.filters["safe"]
    made.filters["shortened"] = shortened
    made.filters["shortened_name"] = shortened_name
    made.filters["code_parts"] = code_parts
    return made
