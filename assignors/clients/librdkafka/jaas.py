"""The setting `sasl.jaas.config`: how a Java client logs in.

    org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";

What is wrong with it is said without quoting it: it holds a password. Source: `JaasConfig` of
Kafka's clients, and the `StreamTokenizer` that it reads words with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

CONTROL_FLAGS = frozenset({"required", "requisite", "sufficient", "optional"})

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\r\n]*|/\*.*?\*/)
    |(?P<quoted>"(?:[^"\\\r\n]|\\.)*"|'(?:[^'\\\r\n]|\\.)*')
    |(?P<word>[A-Za-z_$\u00a0-\uffff][\w.$\u00a0-\uffff-]*)
    |(?P<sign>[=;])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\([0-3][0-7]{0,2}|[4-7][0-7]?|.)", re.DOTALL)
_NAMED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True, kw_only=True, slots=True)
class LoginModule:
    """The one entry of a client's JAAS configuration."""

    name: str
    """The Java class, with its package."""
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def short_name(self) -> str:
        """Return the name of the class alone."""
        return self.name.rpartition(".")[2]


def parse_jaas(text: str) -> LoginModule:
    """Return the login module; `ValueError` says what is missing, without any value.

    >>> parse_jaas("x.PlainLoginModule required username='me';").options
    {'username': 'me'}
    """
    tokens = _tokens(text)
    name, flag = next(tokens, ""), next(tokens, "")
    if name in ("", "=", ";"):
        raise ValueError("names no login module")
    if flag.lower() not in CONTROL_FLAGS:
        raise ValueError("has no 'required' behind the login module")
    options: dict[str, str] = {}
    for key in tokens:
        if key == ";":
            if next(tokens, None) is not None:
                raise ValueError("has more than one login module")
            return LoginModule(name=_plain(name), options=options)
        if key == "=" or next(tokens, "") != "=":
            raise ValueError(f"has an option number {len(options) + 1} without '='")
        value = next(tokens, ";")
        if value in ("=", ";"):
            raise ValueError(f"has no value for option number {len(options) + 1}")
        options[_plain(key)] = _plain(value)
    raise ValueError("does not end in ';'")


def _tokens(text: str) -> Iterator[str]:
    """Yield words, signs, and texts still in their quotes."""
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"cannot be read from character {at + 1} on: is a quote missing?")
        at = found.end()
        if found["skip"] is None:
            yield found[0]


def _plain(token: str) -> str:
    if token[0] not in "\"'":
        return token
    return _ESCAPE.sub(_character, token[1:-1])


def _character(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code, 8)) if code[0] in "01234567" else _NAMED.get(code, code)
