"""Assignments to check: beside their group in one document, or in a file of their own.

`check GROUPS ANSWERS` joins the first group of one file to the first answer of the other, as
`assign` writes them, and so on. Two files of groups that have their assignments are two files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from assignors.cli.inputs.given_groups import (
    GivenGroup,
    GroupOptions,
    group_entries,
    group_result,
)
from assignors.cli.inputs.json_text import parse_json
from assignors.cli.inputs.lines import Line, placed
from assignors.cli.inputs.results import Blank
from assignors.documents.described import DescribedGroup
from assignors.documents.group_keys import GROUP_KEYS, require_known
from assignors.documents.values import (
    SCHEMA,
    Document,
    DocumentError,
    ErrorCode,
    as_object,
    described,
)

CHECK_KEYS = ("assignment", "withheld", "protocol")
"""Keys beside those of a group that are read."""

WITHOUT_GROUP = (
    "an answer without its group: assign --with-group writes both, check GROUPS ANSWERS reads both"
)

ResultOf = Callable[[GivenGroup], Document]
"""From a group, in whose document its assignment stands, to what is found."""


def check_results(
    files: Sequence[str], blank: Blank, options: GroupOptions, result_of: ResultOf
) -> Iterator[Document]:
    """Yield what `result_of` makes of each group and its assignment, in order."""
    if len(files) != 2:
        yield from _results(group_entries(files, options), blank, options, result_of)
        return
    groups = group_entries(files[:1], options)
    # What describes groups has no effect on answers.
    others = group_entries(files[1:], replace(options, name=None, assumed=None))
    first = next(others, None)
    others = others if first is None else chain([first], others)
    if isinstance(first, Line) and _is_answer(first):
        for entry, answer in zip_longest(groups, others):
            yield _joined(entry, answer, blank, options, result_of)
    else:
        yield from _results(chain(groups, others), blank, options, result_of)


def _results(
    entries: Iterator[Line | DescribedGroup],
    blank: Blank,
    options: GroupOptions,
    result_of: ResultOf,
) -> Iterator[Document]:
    for entry in entries:
        found = group_result(entry, blank, options, result_of, CHECK_KEYS)
        if found["error"] is not None and isinstance(entry, Line) and _is_answer(entry):
            found["error"] = placed(_no_group(entry).document(), entry)
        yield found


def _joined(
    entry: Line | DescribedGroup | None,
    answer: Line | DescribedGroup | None,
    blank: Blank,
    options: GroupOptions,
    result_of: ResultOf,
) -> Document:
    """Return the result of a group and of the answer that stands at its place in another file."""
    if entry is None:
        assert isinstance(answer, Line), "a file of answers is JSON"
        words = "no group is left for this answer"
        error = placed(DocumentError(ErrorCode.MISSING, words).document(), answer)
        return {"schema": SCHEMA, **blank, "error": error}

    def joined(given: GivenGroup) -> Document:
        name = entry.name if isinstance(entry, DescribedGroup) else given.document.get("id")
        if not isinstance(answer, Line):
            raise DocumentError(ErrorCode.MISSING, "no answer is left for this group")
        try:
            own = _answer_fields(answer, name)
        except DocumentError as error:
            words = f"in the answer, line {answer.number} of {answer.file}: {error}"
            raise DocumentError(error.kind, words) from None
        # What the group's document has as its assignment is another one.
        document = {**given.document, "assignment": None, **own}
        return result_of(replace(given, document=document))

    return group_result(entry, blank, options, joined, CHECK_KEYS)


def _answer_fields(answer: Line, name: object) -> Document:
    """Return what an answer says; an error where it is one, or is about another group."""
    fields = as_object(parse_json(answer.text), ())
    require_known(fields, GROUP_KEYS, ())
    _require_no_error(fields)
    own_name = fields.get("id")
    if own_name is not None and own_name != name:
        words = f"it is about {described(own_name)}, not {described(name)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, ("id",))
    return {key: fields[key] for key in CHECK_KEYS if key in fields}


def _is_answer(line: Line) -> bool:
    """Return whether a line is an assignment without a group, as `assign` writes it."""
    try:
        fields = parse_json(line.text)
    except DocumentError:
        return False
    return isinstance(fields, dict) and "assignment" in fields and "members" not in fields


def _no_group(line: Line) -> DocumentError:
    """Return why an answer without a group is not checked."""
    try:
        _require_no_error(as_object(parse_json(line.text), ()))
    except DocumentError as error:
        return error
    return DocumentError(ErrorCode.MISSING, WITHOUT_GROUP, ("members",))


def _require_no_error(answer: Mapping[str, object]) -> None:
    error = answer.get("error")
    if error is not None:
        text = error.get("text") if isinstance(error, dict) else error
        words = f"the answer is an error: {text if isinstance(text, str) else described(text)}"
        raise DocumentError(ErrorCode.FAILED, words, ("error",))
