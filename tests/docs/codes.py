"""Writes docs/reference/codes.md: rules of `check`, notes and errors, with what each means.

python -m tests.docs.codes
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from assignors.checks.verdicts import SENTENCES, Clause, Verdict
from assignors.checks.violation import Rule
from assignors.documents.described.groups import AssumptionCode
from assignors.documents.values import ErrorCode
from assignors.model import MemberNoteCode
from tests.docs.source import DOCS, plain, table, texts_of
from wire import ErrorKind, NoteCode

PAGE = DOCS / "reference" / "codes.md"

HEAD = """# Rules, notes and errors

The codes in the answers of the command and of the Python functions, with what each means. Codes
are promises: more may come, none changes its meaning. Where they stand is in
[formats](formats.md); findings of `replay` have [a page of their own](findings.md). This page is
written by `python -m tests.docs.codes`, from the code.
"""

PARTS: tuple[tuple[str, str, type[Enum]], ...] = (
    (
        "Rules of `check`",
        "Key `rule` of a violation: what every assignment has to keep.",
        Rule,
    ),
    (
        "Notes on bytes",
        (
            "Key `code` of a note of `decode`, and of notes on members whose Subscription came as "
            "bytes: what is odd there, and was read all the same. In mode `strict`, which is "
            "Kafka's own, some of these are errors."
        ),
        NoteCode,
    ),
    (
        "Notes on members and groups",
        "Key `code` of a note of `assign`, besides those on bytes.",
        MemberNoteCode,
    ),
    (
        "Notes on described groups",
        "Key `code` of a note on a group that `kafka-consumer-groups.sh` described.",
        AssumptionCode,
    ),
    (
        "Errors in bytes",
        "Key `error_kind`, of bytes that cannot be read.",
        ErrorKind,
    ),
    (
        "Errors in lines and documents",
        "Key `error_kind`, of lines and documents.",
        ErrorCode,
    ),
    ("Verdicts of `explain`", "Key `verdict`.", Verdict),
)


def page() -> str:
    """Return the page."""
    lines = [HEAD]
    for title, text, codes in PARTS:
        lines += [f"## {title}\n", f"{text}\n"]
        lines += table(("code", "meaning"), _rows(codes))
    lines += [
        "## Clauses of `explain`\n",
        "Key `clause`: the part of the hand-over rule that decided.\n",
    ]
    lines += table(("code", "meaning"), ((f"`{one}`", SENTENCES[one]) for one in Clause))
    return "\n".join(lines)


def _rows(codes: type[Enum]) -> Iterator[tuple[str, str]]:
    texts = texts_of(codes)
    return ((f"`{one.value}`", plain(texts[one.name])) for one in codes)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
