"""Writes docs/reference/findings.md: every kind of finding of `replay`, and its thresholds.

python -m tests.docs.findings
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from assignors.replay.findings.table import FINDINGS, FindingKind, Severity
from assignors.replay.findings.thresholds import Thresholds
from tests.docs.source import DOCS, table, texts_of

PAGE = DOCS / "reference" / "findings.md"

HEAD = """# Findings of replay

What `replay` reports about a group, worst first: what each finding means, how sure it is, and what
to do. A row of the table [findings](tables.md#findings) is a finding: what one cause repeats is
one row, whose `occurrences` says how often. This page is written by
`python -m tests.docs.findings`, from the same texts that the report and the tables show.

Everything is concluded from the records of `__consumer_offsets`: they have assignments, claims and
commits. What members really consumed, why a member rejoined, and how long a join took are in no
record.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_overview(), *_kinds(), *_thresholds()])


def _overview() -> Iterator[str]:
    yield "## Severity\n"
    texts = texts_of(Severity)
    rows = []
    for severity in Severity:
        kinds = [each for each in FINDINGS.values() if each.severity is severity]
        links = ", ".join(f"[{each.name}](#{each.name})" for each in kinds)
        rows.append((f"`{severity.value}`", texts[severity.name], links))
    yield from table(("severity", "meaning", "findings"), rows)


def _kinds() -> Iterator[str]:
    yield "## Kinds\n"
    for each in FINDINGS.values():
        yield from _kind(each)


def _kind(each: FindingKind) -> Iterator[str]:
    yield f"### {each.name}\n"
    yield f"{_sentence(each.meaning)}\n"
    yield f"- **Severity**: {each.severity.value}"
    yield f"- **How sure**: {each.how_sure}."
    if each.is_by_leader:
        yield "- **Caused by**: the leader of a classic group, which the finding names."
    yield f"- **What to do**: {_sentence(each.what_to_do)}"
    yield f"- **Counts** (`count`): {each.count}"
    if each.thresholds:
        yield f"- **Thresholds**: {', '.join(map(_with_default, each.thresholds))}"
    yield ""


def _with_default(threshold: str) -> str:
    return f"[`{threshold}`](#thresholds) ({getattr(Thresholds(), threshold):,})"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _thresholds() -> Iterator[str]:
    yield "## Thresholds\n"
    yield (
        "What counts as many, or as long: `--threshold storm_generations=20`; in Python "
        "`thresholds={...}`, or `assignors.replay.findings.Thresholds`.\n"
    )
    texts = texts_of(Thresholds)
    rows = [
        (f"`{each.name}`", f"{each.default:,}", texts[each.name])
        for each in fields(Thresholds)
        if isinstance(each.default, int)
    ]
    yield from table(("threshold", "default", "meaning"), rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
