"""The files of docs/ that are made from the code, and what makes each.

    python -m tests.docs

writes them all; a module of its own, as `python -m tests.docs.simulator_reference`, one. A test
compares each with what would be written now.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.docs import (
    client_models,
    codes,
    command_reference,
    conformance,
    coordinator_models,
    findings,
    formats,
    gallery,
    incident_picture,
    models_against_kafka,
    simulator_reference,
    tables,
    weights_measured,
    weights_over_time,
)

GENERATED: dict[Path, Callable[[], str]] = {
    incident_picture.PICTURE: incident_picture.picture,
    command_reference.PAGE: command_reference.page,
    codes.PAGE: codes.page,
    **formats.FILES,
    findings.PAGE: findings.page,
    **gallery.FILES,
    tables.PAGE: tables.page,
    conformance.PAGE: conformance.page,
    **coordinator_models.FILES,
    **client_models.FILES,
    models_against_kafka.PAGE: models_against_kafka.page,
    simulator_reference.PAGE: simulator_reference.page,
    **weights_measured.FILES,
    **weights_over_time.FILES,
}
"""File -> its text."""
