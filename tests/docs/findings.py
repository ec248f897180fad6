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

What `replay` and `watch` report about a group, worst first. A row of the table
[findings](tables.md#findings) is a finding: what one cause repeats is one row, and `occurrences`
says how often. `count` is of what the kind says.

Everything follows from the records of `__consumer_offsets`: assignments, claims and commits. No
record says what members really consumed, why a member rejoined, or how long a join took.

A finding marked *leader* is caused by the leader of a classic group, which the finding names.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_kinds(), *_thresholds()])


def _kinds() -> Iterator[str]:
    texts = texts_of(Severity)
    for severity in Severity:
        yield f"## {severity.value}\n"
        yield f"{texts[severity.name]}\n"
        for each in FINDINGS.values():
            if each.severity is severity:
                yield from _kind(each)


def _kind(each: FindingKind) -> Iterator[str]:
    yield f"### {each.name}\n"
    leader = " *leader*" if each.is_by_leader else ""
    yield f"{_sentence(each.meaning)}{leader}\n"
    yield f"- **How sure**: {each.how_sure}."
    yield f"- **What to do**: {_sentence(each.what_to_do)}"
    thresholds = "".join(f"; threshold [`{name}`](#thresholds)" for name in each.thresholds)
    yield f"- **Counts**: {each.count}{thresholds}\n"


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
