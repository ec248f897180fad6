"""What the command reads and writes is what the published schemas say, and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from fnmatch import fnmatch
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from assignors.cli.inputs.scenarios import drawn_row
from assignors.documents.groups import check_request_from_document, group_from_document
from assignors.documents.values import DocumentError, ErrorCode
from assignors.documents.weightings import weights_from_document
from assignors.formats import FORMATS
from assignors.replay.history.log_ends import log_ends_from_document
from assignors.replay.sources.jsonlines import parse_lines
from assignors.simulation.timed.results import Feature
from assignors.simulation.timed.scenario_document import scenario_from_document
from assignors.simulation.timed.sweeps.sweep import sweep_from_document
from assignors.simulation.traffic.scenario import traffic_from_document
from tests.conftest import DEEP
from tests.formats.real_lines import Line, places, real_lines

NAMES = list(FORMATS)
KINDS = 4 if DEEP == 1 else 8
"""How many lines of a format are spoilt in every place."""
WRITTEN = [name for name, each in FORMATS.items() if not each.is_read]


def closed(schema: Any, *, is_branch: bool = False) -> Any:
    """A schema that allows no key that it does not name, wherever it names some."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    is_whole = "properties" in schema
    made: dict[str, Any] = {}
    for key, value in schema.items():
        if key in {"oneOf", "anyOf"} and is_whole | is_branch:
            made[key] = [closed(each, is_branch=True) for each in value]
        elif key == "properties":
            made[key] = {name: closed(each) for name, each in value.items()}
        else:
            made[key] = closed(value)
    if is_whole and not is_branch and "additionalProperties" not in schema:
        made["unevaluatedProperties"] = False
    return made


def validator(name: str, *, exact: bool = False) -> Draft202012Validator:
    schema = FORMATS[name].document()
    return Draft202012Validator(closed(schema) if exact else schema)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(FORMATS[name].document())


@pytest.mark.parametrize("name", NAMES)
def test_every_real_line_is_as_its_schema_says_and_has_no_other_key(name: str) -> None:
    judge = validator(name, exact=True)
    lines = real_lines(name)
    assert lines
    for line in lines:
        found = next(judge.iter_errors(line), None)
        assert found is None, f"{json.dumps(line)[:400]}\n{describe(found)}"


ODD: Line = {"odd": {"odd": {"odd": {}}}}
"""Of the type of no value of a format, but where anything is allowed."""

WHERE = ("without *error_at", "without *error_at.*")
"""Where an error is: not every error has a place, and each has its own keys."""

FRAMED = ("without frame", "without frame.fields.*", "other frame.fields.*")
"""Only where the bytes are a whole message, whose fields are those of its version."""

FREE: dict[str, tuple[str, ...]] = {
    "subscription": FRAMED,
    "assignment": FRAMED,
    "cooperative-userdata": ("without value.owned",),
    "offsets-record": (
        "other key",  # of a record that could not be read
        "without members",  # only with --members
        "without value.*.assignmentEpochs",
        # tagged, or in some versions alone
        *(
            f"without value.{name}"
            for name in (
                *("assignmentTimestamp", "classicMemberMetadata", "currentStateTimestamp"),
                *("expireTimestamp", "failedDescriptionTopologyEpoch", "lastAssignmentConfigs"),
                *("leaderEpoch", "members.[[]].groupInstanceId", "members.[[]].rebalanceTimeout"),
                *("metadataHash", "storedDescriptionTopologyEpoch", "topicId"),
                "validatedTopologyEpoch",
            )
        ),
    ),
    "sweep-point": (
        "without *_us",
        "without clients",
        "without picks",
        "without *_p??_ms",
        "without isolation",
    ),
    "assign": (
        "without id",
        "other id",
        "without topics*",  # with --with-group, as the two that follow
        "without members*",
        "without generation",
        "without assignment.*",
        "without withheld.*",
        "without stats.*",
        "without lists*",
        "without order",
        "without state",
        "without notes.[[]].offset",
    ),
    "compare": (
        "without id",
        "other id",
        "without notes",
        "without owned.*",
        "without compared.[[]].assignment.*",
        "without compared.[[]].withheld.*",
        "without compared.[[]].gaps.*",
        "without compared.[[]].stats.*",
        "without partitions.[[]].answers.*/*",
    ),
    "check": ("without id", "other id", "without notes", "without gaps.follow_up"),
    "explain": (
        "without id",
        "other id",
        "without notes",
        "without by_weight",
        "without by_weight.fill.*",
    ),
    "simulate": ("without loads_before.*", "without loads_after.*"),
    "timed": ("without requests.*", *(f"without {feature}" for feature in Feature)),
    "fuzz": (
        "* scenario*",
        *(f"without {name}.*" for name in ("protocols", "clients", "executions")),
        *(f"without {name}.*" for name in ("faults", "actions")),
    ),
    "scenarios": ("without expected.*",),
    "watch": ("without alert.numbers.*",),
    "conform": ("* expected.*", "* answer.*", "without reasons.*"),
}
"""What may be absent, or anything: keys of some lines alone, names that are data."""


