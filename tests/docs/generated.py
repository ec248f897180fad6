"""The files of docs/ that are made from the code, and what makes each.

    python -m tests.docs

writes them all; a module of its own, as `python -m tests.docs.simulator_reference`, one. A test
compares each with what would be written now.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.docs import (
    codes,
    command_reference,
    findings,
    formats,
    gallery,
    incident_picture,
    simulator_reference,
    tables,
)

GENERATED: dict[Path, Callable[[], str]] = {
    incident_picture.PICTURE: incident_picture.picture,
    command_reference.PAGE: command_reference.page,
    codes.PAGE: codes.page,
    **formats.FILES,
    findings.PAGE: findings.page,
    **gallery.FILES,
    tables.PAGE: tables.page,
    simulator_reference.PAGE: simulator_reference.page,
}
"""File -> its text."""
