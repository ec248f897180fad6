"""`conform`: runs a program against vectors of Kafka's answers, writes its mistakes."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import as_file
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from assignors.cli.inputs.option_types import Value
from assignors.cli.outputs.forms import CLEAN, VIOLATIONS, Form, output_option, write
from assignors.cli.outputs.progress import with_progress
from assignors.cli.outputs.tables import show_conformed
from assignors.conformance.judges import Strictness
from assignors.conformance.outcomes import Outcome, Status, outcomes
from assignors.conformance.program_under_test import ProgramUnderTest
from assignors.conformance.published_vectors import PUBLISHED, published_vectors
from assignors.conformance.vectors import Vector, read_vectors
from assignors.documents.failures import NO_ERROR
from assignors.documents.values import SCHEMA, Document, DocumentError
from assignors.names.nearest import suggestion

DEFAULT_VECTORS = "kafka-4.4.0"
"""Vectors of a run that names none."""


def _vector_file(text: str) -> Traversable:
    """Return a file of vectors, or one that comes with this package, by its name."""
    if text in PUBLISHED:
        return published_vectors(text)
    path = Path(text)
    if not path.is_file():
        what = "is a directory" if path.is_dir() else "does not exist"
        raise ValueError(f"{text!r} {what}. With this package come: {', '.join(PUBLISHED)}.")
    return path


@click.command()
@click.option(
    "--vectors",
    "sources",
    multiple=True,
    metavar="FILE|NAME",
    default=[DEFAULT_VECTORS],
    show_default=True,
    type=Value("file", _vector_file),
    help=f"Vectors as JSON lines, gzipped or not, or a name: {', '.join(PUBLISHED)}; can be"
    " repeated.",
)
@click.option(
    "--command",
    "command_line",
    required=True,
    metavar="CMD",
    help="The program and its arguments as one string; it is not run by a shell.",
)
@click.option(
    "--timeout",
    "timeout_seconds",
    default=10.0,
    show_default=True,
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds that the program has for one answer.",
)
@click.option(
    "--exact",
    is_flag=True,
    help="Require Java's own answers; without it any answer that keeps the rules passes.",
)
@click.option(
    "--only",
    "prefixes",
    multiple=True,
    metavar="PREFIX",
    help="Only vectors whose id begins with this; can be repeated.",
)
@output_option
@click.pass_context
def conform(
    context: click.Context,
    sources: tuple[Traversable, ...],
    command_line: str,
    timeout_seconds: float,
    *,
    prefixes: tuple[str, ...],
    form: Form,
    exact: bool,
) -> None:
    """Test a program against answers of Kafka's own classes.

    The program reads a JSON object a line and answers each with a line; the protocol is described
    with the vectors, in tests/vectors/README.md of the source. If it ends, hangs or prints
    something else, that vector fails and the program is started again. Exit code 1 if a vector
    failed, 2 if the program cannot be started.
    """
    command = _command(command_line)
    paths = [context.with_resource(as_file(source)) for source in sources]
    vectors = _vectors(paths, prefixes)
    program = ProgramUnderTest(command, timeout_seconds=timeout_seconds)
    totals: dict[str, Counter[str]] = {}
    with program:
        _start(program, command_line)
        results = outcomes(
            with_progress(vectors, len(vectors), "vectors"),
            program,
            Strictness(exact=exact),
        )
        try:
            code = write(_documents(results, totals), form, show_conformed)
        except ChildProcessError as error:
            raise _not_started(command_line, error) from None
    has_failures = any(counts[Status.FAILED] for counts in totals.values())
    context.exit(max(code, VIOLATIONS if has_failures else CLEAN))


def _command(command_line: str) -> list[str]:
    try:
        command = shlex.split(command_line)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--command") from None
    if not command:
        raise click.BadParameter("no program", param_hint="--command")
    return command


def _vectors(paths: Sequence[Path], prefixes: tuple[str, ...]) -> list[Vector]:
    """Return the chosen vectors; all are read before the first is asked."""
    try:
        vectors = [vector for path in paths for vector in read_vectors(path)]
    except DocumentError as error:
        raise click.BadParameter(error.text, param_hint="--vectors") from None
    if not vectors:
        raise click.BadParameter("no vectors in the files", param_hint="--vectors")
    ids = [vector.vector_id for vector in vectors]
    for prefix in prefixes:
        if not any(vector_id.startswith(prefix) for vector_id in ids):
            known = sorted({vector_id.rpartition("-")[0] or vector_id for vector_id in ids})
            words = f"no vector's id begins with {prefix!r}{suggestion(prefix, known)}"
            raise click.BadParameter(words, param_hint="--only")
    return [one for one in vectors if not prefixes or one.vector_id.startswith(prefixes)]


def _start(program: ProgramUnderTest, command_line: str) -> None:
    try:
        program.start()
    except OSError as error:
        raise _not_started(command_line, error) from None


def _not_started(command_line: str, error: OSError) -> click.BadParameter:
    return click.BadParameter(f"{command_line} does not start: {error}", param_hint="--command")


def _documents(results: Iterable[Outcome], totals: dict[str, Counter[str]]) -> Iterator[Document]:
    """Yield a document for each vector that failed, then one for each category."""
    skips: dict[str, Counter[str]] = {}
    for outcome in results:
        category = outcome.vector.category
        totals.setdefault(category, Counter())[outcome.status] += 1
        if outcome.status is Status.SKIPPED:
            skips.setdefault(category, Counter())[outcome.reasons[0]] += 1
        elif outcome.status is Status.FAILED:
            yield _failure(outcome)
    for category, counts in totals.items():
        yield {
            "schema": SCHEMA,
            "category": category,
            **{status.value: counts[status] for status in Status},
            "reasons": dict(skips.get(category, {})),
            **NO_ERROR,
        }


def _failure(outcome: Outcome) -> Document:
    vector = outcome.vector
    return {
        "schema": SCHEMA,
        "id": vector.vector_id,
        "category": vector.category,
        "judge": vector.judge.value,
        "wrong": list(outcome.reasons),
        "expected": vector.value or vector.expected,
        "answer": outcome.answer,
        "note": vector.note,
        **NO_ERROR,
    }
