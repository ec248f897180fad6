"""The options that say what is a finding, and which are wanted: `finding_options`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import click

from assignors.cli.inputs.option_types import INSTANT, Value
from assignors.documents.values import DocumentError, ErrorCode
from assignors.replay.findings.glossary import GLOSSARY, Severity
from assignors.replay.findings.selection import Selection, is_kind_wanted
from assignors.replay.findings.thresholds import thresholds_from_document
from assignors.replay.tables.rows import FindingKind


def _threshold(text: str) -> dict[str, int]:
    name, _, digits = text.partition("=")
    try:
        number = int(digits)
    except ValueError:
        raise ValueError(f"{text!r}: not NAME=NUMBER, a whole number") from None
    try:
        thresholds_from_document({name: number})
    except DocumentError as error:
        # Of an unknown name the sentence has the name already.
        is_unknown = error.kind == ErrorCode.UNKNOWN
        raise ValueError(error.text if is_unknown else str(error)) from None
    return {name: number}


OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--min-severity",
        type=click.Choice([severity.value for severity in Severity]),
        help="Only findings of this severity or worse. Default: low; with --kind, note.",
    ),
    click.option(
        "--kind",
        "kinds",
        metavar="NAME",
        type=click.Choice([kind.value for kind in GLOSSARY]),
        multiple=True,
        help="Only findings of this kind, as rebalance-loop; can be repeated.",
    ),
    click.option(
        "--since",
        "since_ms",
        type=INSTANT,
        help="Only findings that lasted until then: 2h (ago), or 2026-11-21T03:00.",
    ),
    click.option(
        "--until",
        "until_ms",
        type=INSTANT,
        help="Only findings that began before.",
    ),
    click.option(
        "--threshold",
        "changed",
        type=Value("NAME=NUMBER", _threshold),
        multiple=True,
        help="What counts as many or long; an unknown NAME lists all.",
    ),
)


def finding_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a command, which gets `selection` and `thresholds` of them."""

    @wraps(command)
    def with_findings(
        *arguments: object,
        min_severity: str | None,
        kinds: tuple[str, ...],
        since_ms: int | None,
        until_ms: int | None,
        changed: tuple[Mapping[str, int], ...],
        **others: object,
    ) -> None:
        if since_ms is not None and until_ms is not None and since_ms >= until_ms:
            raise click.UsageError("--since must be before --until")
        default = Severity.NOTE if kinds else Severity.LOW
        selection = Selection(
            min_severity=default if min_severity is None else Severity(min_severity),
            kinds=tuple(map(FindingKind, kinds)),
            since_ms=since_ms,
            until_ms=until_ms,
        )
        if not any(is_kind_wanted(kind, selection) for kind in selection.kinds or GLOSSARY):
            listed = ", ".join(f"{kind} is {GLOSSARY[kind].severity}" for kind in selection.kinds)
            raise click.UsageError(
                f"--min-severity {min_severity} leaves out every --kind: {listed}"
            )
        thresholds = {name: number for each in changed for name, number in each.items()}
        command(*arguments, selection=selection, thresholds=thresholds, **others)

    for option in reversed(OPTIONS):
        with_findings = option(with_findings)
    return with_findings
