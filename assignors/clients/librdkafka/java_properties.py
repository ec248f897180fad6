r"""Files of Java properties, as `--command-config` of Kafka's own tools takes them.

    security.protocol=SASL_SSL
    sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
        username="reader" password="...";

Each setting keeps the number of its line, so that what is wrong can be said by its place, without
its value, which may be a secret. Source: `java.util.Properties.load`; its bytes are ISO 8859-1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANKS = " \t\f"
_SEPARATOR = re.compile(r"(?P<key>(?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.|$)", re.DOTALL)
_NAMED = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "": ""}


class SettingsError(ValueError):
    """A setting that cannot be used: its file, line and key, never its value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Property:
    """One setting of a file."""

    key: str
    value: str
    line: int
    """The first of its lines, from 1."""


def parse_properties(data: bytes) -> list[Property]:
    r"""Return the settings in their order; of a key that comes twice Java takes the later one.

    Raises `SettingsError` with the line of a broken `\uXXXX`. Cost: linear in the bytes.

    >>> [(each.key, each.value, each.line) for each in parse_properties(b"# no\na : b\\\n  c\nd")]
    [('a', 'bc', 2), ('d', '', 4)]
    """
    return [_property(line, text) for line, text in _logical_lines(data.decode("latin-1"))]


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that hold a setting, those that end in a backslash with what follows."""
    held, first = "", 0
    for number, natural in enumerate(_LINE_END.split(text), start=1):
        line = natural.lstrip(_BLANKS)
        if not held and (not line or line[0] in "#!"):
            first = 0
            continue
        first = first or number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            held += line[:-1]
            continue
        yield first, held + line
        held, first = "", 0
    if held:
        yield first, held


def _property(line: int, text: str) -> Property:
    found = _SEPARATOR.match(text)
    assert found is not None, "the expression also matches nothing"
    return Property(
        key=_unescaped(found["key"], line), value=_unescaped(text[found.end() :], line), line=line
    )


def _unescaped(text: str, line: int) -> str:
    def character(found: re.Match[str]) -> str:
        code = found[1]
        if len(code) > 1:
            return chr(int(code[1:], 16))
        if code == "u":
            raise SettingsError(f"line {line}: \\u without four hexadecimal digits")
        return _NAMED.get(code, code)

    return _ESCAPE.sub(character, text)
