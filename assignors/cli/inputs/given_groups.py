"""Read groups from files: JSON lines, or the output of `kafka-consumer-groups.sh --describe`.

The first line of a file says which it is. JSON lines are answered as they come; described groups
when the file has been read, as several tables may describe one group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from itertools import chain
from typing import Any

import click

from assignors.cli.inputs.json_text import parse_json
from assignors.cli.inputs.lines import lines, total_size
from assignors.cli.inputs.results import Blank, result_document
from assignors.cli.outputs.progress import with_line_progress
from assignors.documents.answers import SCHEMA
from assignors.documents.described import Assumed, DescribedGroup, described_groups, is_described
from assignors.documents.groups import PARTITION_LIMIT, group_from_document
from assignors.documents.values import Document, DocumentError, ErrorCode
from assignors.model import Group
from assignors.names.nearest import suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOptions:
    """What is said about the groups beside the files."""

    partition_counts: Mapping[str, int] = field(default_factory=dict)
    """Topic -> partition count, in place of what the files have."""
    assumed: Assumed = Assumed.EQUAL
    name: str | None = None
    """The only group to read of the tool's output; `None`: all of them."""


NOTHING_BESIDE = GroupOptions()
"""Nothing is said beside the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenGroup:
    """One group of a file."""

    document: Document
    group: Group
    notes: tuple[Document, ...] = ()
    """What was assumed about a described group."""


class TopicCount(click.ParamType[tuple[str, int]]):
    """A topic and its number of partitions, as `orders:24`."""

    name = "topic:count"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """Return topic and count."""
        if isinstance(value, tuple):
            return value
        topic, _, digits = str(value).rpartition(":")
        is_count = digits.isascii() and digits.isdecimal() and len(digits) <= 10
        if not topic or not is_count or int(digits) > PARTITION_LIMIT:
            self.fail(f"{value!r} is not topic:count, as orders:24", param, ctx)
        return topic, int(digits)


def group_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of `GroupOptions` to a command, which gets them together as `beside`."""

    @wraps(command)
    def with_options(
        *arguments: Any,  # noqa: ANN401  # whatever the command takes
        partition_counts: Sequence[tuple[str, int]],
        assumed: str,
        group: str | None,
        **options: Any,  # noqa: ANN401  # as above
    ) -> object:
        counts = dict(partition_counts)
        for topic, count in partition_counts:
            if counts[topic] != count:
                raise click.UsageError(f"--topic: {topic}:{count} and {topic}:{counts[topic]}")
        beside = GroupOptions(partition_counts=counts, assumed=Assumed(assumed), name=group)
        return command(*arguments, beside=beside, **options)

    topic = click.option(
        "--topic",
        "partition_counts",
        type=TopicCount(),
        multiple=True,
        help="Partitions of a topic, orders:24, in place of what FILE has. May be repeated.",
    )
    assume = click.option(
        "--assume-subscriptions",
        "assumed",
        type=click.Choice([each.value for each in Assumed]),
        default=Assumed.EQUAL.value,
        show_default=True,
        help="Output of kafka-consumer-groups.sh, which has no subscriptions: members subscribe "
        "to all topics of their group, or to those assigned to them.",
    )
    name = click.option(
        "--group",
        metavar="NAME",
        help="Read this group alone, where kafka-consumer-groups.sh has described several.",
    )
    return topic(name(assume(with_options)))


def group_results(
    files: Sequence[str],
    blank: Blank,
    options: GroupOptions,
    result_of: Callable[[GivenGroup], Document],
) -> Iterator[Document]:
    """Yield the result document of each group of the files, in order.

    As `results.result_documents`; the result of a described group has its name as `id`, and what
    was assumed among its `notes`.
    """
    for entry in group_entries(files, options):
        document = result_document(
            blank,
            lambda given=entry: result_of(given_group(given, options)),  # type: ignore[misc]
        )
        if isinstance(entry, DescribedGroup):
            own = document.pop("notes", ())
            assert isinstance(own, list | tuple)
            document = {"id": entry.name, **document, "notes": [*entry.notes, *own]}
        yield {"schema": SCHEMA, **document}


def group_entries(files: Sequence[str], options: GroupOptions) -> Iterator[bytes | DescribedGroup]:
    """Yield the lines of files that hold JSON, and the groups of those that the tool has written.

    Output of the tool that cannot be read at all is one group with an error.
    """
    for name in files or ["-"]:
        rest = lines([name])
        first: list[bytes] = []
        for line in rest:
            first.append(line)
            if line.strip():
                break
        if first and is_described(first[-1].decode("utf-8", "replace")):
            yield from _described(b"\n".join(chain(first, rest)), options)
        elif options.name is not None:
            words = f"--group is for output of kafka-consumer-groups.sh, which {name} is not"
            raise click.UsageError(words)
        else:
            yield from with_line_progress(chain(first, rest), total_size([name]))


def given_group(entry: bytes | DescribedGroup, options: GroupOptions) -> GivenGroup:
    """Return the group of a line or of the tool's output; raises `DocumentError` if it is none."""
    if isinstance(entry, DescribedGroup):
        if entry.error is not None:
            raise entry.error
        assignment = {
            member_id: {topic: list(numbers) for topic, numbers in given.items()}
            for member_id, given in entry.assignment.items()
        }
        document: Document = {**entry.document, "assignment": assignment}
        return GivenGroup(
            document=document, group=group_from_document(entry.document), notes=entry.notes
        )
    return given_document(parse_json(entry), options)


def given_document(parsed: object, options: GroupOptions) -> GivenGroup:
    """Return the group of a document, with the partition counts that the options have."""
    group = group_from_document(parsed)
    assert isinstance(parsed, dict), "a group is an object"
    if not options.partition_counts:
        return GivenGroup(document=parsed, group=group)
    known = {*group.cluster.topics, *(topic for m in group.members for topic in m.topics)}
    topics: dict[str, object] = dict(parsed["topics"])
    for topic, count in options.partition_counts.items():
        if topic not in known:
            words = f"no topic {topic!r}{suggestion(topic, known)}"
            raise DocumentError(ErrorCode.UNKNOWN, words, ("topics", topic))
        given = topics.get(topic)
        topics[topic] = {**given, "partitions": count} if isinstance(given, dict) else count
    document = {**parsed, "topics": topics}
    return GivenGroup(document=document, group=group_from_document(document))


def _described(data: bytes, options: GroupOptions) -> list[DescribedGroup]:
    """Return the groups in the tool's output; `UsageError` for a topic that none of them has."""
    counts = options.partition_counts
    try:
        text = data.decode()
        groups = described_groups(text, assumed=options.assumed, partition_counts=counts)
    except UnicodeDecodeError as error:
        words = f"{error.reason}: 0x{data[error.start]:02x}"
        reason = DocumentError(ErrorCode.BAD_UTF8, words, offset=error.start)
        return [DescribedGroup(name=None, error=reason)]
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
            raise click.UsageError(f"--topic: no group has {topic!r}{suggestion(topic, known)}")
    return groups
