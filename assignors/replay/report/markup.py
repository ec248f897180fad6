"""HTML and SVG in which no text can become markup.

Names in a report come from bytes that anybody may have written. So text and markup are two
types here: `element` escapes every `str` it is given, in content and in attributes alike, and
leaves alone only `Markup`, which nothing but this module makes. Forgetting to escape is not a
mistake one can make.

Characters that cannot be seen (controls, marks that turn the direction of writing, halves of
surrogate pairs) are spelled out, so a name looks like what it is and the page is valid UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

VOID = frozenset({"meta", "link", "input", "br"})
"""Elements of HTML that have no content and no end."""

TEXT_MAX = 600
"""Characters of one piece of text: a name may be as long as 32 kB."""


@dataclass(frozen=True, slots=True)
class Markup:
    """A piece of a page, ready to be written."""

    text: str


Child = Markup | str | int | None
Attribute = str | int | float | bool | None


def element(name: str, /, *children: Child, **attributes: Attribute) -> Markup:
    """Return one element; `class_` and `data_look` are the attributes `class` and `data-look`.

    An attribute that is `None` or `False` is left out, one that is `True` has no value.

    >>> element("p", "a < b", class_="quiet", title='"').text
    '<p class="quiet" title="&quot;">a &lt; b</p>'
    """
    head = name + "".join(_attribute(*pair) for pair in attributes.items())
    if name in VOID:
        assert not children, f"<{name}> has no content"
        return Markup(f"<{head}>")
    return Markup(f"<{head}>{''.join(map(_content, children))}</{name}>")


def together(children: Iterable[Child]) -> Markup:
    """Return pieces one after another.

    >>> together(["<", element("b", 1)]).text
    '&lt;<b>1</b>'
    """
    return Markup("".join(map(_content, children)))


def verbatim(name: str, code: str) -> Markup:
    """Return a style or a script of ours; its text is not escaped, so it must not end itself.

    >>> verbatim("style", "p { color: red }").text
    '<style>p { color: red }</style>'
    """
    assert "</" not in code, f"{name}: would be cut short"
    return Markup(f"<{name}>{code}</{name}>")


def visible(text: str) -> str:
    r"""Return the text with what cannot be seen spelled out.

    >>> visible("orders\x1b[2J"), visible("\u202efdp")
    ('orders\\x1b[2J', '\\u202efdp')
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def shortened(text: str, length: int = TEXT_MAX) -> str:
    """Return the text, cut where it is longer.

    >>> shortened("a-very-long-name", 8)
    'a-very-…'
    """
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _content(child: Child) -> str:
    if isinstance(child, Markup):
        return child.text
    return "" if child is None else escape(visible(shortened(str(child))))


def _attribute(name: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    said = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {said}"
    if isinstance(value, float):
        value = f"{value:.1f}".removesuffix(".0")
    return f' {said}="{escape(visible(str(value)))}"'