def mutants(line: Line) -> list[tuple[str, Line]]:
    """Each key left out, and each value replaced by one of another type."""
    found = []
    for place in places(line):
        *way, last = place
        without, other = deepcopy(line), deepcopy(line)
        inner: Any = without
        replaced: Any = other
        for step in way:
            inner, replaced = inner[step], replaced[step]
        if isinstance(last, str):
            del inner[last]
            found.append((f"without {shown(place)}", without))
        old = replaced[last]
        replaced[last] = "odd" if isinstance(old, dict) else ODD
        found.append((f"other {shown(place)}", other))
    return found


def shown(place: tuple[str | int, ...]) -> str:
    """A place, numbers left out."""
    return ".".join(step if isinstance(step, str) else "[]" for step in place)


def shape(value: object) -> object:
    """What lines of one kind have in common: keys and types."""
    if isinstance(value, dict):
        return tuple((key, shape(each)) for key, each in sorted(value.items()))
    if isinstance(value, list):
        return tuple({shape(each) for each in value[:1]})
    return type(value).__name__


def trimmed(value: Any) -> Any:
    """A line with the first entry and the last of each list: a validator looks at all of them."""
    if isinstance(value, dict):
        return {key: trimmed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [trimmed(each) for each in (value if len(value) < 3 else [value[0], value[-1]])]
    return value


def kinds(lines: list[Line], most: int) -> list[Line]:
    """A line of each shape, so many at most, spread over all."""
    by_shape = list(
        {shape(line): line for line in sorted(lines, key=lambda x: -len(str(x)))}.values()
    )
    return by_shape[:: max(1, len(by_shape) // most)]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_schema_refuses_a_line_that_lost_a_key_or_has_another_type_somewhere(name: str) -> None:
    judge = validator(name)
    for line in kinds(real_lines(name), KINDS):
        for what, mutant in mutants(trimmed(line)):
            if judge.is_valid(mutant):
                assert any(fnmatch(what, each) for each in (*WHERE, *FREE.get(name, ()))), what


def dumped_record(line: object) -> object:
    """What the reader of dumps makes of a line."""
    (raw,) = parse_lines([json.dumps(line).encode()], name="-")
    if raw.error is not None:
        raise DocumentError(ErrorCode.WRONG_TYPE, raw.error)
    return raw


READERS: dict[str, Callable[[object], object]] = {
    "group": group_from_document,
    "check-request": check_request_from_document,
    "weights": weights_from_document,
    "history": drawn_row,
    "scenario": scenario_from_document,
    "sweep": sweep_from_document,
    "traffic": traffic_from_document,
    "record": dumped_record,
    "log-ends": log_ends_from_document,
}
ABOUT_TYPES = {"wrong-type", "missing", "bad-hex", "bad-text"}
"""Kinds of errors that a schema can see; others are about what values mean together."""


ABOUT_MEANING = {("scenario", "missing"), ("traffic", "missing")}
"""A fault or an action of one kind needs a member, one of another kind none."""


@pytest.mark.parametrize("name", READERS)
def test_schema_and_reader_refuse_the_same_lines(name: str) -> None:
    judge = validator(name)
    counts = Counter[bool]()
    for line in kinds(real_lines(name), KINDS):
        for what, mutant in (*mutants(line), *with_another_key(line)):
            kind = refusal(name, mutant)
            is_valid = judge.is_valid(mutant)
            counts[is_valid] += 1
            assert is_valid or kind is not None, f"{what}: only the schema refuses it"
            if what.startswith("key "):
                assert is_valid == (kind is None), f"{what}: {kind}"
            if is_valid and (name, kind) not in ABOUT_MEANING:
                assert kind not in ABOUT_TYPES, f"{what}: only the reader refuses it ({kind})"
    assert min(counts.values()) > 3


def with_another_key(line: Line) -> Iterator[tuple[str, Line]]:
    """A key more in each object with named keys: one that nobody knows, and one's own."""
    for place in [(), *places(line)]:
        for key in ("another", "_mine"):
            other: Any = deepcopy(line)
            inner = other
            for step in place:
                inner = inner[step]
            is_named = not {"topics", "owned", "assignment", "withheld"} & {*place}
            if isinstance(inner, dict) and (is_named or "partitions" in inner):
                inner[key] = {}
                yield f"key {key} in {shown(place)}", other


def refusal(name: str, line: Line) -> str | None:
    """The kind of error that the reader of a format refuses a line with."""
    try:
        READERS[name](line)
    except DocumentError as error:
        return error.kind
    return None


def describe(error: Any) -> str:
    """The deepest reasons of an error, in the branch that fits best."""
    inner = [each for each in error.context or [] if each.validator != "const"]
    reasons = [describe(each) for each in sorted(inner, key=lambda each: -len(each.path))[:6]]
    return "\n".join([f"{list(error.absolute_path)}: {error.message[:200]}", *reasons])
