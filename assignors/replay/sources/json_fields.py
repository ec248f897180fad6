"""Fields of a record in JSON: numbers within their type, text that is text, base64."""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Mapping
from typing import Any

INT32 = 1 << 31
INT64 = 1 << 63


def base64_field(document: Mapping[str, Any], name: str) -> bytes | None:
    """Return the bytes of a field that must be there; `ValueError` where it is no base64."""
    if name not in document:
        raise ValueError(f"no {name!r}")
    value = document[name]
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name}: {value!r:.80} is no base64")
    try:
        return a2b_base64(value, strict_mode=True)
    except ValueError as error:
        raise ValueError(f"{name}: no base64: {error}") from error


def text_field(document: Mapping[str, Any], name: str) -> str | None:
    """Return a text, `None` where there is none; `ValueError` where it is something else."""
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not (value.isascii() or _is_text(value)):
        raise ValueError(f"{name}: {value!r:.80} is no text")
    return value


def number_field(document: Mapping[str, Any], name: str, limit: int) -> int | None:
    """Return a whole number from `-limit` on and below `limit`; `ValueError` for all else."""
    value = document.get(name)
    if value is None:
        return None
    # A truth value is an int of another type.
    if type(value) is not int or not -limit <= value < limit:
        raise ValueError(f"{name}: {value!r:.80} is no number of its kind")
    return value


def _is_text(value: str) -> bool:
    """Return whether a string has no half of a character (a lone surrogate), which JSON allows."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
