"""Options of the assignors that copy Kafka's: which JDK, and what to do where Kafka fails.

Every `Assignor` takes them (`Assignor.configured`); the optimal ones ignore them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Jdk = Literal[17, 25]


class OnFailure(StrEnum):
    """What a copy does where Kafka's assignor throws an exception."""

    RAISE = "raise"
    """Raise `JavaFailure`, with the exception's name and message."""
    REPAIR = "repair"
    """Leave out what made it fail, answer without it, and say so in a note `repaired`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be chosen for the java and server families."""

    jdk: Jdk = 17
    """The JDK whose hash tables are copied. It decides answers of `server/uniform` alone."""
    on_failure: OnFailure = OnFailure.RAISE
