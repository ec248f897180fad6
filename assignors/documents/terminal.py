"""Text that people paste: lines of programs around a tool's output, and files of another kind.

Lines of kubectl, shells, JVMs and loggers are copied from a terminal together with the output. They
are skipped wherever they occur. A file that cannot be read is named by what it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_AROUND = re.compile(
    # kubectl and docker
    r"If you don't see a command prompt|Default(?:ed|ing) container |Unable to use a TTY|"
    r"All commands and output from this session|[Ww]arning: couldn't attach|"
    r"pod[ /]\S+ (?:deleted|created|condition met)|command terminated with |"
    r"the input device is not a TTY|Emulate Docker CLI|"
    # JVMs
    r"Picked up |OpenJDK |Java HotSpot|WARNING: |Note: |"
    # log4j and its kind
    r"SLF4J|log4j|(?:ERROR|WARN) StatusLogger|"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[,.\d]*\]? +(?!.*\]::)|"
    # shells: a prompt, `set -x`, a command of Kafka (and no row of a group named kafka-...)
    r"\[?(?:(?!  )[\w.@:~/\\ -]){0,80}\]?[$#] |PS [A-Z]:\\|\++ |"
    r"(?:[\w.~/-]*/)?(?:kafka-[\w-]+(?:\.sh)? --|kubectl |docker )|"
    # Kafka's tools about themselves
    r"Option --\S+ is deprecated|(?:\^C)+$|(?:\^C)*Processed a total of \d+ messages|"
    r"% (?:Reached end of topic|Auto-selecting) "
)

DUMP_LOG = (b"Dumping ", b"baseOffset: ", b"| offset: ", b"| key: ")
"""How lines of `kafka-dump-log` begin."""

LOG4J = re.compile(
    rb"(?m)^\[?\d{4}-\d\d-\d\d[T ][\d:,.]+\]? +(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b"
)
LOG4J_TEXT = "text of a log4j file"
DUMP_LOG_TEXT = "output of kafka-dump-log"
ANOTHER_TABLE = "another table"

_KINDS = (
    (re.compile(rb"\A\x1f\x8b"), "compressed with gzip: gunzip it"),
    (re.compile(rb"\A\0{4}.{12}\x02", re.DOTALL), "a segment file, which replay reads"),
    (re.compile(rb"\APAR1"), "a Parquet file"),
    (re.compile(rb"\0{4}"), "not text"),
    (re.compile(rb"\A(?:\xff\xfe|\xfe\xff)"), "UTF-16"),
    (re.compile(rb"(?m)^(?:%b)" % b"|".join(map(re.escape, DUMP_LOG))), DUMP_LOG_TEXT),
    (LOG4J, LOG4J_TEXT),
    (
        re.compile(
            rb"(?m)^(?:[>|] ?)*[A-Z#][A-Z-]+(?: {2,}|\t| ?[|,] ?)[A-Z#][A-Z-]+(?:\s|[|,]|$)"
        ),
        ANOTHER_TABLE,
    ),
    (
        re.compile(rb"(?m)^(?:Error: |(?:Caused by: )?[\w.$]+(?:Exception|Error): )"),
        "a failure's text",
    ),
    (re.compile(rb"\A(?:[ \t]*(?:#.*)?\r?\n)*[\w.-]+ ?="), "a file of settings"),
)
"""How a file of a kind begins, or a line in it, and what it is called."""

_SHOWN = 40
"""Characters of a skipped line that a note shows."""


def is_around(line: str) -> bool:
    """Return whether a line is printed by a program around the tool whose output is read.

    >>> is_around("If you don't see a command prompt, try pressing enter.")
    True
    >>> is_around("^CProcessed a total of 2 messages")
    True
    >>> is_around("GROUP  TOPIC  PARTITION"), is_around('{"key": null}')
    (False, False)
    """
    return _AROUND.match(line) is not None


def recognised_text(data: bytes) -> str | None:
    """Return what a file is whose beginning is `data`, `None` where that is not known.

    >>> recognised_text(b"[2026-03-02 11:46:55,495] INFO [GroupCoordinator 0]: Stabilized")
    'text of a log4j file'
    >>> recognised_text(b"broker.id=0"), recognised_text(b"GROUPS 3")
    ('a file of settings', None)
    """
    return next((words for begins, words in _KINDS if begins.search(data)), None)


def skipped_text(lines: Sequence[str], before: str) -> str:
    """Return what is said of lines that were skipped before the first one that is read.

    >>> skipped_text(["$ kubectl exec"], "the header")
    "1 line before the header is not read: '$ kubectl exec'"
    """
    first = lines[0].strip()
    shown = first if len(first) <= _SHOWN else f"{first[: _SHOWN - 3]}..."
    count = f"{len(lines)} lines" if len(lines) > 1 else "1 line"
    verb = "are" if len(lines) > 1 else "is"
    return f"{count} before {before} {verb} not read: {shown!r}"
