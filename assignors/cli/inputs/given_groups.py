"""Read groups from files: JSON lines, or what `kafka-consumer-groups.sh --describe` or rpk prints.

The first line that begins one of them says which it is. JSON lines are answered as they come;
described groups when the file has been read, as several tables may describe one group. Text that
is neither is one error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import wraps
from itertools import chain, filterfalse, islice
from operator import attrgetter
from typing import Any

import click

from assignors.cli.inputs.file_values import json_file
from assignors.cli.inputs.json_documents import documents
from assignors.cli.inputs.json_text import UTF_16, not_utf8, parse_json
from assignors.cli.inputs.lines import Line, lines, total_size
from assignors.cli.inputs.option_types import Value
from assignors.cli.inputs.results import Blank, result_document
from assignors.cli.outputs.cells import is_rule
from assignors.cli.outputs.progress import with_line_progress
from assignors.documents.answers import note_document
from assignors.documents.described import Assumed, DescribedGroup, described_groups, is_described
from assignors.documents.groups import group_from_document
from assignors.documents.notes import topics_not_described, unused_keys
from assignors.documents.terminal import is_around, recognised_text, skipped_text
from assignors.documents.values import SCHEMA, Document, DocumentError, ErrorCode
from assignors.documents.weightings import (
    GivenWeights,
    weights_from_document,
    with_weights_of,
)
from assignors.model import PARTITION_LIMIT, Group
from assignors.names.nearest import suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """Options about the groups in the files."""

    partition_counts: Mapping[str, int] = field(default_factory=dict)
    """Topic -> partition count, in place of what the files have."""
    assumed: Assumed | None = None
    """What members subscribe to where files do not say; `None`: not asked, `Assumed.EQUAL`."""
    name: str | None = None
    """The only group to read of the tool's output; `None`: all of them."""
    weights: GivenWeights | None = None
    """Weights of a file, in place of what the files of groups have."""


BEGINNING_MAX = 1 << 16
"""Bytes of a file, or of a line, that are inspected to recognise it."""

MISTAKES_MAX = 8
"""Most unrecognised lines that are answered one by one, as mistakes in a file of JSON."""

FORMS_READ = (
    "groups are read as JSON, and as kafka-consumer-groups --describe (with --members --verbose or "
    "--offsets) and rpk group describe print them"
)

TITLES = (b"line ", b"group ")
"""What the title of a table of `assign` begins with."""

ABOVE_RULE = 9
"""Lines below the first in which the rule of such a table is looked for: long titles are broken."""

NO_OPTIONS = GroupOptions()
"""No options are given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenGroup:
    """One group of a file."""

    document: Document
    group: Group
    notes: tuple[Document, ...] = ()
    """What was assumed about a described group; topics that nobody describes."""


Used = Collection[str] | Callable[[GivenGroup], Collection[str]]
"""Further keys of a group that a command reads."""


def _topic_count(text: str) -> tuple[str, int]:
    topic, _, digits = text.rpartition(":")
    is_count = digits.isascii() and digits.isdecimal() and len(digits) <= 10
    if not topic or not is_count or int(digits) > PARTITION_LIMIT:
        raise ValueError(f"{text!r} is not topic:count, as orders:24")
    return topic, int(digits)


weights_option = click.option(
    "--weights",
    type=json_file(weights_from_document),
    help='Weights of partitions, as JSON: {"weights": {"orders": [900, 20, 20]}}, in place of'
    " those of the group.",
)
"""The option of commands that take weights, above `group_options`."""


def group_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `GroupOptions` to a command, which gets them as `about`."""

    @wraps(command)
    def with_options(
        *arguments: Any,  # noqa: ANN401  # whatever the command takes
        partition_counts: Sequence[tuple[str, int]],
        assumed: str | None,
        group: str | None,
        is_sample: bool,
        weights: GivenWeights | None = None,
        **options: Any,  # noqa: ANN401  # as above
    ) -> object:
        if is_sample and options.get("files"):
            raise click.UsageError("--sample takes the place of FILE")
        options["files"] = (_sample(),) if is_sample else options.get("files", ())
        counts = dict(partition_counts)
        for topic, count in partition_counts:
            if counts[topic] != count:
                words = f"{topic} has two counts, {count} and {counts[topic]}"
                raise click.UsageError(f"--topic: {words}")
        chosen = None if assumed is None else Assumed(assumed)
        about = GroupOptions(partition_counts=counts, assumed=chosen, name=group, weights=weights)
        return command(*arguments, about=about, **options)

    topic = click.option(
        "--topic",
        "partition_counts",
        type=Value("topic:count", _topic_count),
        multiple=True,
        help="Partitions of a topic; may be repeated.",
    )
    assume = click.option(
        "--assume-subscriptions",
        "assumed",
        type=click.Choice([each.value for each in Assumed]),
        help="What members of a described group subscribe to: all its topics (equal, the default),"
        " or those they have.",
    )
    name = click.option(
        "--group",
        metavar="NAME",
        help="Read this group alone.",
    )
    sample = click.option(
        "--sample",
        "is_sample",
        is_flag=True,
        help="Read a real group of three members.",
    )
    return sample(topic(name(assume(with_options))))


