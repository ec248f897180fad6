"""The structure of an HTML page, read with the standard library's parser.

The parser does not know how the page was made, so it sees what a browser would see.
"""

from __future__ import annotations

from html.parser import HTMLParser


class Outline(HTMLParser):
    """The elements of a page with their attributes, its texts, and what is not well-formed."""

    VOID = frozenset({"meta", "link", "input", "br"})

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        """(element, text) for every text that is not only white space."""
        self.open: list[str] = []
        self.faults: list[str] = []
        self.feed(page)
        self.close()
        self.faults += [f"<{name}> is never closed" for name in self.open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1] if self.open else "", data))

    @property
    def text(self) -> str:
        """All texts, joined by spaces."""
        return " ".join(text for _, text in self.texts)

    @property
    def shape(self) -> list[tuple[str, tuple[str, ...]]]:
        """The elements, each with the names of its attributes."""
        return [(tag, tuple(attributes)) for tag, attributes in self.elements]

    def of(self, tag: str, class_: str | None = None) -> list[dict[str, str | None]]:
        """Return the attributes of each `tag` element, or only of those with the class `class_`."""
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and (class_ is None or class_ in (attributes.get("class") or "").split())
        ]
