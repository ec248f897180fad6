"""How closely an assignor that copies a reference is to copy it, and what to do where it fails."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from assignors.jvm.hash_order import Jdk


class OnFailure(StrEnum):
    """What a copy does where the reference throws."""

    RAISE = "raise"
    """Raise `JavaFailure`, as the reference threw."""
    REPAIR = "repair"
    """Leave out what made it fail, answer, and say so in a note `repaired`."""


class JavaFailure(ValueError):  # noqa: N818  # named after what happened, in Java
    """The reference fails on this group: so does its copy."""

    def __init__(self, exception: str, text: str) -> None:
        """Keep the name of Java's exception class and its message apart."""
        super().__init__(exception, text)
        self.exception = exception
        self.text = text

    def __str__(self) -> str:
        """Return it as Java prints it."""
        return f"{self.exception}: {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be asked of the java and server families."""

    jdk: Jdk = 17
    """The JDK whose hash tables are copied; the answer differs only on a broker."""
    on_failure: OnFailure = OnFailure.RAISE