def _sample() -> str:
    """Return the path of the sample, a file until the command ends."""
    from importlib.resources import as_file, files  # noqa: PLC0415 - only who asks pays for it

    file = files("assignors.documents") / "sample" / "shop.txt"
    return str(click.get_current_context().with_resource(as_file(file)))


def group_results(
    files: Sequence[str],
    blank: Blank,
    options: GroupOptions,
    result_of: Callable[[GivenGroup], Document],
    used: Used = (),
) -> Iterator[Document]:
    """Yield the result document of each group of the files, in order.

    As `results.result_documents`; the result of a described group has its name as `id`, and what
    was assumed among its `notes`. Noted are also topics that members subscribe to and nobody
    describes, and keys that other commands than this one use; `used` are further
    keys that it reads.
    """
    for entry in group_entries(files, options):
        yield {"schema": SCHEMA, **_group_result(entry, blank, options, result_of, used)}


def _group_result(
    entry: Line | DescribedGroup,
    blank: Blank,
    options: GroupOptions,
    result_of: Callable[[GivenGroup], Document],
    used: Used,
) -> Document:
    notes: list[Document] = []

    def result() -> Document:
        given = given_group(entry, options)
        notes[:] = given.notes
        if isinstance(entry, DescribedGroup):
            return result_of(given)
        notes.extend(unused_keys(given.document, used(given) if callable(used) else used))
        own_id: Document = {"id": given.document["id"]} if "id" in given.document else {}
        return {**own_id, **result_of(given)}

    if isinstance(entry, DescribedGroup):
        notes += entry.notes
        document = {"id": entry.name, **result_document(blank, result, None)}
    else:
        document = result_document(blank, result, entry)
        if "id" in document:
            document = {"id": document.pop("id"), **document}
    if notes:
        own = document.get("notes", ())
        assert isinstance(own, list | tuple)
        document = {**document, "notes": [*notes, *own]}
    return document


def group_entries(files: Sequence[str], options: GroupOptions) -> Iterator[Line | DescribedGroup]:
    """Yield the lines of files that hold JSON, and the groups of those that the tool has written.

    Output of the tool that cannot be read at all is one group with an error. Raises `UsageError`
    for a table of `assign`, and for options that a file of JSON has no use for. An empty file is
    noted on standard error.
    """
    for name in files or ["-"]:
        rest = _no_table_of_ours(lines([name]), name)
        first, form = _beginning(rest)
        # As where the program before in a pipe has failed: no answer is no "all well".
        if not first:
            click.echo(f"note: {_where(name)} is empty: no groups", err=True)
        read = chain(first, rest)
        if form is _Form.TABLES:
            yield from _described(_joined(read), options)
            continue
        if form is _Form.OTHER:
            yield DescribedGroup(name=None, error=_not_read(name, first))
            continue
        for option, value in (
            ("--group", options.name),
            ("--assume-subscriptions", options.assumed),
        ):
            if value is not None:
                words = f"{option} is for output of kafka-consumer-groups.sh, which {name} is not"
                raise click.UsageError(words)
        skipped = [_start(line) for line in first if _is_skipped(line)]
        if skipped:
            words = skipped_text(skipped, "the first group")
            click.echo(f"note: {_where(name)}: {words}", err=True)
            read = chain(filter(lambda line: line.text.strip(), first), rest)
        size = total_size([name])
        own = filterfalse(_is_skipped, with_line_progress(read, size, attrgetter("width")))
        yield from documents(own)


class _Form(Enum):
    """What a file holds."""

    JSON = auto()
    TABLES = auto()
    OTHER = auto()


def _beginning(source: Iterator[Line]) -> tuple[list[Line], _Form]:
    """Return the lines up to the first that says what the file holds, and what that is.

    A few lines that are not recognised are answered as JSON: an error says what is wrong in each.
    """
    first: list[Line] = []
    size = 0
    for line in source:
        first.append(line)
        size += line.width
        if is_described(_start(line)):
            return first, _Form.TABLES
        if line.text.lstrip()[:1] in {b"{", b"["} and not _is_skipped(line):
            return first, _Form.JSON
        if size > BEGINNING_MAX or bytes(4) in line.text:
            break
    texts = [line for line in first if line.text.strip()]
    is_known = recognised_text(_joined(first)) is not None or any(map(_is_skipped, texts))
    return first, _Form.OTHER if is_known or len(texts) > MISTAKES_MAX else _Form.JSON


