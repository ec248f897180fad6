"""The one exception of this package: its kind, its text, and the byte where reading stopped."""

from __future__ import annotations

from enum import StrEnum


class ErrorKind(StrEnum):
    """Why bytes could not be read, or a value not be written."""

    TRUNCATED = "truncated"
    """The bytes end within a field."""
    BAD_LENGTH = "bad-length"
    """A length or count that cannot be, or a null where none may be."""
    UNKNOWN_VERSION = "unknown-version"
    """A version that Kafka 4.4 does not have."""
    UNKNOWN_TYPE = "unknown-type"
    """A record type that Kafka 4.4 does not have."""
    UNWRITABLE = "unwritable"
    """A value that the layout cannot hold."""


class WireError(Exception):
    """The only exception that this package raises about bytes and values.

    `offset` is the byte where the reading stopped; 0 for a value that cannot be written.
    """

    def __init__(self, kind: ErrorKind, text: str, offset: int = 0) -> None:
        """Keep kind, text and offset apart: programs read the first and the last."""
        super().__init__(kind, text, offset)
        self.kind = kind
        self.text = text
        self.offset = offset

    def __str__(self) -> str:
        """Return the words and the place."""
        return f"{self.text} (byte {self.offset})"