def _where(name: str) -> str:
    return "standard input" if name == "-" else name


def _joined(some: Iterable[Line]) -> bytes:
    return b"\n".join(line.text for line in some)


def _start(line: Line) -> str:
    return line.text[:BEGINNING_MAX].decode("utf-8", "replace")


def _is_skipped(line: Line) -> bool:
    """Return whether a line is none of a file of JSON, but of a terminal."""
    return is_around(_start(line))


def _not_read(name: str, first: Sequence[Line]) -> DocumentError:
    """Return the only error of a file that is neither JSON nor the output of a known tool."""
    data = _joined(first)
    if data.startswith(UTF_16):
        return not_utf8(UnicodeDecodeError("utf-8", data, 0, 1, "invalid start byte"))
    words = f"{_where(name)}: {recognised_text(data) or 'text and no JSON'}: {FORMS_READ}"
    return DocumentError(ErrorCode.BAD_TEXT, words)


def _no_table_of_ours(read: Iterator[Line], name: str) -> Iterator[Line]:
    """Return the lines; `UsageError` where they begin as a table that `assign` prints."""
    ahead: list[Line] = []
    for line in read:
        ahead.append(line)
        if line.text.strip():
            break
    if ahead and ahead[-1].text.startswith(TITLES):
        ahead += islice(read, ABOVE_RULE)
        if any(is_rule(line.text.decode("utf-8", "replace")) for line in ahead):
            words = "is a table of kafka-assignors: write it with -o jsonl"
            raise click.UsageError(f"{_where(name)} {words}")
    return chain(ahead, read)


def given_group(entry: Line | DescribedGroup, options: GroupOptions) -> GivenGroup:
    """Return the group of a line or of the tool's output; raises `DocumentError` if it is none."""
    if isinstance(entry, DescribedGroup):
        if entry.error is not None:
            raise entry.error
        assignment = {
            member_id: {topic: list(numbers) for topic, numbers in given.items()}
            for member_id, given in entry.assignment.items()
        }
        described, notes = _weighted(entry.document, options)
        document: Document = {**described, "assignment": assignment}
        return _given(document, group_from_document(described), (*entry.notes, *notes))
    parsed = parse_json(entry.text)
    if not isinstance(parsed, dict):
        return given_document(parsed, options)
    weighted, notes = _weighted(parsed, options)
    given = given_document(weighted, options)
    return replace(given, notes=(*notes, *given.notes)) if notes else given


def _weighted(document: Document, options: GroupOptions) -> tuple[Document, list[Document]]:
    """Return a document with the weights of a file, and notes on them."""
    return (document, []) if options.weights is None else with_weights_of(document, options.weights)


def given_document(parsed: object, options: GroupOptions) -> GivenGroup:
    """Return the group of a document, with the partition counts that the options have."""
    group = group_from_document(parsed)
    assert isinstance(parsed, dict), "a group is an object"
    if not options.partition_counts:
        return _given(parsed, group)
    known = {*group.cluster.topics, *(topic for m in group.members for topic in m.topics)}
    topics: dict[str, object] = dict(parsed["topics"])
    for topic, count in options.partition_counts.items():
        if topic not in known:
            words = f"no topic {topic!r}{suggestion(topic, sorted(known))}"
            raise DocumentError(ErrorCode.UNKNOWN, words, ("topics", topic))
        given = topics.get(topic)
        topics[topic] = {**given, "partitions": count} if isinstance(given, dict) else count
    document = {**parsed, "topics": topics}
    return _given(document, group_from_document(document))


def _given(document: Document, group: Group, notes: Sequence[Document] = ()) -> GivenGroup:
    unknown = [note_document(note) for note in topics_not_described(group)]
    return GivenGroup(document=document, group=group, notes=(*notes, *unknown))


def _described(data: bytes, options: GroupOptions) -> list[DescribedGroup]:
    """Return the groups in the tool's output; `UsageError` for a topic that none of them has."""
    counts = options.partition_counts
    try:
        text = data.decode()
        groups = described_groups(
            text, assumed=options.assumed or Assumed.EQUAL, partition_counts=counts
        )
    except UnicodeDecodeError as error:
        return [DescribedGroup(name=None, error=not_utf8(error))]
    except DocumentError as error:
        return [DescribedGroup(name=None, error=error)]
    if options.name is not None:
        names = [group.name for group in groups if group.name is not None]
        groups = [group for group in groups if group.name == options.name]
        if not groups:
            raise click.UsageError(f"no group {options.name!r}{suggestion(options.name, names)}")
    known = {topic for group in groups for topic in group.topics}
    for topic in counts:
        if topic not in known:
            raise click.UsageError(
                f"--topic: no group has {topic!r}{suggestion(topic, sorted(known))}"
            )
    return groups
